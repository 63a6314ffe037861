import { generateKeyPairSync } from 'node:crypto';
import { coreKinds, MAX_REVOKED } from '@causeway/kinds';
import type { JsonObject } from '@causeway/resources';
import { TestPlane } from '../../../../test/support/test-plane';
import { AUTHENTICATION_ID } from './authentication-settings';
import { planTokenKeys, unpublishedRevocations } from './token-key-publisher';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const oidc = { issuers: [{ issuer: 'https://login.example', audiences: ['causeway'] }] };
const trusted = (serials: readonly number[], revoked: readonly string[] = []) => ({
  keys: new Map(serials.map((serial) => [serial, { serial, ...pair }])),
  revoked: new Set(revoked),
});
const keys = (...serials: number[]): JsonObject[] => serials.map((serial) => ({ serial, key }));

describe('planTokenKeys', () => {
  it.each<[string, ReturnType<typeof trusted>, JsonObject | undefined, JsonObject | undefined]>([
    ['no key yet', trusted([]), undefined, undefined],
    ['the first key', trusted([1]), undefined, { tokenKeys: keys(1), revokedTokens: [] }],
    ['the same again', trusted([1]), { tokenKeys: keys(1), revokedTokens: [] }, undefined],
    ['a newer key', trusted([1, 2]), { tokenKeys: keys(1) }, { tokenKeys: keys(2, 1), revokedTokens: [] }],
    ['the last key gone', trusted([]), { tokenKeys: keys(1) }, { tokenKeys: [], revokedTokens: [] }],
    ['a revocation', trusted([1], ['a']), { tokenKeys: keys(1) }, { tokenKeys: keys(1), revokedTokens: ['a'] }],
    ['settings of the user', trusted([1]), { oidc }, { oidc, tokenKeys: keys(1), revokedTokens: [] }],
  ])('%s', async (_, wanted, held, spec) => {
    const plane = new TestPlane({ role: 'global' });
    if (held) await plane.put('AuthenticationConfiguration', 'default', held);
    const resource = held && (await plane.holds(AUTHENTICATION_ID));
    const change = planTokenKeys(coreKinds, wanted, resource);
    expect(change && 'spec' in change ? change.spec : undefined).toEqual(spec);
    if (change) {
      await plane.write([change]);
      const written = await plane.holds(AUTHENTICATION_ID, ({ spec: now }) => 'revokedTokens' in now);
      expect(planTokenKeys(coreKinds, wanted, written)).toBeUndefined();
      expect(JSON.stringify(written.spec)).not.toContain('PRIVATE');
    }
    await plane.close();
  });
});

describe('revocations that are not published to zones', () => {
  const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `id-${i}`);

  it('are none while all fit', () => {
    expect(unpublishedRevocations(trusted([1], ids(MAX_REVOKED)))).toEqual([]);
  });

  it('are named, and the last ones are published', () => {
    const list = trusted([1], ids(MAX_REVOKED + 2));
    expect(unpublishedRevocations(list)).toEqual([
      'user-token-revocations: zones receive only its last 16000 ids and accept the tokens of the 2 before',
    ]);
    const change = planTokenKeys(coreKinds, list, undefined);
    const spec = change && 'spec' in change ? change.spec : {};
    expect(spec['revokedTokens']).toEqual(ids(MAX_REVOKED + 2).slice(2));
  });
});
