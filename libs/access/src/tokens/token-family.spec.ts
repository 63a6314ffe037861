import { coreKinds } from '@causeway/kinds';
import { FieldPath, type ControlPlane } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { DATAPLANE_TOKEN } from '../dataplanes/dataplane-tokens';
import { globalSecretId } from '../global-secrets';
import { USER_TOKEN } from '../authentication/user-token';
import { ZONE_TOKEN } from '../zones/zone-token';
import type { TokenDefinition, TokenFacts, TokenRequest } from './token-definition';
import { TokenFamily } from './token-family';

const HOUR = 3_600_000;
const cp: ControlPlane = { role: 'zone', zone: 'east', federated: true };

interface GateRequest extends TokenRequest {
  readonly gate: string;
}

/** A use of tokens that this repository does not have: nothing else is written to add one. */
const GATE_TOKEN: TokenDefinition<GateRequest, { readonly gate: string }, TokenFacts & { readonly gate: unknown }> = {
  name: 'gate token',
  claim: 'Gate',
  signingKey: 'gate-token-signing-key',
  revocations: 'gate-token-revocations',
  records: 'gate-tokens',
  validFor: '2h',
  makesFirstKey: true,
  violations: ({ gate }) => (gate === '' ? [FieldPath.at('gate').violation('must not be empty', 'required')] : []),
  order: ({ gate }) => ({ claims: { Gate: gate }, facts: { gate }, answer: { gate } }),
  decode: ({ id, expiresAt, payload: { Gate: gate } }) => ({ id, expiresAt, gate }),
};

describe('a use of tokens is a definition', () => {
  const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  function start(): TokenFamily<GateRequest, { readonly gate: string }, TokenFacts & { readonly gate: unknown }> {
    const plane = new TestPlane(cp);
    const { store, index } = plane;
    const family = new TokenFamily(GATE_TOKEN, { cp, store, index, registry: coreKinds, clock, logger: silentLogger });
    open.push(plane, family);
    return family;
  }

  it('from which issuing, listing, verification, revocation and rotation follow', async () => {
    const family = start();
    const { token, id, expiresAt, gate } = await family.tokens.issue({ gate: 'north', issuedBy: 'anna' });
    expect([gate, Date.parse(expiresAt)]).toEqual(['north', clock.now() + 2 * HOUR]);
    expect(await family.verify(token)).toMatchObject({ id, gate: 'north' });
    expect(await family.tokens.list()).toMatchObject([
      { id, facts: { gate: 'north' }, issuedBy: 'anna', revoked: false },
    ]);
    expect(await family.tokens.rotate()).toBe(2);
    expect(family.deletionWarnings(globalSecretId('gate-token-signing-key-1', 'east'))).toEqual([
      'gate tokens signed with key 1 are valid no longer without it',
    ]);
    let changes = 0;
    family.onChange(() => changes++);
    expect(await family.tokens.revoke(id)).toEqual([]);
    await expect(family.verify(token)).rejects.toThrow(`the gate token ${id} is revoked`);
    expect(changes).toBe(1);
  });

  it('whose violations refuse a request, as does a validity that is none', async () => {
    const family = start();
    await expect(family.tokens.issue({ gate: '' })).rejects.toMatchObject({ violations: [{ field: 'gate' }] });
    await expect(family.tokens.issue({ gate: 'north', validFor: 'long' })).rejects.toMatchObject({
      violations: [{ field: 'validFor' }],
    });
    expect(await family.tokens.list()).toEqual([]);
  });

  it('whose check refuses a valid token, which then does not count as presented', async () => {
    const family = start();
    const { token } = await family.tokens.issue({ gate: 'north', validFor: '30d' });
    clock.advance(28 * 24 * HOUR);
    const check = (): never => {
      throw new Error('of another gate');
    };
    await expect(family.verify(token, { check })).rejects.toThrow('of another gate');
    expect(family.expiring()).toBe(0);
    await family.verify(token);
    expect(family.expiring()).toBe(1);
  });

  it('with a claim, keys, revocations and records that no other use has', () => {
    const uses = [DATAPLANE_TOKEN, USER_TOKEN, ZONE_TOKEN];
    for (const field of ['name', 'claim', 'signingKey', 'revocations', 'records'] as const)
      expect(new Set(uses.map((use) => use[field])).size).toBe(uses.length);
  });
});
