import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { findBindingProblem } from '@causeway/identity';
import { coreKinds, Dataplane } from '@causeway/kinds';
import { Invalid, type ControlPlane, type JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { SignJWT } from 'jose';
import { TestPlane } from '../../../../test/support/test-plane';
import { createAuthentication } from '../authentication/authentication';
import { globalSecretId } from '../global-secrets';
import { createDataplaneTokens, type DataplaneTokenRequest, type DataplaneTokens } from './dataplane-tokens';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const ID = '6f1b2c0e-0000-4000-8000-000000000000';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

/** Makes a token with any claims; by default with valid ones. */
function forged(payload: object, key: KeyObject = privateKey, alg = 'RS256'): Promise<string> {
  const seconds = NOW / 1_000;
  const claims = { jti: ID, nbf: seconds - 5, exp: seconds + 60, Mesh: 'default', Type: 'dataplane', ...payload };
  return new SignJWT({ ...claims }).setProtectedHeader({ alg, kid: '1' }).sign(key);
}

describe('dataplane tokens', () => {
  const clock = new FakeClock(NOW);
  const open: { close(): unknown }[] = [];
  let plane: TestPlane;
  let service: DataplaneTokens;
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  const start = async (zone = 'east'): Promise<{ plane: TestPlane; service: DataplaneTokens }> => {
    const cp: ControlPlane = { role: 'zone', zone, federated: true };
    const made = new TestPlane(cp);
    const data = Buffer.from(privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()).toString('base64');
    await made.put('GlobalSecret', 'dataplane-token-signing-key-1', { data });
    const { store, index } = made;
    const tokens = createDataplaneTokens({ cp, store, index, registry: coreKinds, clock, logger: silentLogger });
    open.push(made, tokens);
    return { plane: made, service: tokens };
  };
  beforeEach(async () => void ({ plane, service } = await start()));
  const verdict = async (token: string): Promise<JsonObject | string> => {
    try {
      return JSON.parse(JSON.stringify((await service.verify(token)).binding));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  const tags = { 'kuma.io/service': ['web', 'admin'] };
  const group = { mesh: 'default', namespace: 'shop', workload: 'web', services: ['web'], machines: 5 };
  type Row = readonly [of: string, request: Partial<DataplaneTokenRequest>, granted: JsonObject];
  const rows: readonly Row[] = [
    [
      'a name, whose own service it is',
      { name: 'web-1' },
      { name: 'web-1', namespace: 'default', services: ['web-1'] },
    ],
    [
      'a name and services',
      { name: 'web-1', namespace: 'shop', services: ['web'] },
      { name: 'web-1', namespace: 'shop', services: ['web'] },
    ],
    [
      'a name and tags',
      { name: 'web-1', tags },
      { name: 'web-1', namespace: 'default', tags, services: tags['kuma.io/service'] },
    ],
    ['a group of machines', group, group],
    ['a mesh alone, in the form of Kuma', { isKuma: true }, {}],
    ['a workload, in the form of Kuma', { isKuma: true, workload: 'web' }, { workload: 'web' }],
    ['tags, in the form of Kuma', { isKuma: true, tags }, { tags }],
  ];
  it.each(rows)('are bound to %s, which lists show and which ends with them', async (_, request, granted) => {
    const { token, id } = await service.tokens.issue({ mesh: 'default', ...request, issuedBy: 'anna', validFor: '1h' });
    expect(await verdict(token)).toEqual({ mesh: 'default', ...granted });
    expect(await service.tokens.list()).toMatchObject([
      { id, facts: { mesh: 'default', ...granted }, issuedBy: 'anna', expiresAt: clock.now() + HOUR, revoked: false },
    ]);
    clock.advance(HOUR);
    expect(await verdict(token)).toMatch(/^the dataplane token .* expired at/);
    clock.advance(-HOUR);
  });

  it('count as expiring once a tenth of their time is left, where they are presented and valid', async () => {
    const { token } = await service.tokens.issue({ mesh: 'default', name: 'web-1' });
    await verdict(token);
    expect(service.expiring()).toBe(0);
    clock.advance(28 * 24 * HOUR);
    await verdict(`${token}x`);
    expect(service.expiring()).toBe(0);
    await verdict(token);
    expect(service.expiring()).toBe(1);
    clock.advance(-28 * 24 * HOUR);
  });

  it('are revoked, and listeners are called', async () => {
    const { token, id } = await service.tokens.issue({ mesh: 'default', name: 'web-1' });
    let received = 0;
    service.onChange(() => received++);
    await service.tokens.revoke(id);
    expect(await verdict(token)).toBe(`the dataplane token ${id} is revoked`);
    expect(received).toBe(1);
  });

  it('hold after a rotation of the keys, until their key is deleted', async () => {
    const old = await service.tokens.issue({ mesh: 'default', isKuma: true });
    expect(await service.tokens.rotate()).toBe(2);
    const fresh = await service.tokens.issue({ mesh: 'default', isKuma: true });
    const key = globalSecretId('dataplane-token-signing-key-1', 'east');
    expect(service.deletionWarnings(key)).toEqual([
      'dataplane tokens signed with key 1 are valid no longer without it',
    ]);
    expect(await verdict(old.token)).toEqual({ mesh: 'default' });
    await plane.write([{ type: 'delete', id: key, expect: 'any' }]);
    expect(await verdict(old.token)).toMatch(/^there is no signing key with kid "1"/);
    expect(await verdict(fresh.token)).toEqual({ mesh: 'default' });
  });

  it('of another zone are signed by another key, made by its first start', async () => {
    const west = await start('west');
    await west.plane.write([
      { type: 'delete', id: globalSecretId('dataplane-token-signing-key-1', 'west'), expect: 'any' },
    ]);
    const { token } = await west.service.tokens.issue({ mesh: 'default', name: 'web' });
    // The serial of a deleted key is not used again: east does not know key 2.
    expect(await verdict(token)).toMatch(/^there is no signing key with kid "2"|does not fit its signing key/);
  });

  it('are no user tokens, and user tokens are none of them', async () => {
    const { store, index, cp } = plane;
    const users = createAuthentication({ cp, store, index, registry: coreKinds, clock, logger: silentLogger });
    open.push(users);
    await users.tokens.ensureKey();
    const { token } = await users.tokens.issue({ name: 'web-1' });
    expect(await verdict(token)).toBe('the token has no claim "Mesh": it is no dataplane token');
    const own = await service.tokens.issue({ mesh: 'default', name: 'web-1' });
    await expect(users.authenticator.authenticate(own.token)).rejects.toThrow();
  });

  it.each<[string, () => Promise<string>, JsonObject | string | RegExp]>([
    [
      "Kuma's, every claim there and empty",
      () => forged({ Name: '', Tags: {}, Workload: '', Type: '' }),
      { mesh: 'default' },
    ],
    ["Kuma's, without tags", () => forged({ Tags: null, Name: 'web-1' }), { mesh: 'default', name: 'web-1' }],
    [
      'without a mesh',
      () => forged({ Mesh: '' }),
      'the claim "Mesh" of the dataplane token must be the name of a mesh',
    ],
    ['of an ingress', () => forged({ Type: 'ingress' }), 'the claim "Type" of the dataplane token must be dataplane'],
    ['a name that is a number', () => forged({ Name: 7 }), 'the claim "Name" of the dataplane token must be a text'],
    [
      'a workload list',
      () => forged({ Workload: ['a'] }),
      'the claim "Workload" of the dataplane token must be a text',
    ],
    ['tags as a list', () => forged({ Tags: ['a'] }), /^the claim "Tags" .* must be lists of texts by tag/],
    ['a tag of one text', () => forged({ Tags: { a: 'b' } }), /^the claim "Tags" .* must be lists of at most 64 texts/],
    [
      'very many tags',
      () => forged({ Tags: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, ['x']])) }),
      /^the claim "Tags" .* must have at most 32 tags/,
    ],
    ['without an end', () => forged({ exp: undefined }), /has no exp/],
    ['of a stranger', () => forged({}, stranger), /^the signature of the dataplane token does not fit/],
    ['of another algorithm', () => forged({}, privateKey, 'PS256'), 'the dataplane token must be signed with RS256'],
    ['no JWT', () => Promise.resolve('abc'), /^the dataplane token cannot be read/],
  ])('%s', async (_, make, wanted) => {
    const found = await verdict(await make());
    if (wanted instanceof RegExp) expect(found).toMatch(wanted);
    else expect(found).toEqual(wanted);
  });

  it.each<[string, DataplaneTokenRequest]>([
    ['mesh', { mesh: '', name: 'web-1' }],
    ['name', { mesh: 'default' }],
    ['name', { mesh: 'default', services: ['web'] }],
    ['services', { mesh: 'default', workload: 'web' }],
    ['services[0]', { mesh: 'default', name: 'web-1', services: ['a b'] }],
    ['machines', { mesh: 'default', name: 'web-1', machines: 3 }],
    ['machines', { mesh: 'default', workload: 'web', services: ['web'], machines: 0 }],
    ['namespace', { mesh: 'default', name: 'web-1', namespace: 'A' }],
    ['name', { mesh: 'default', name: 'Not A Name' }],
    ['workload', { mesh: 'default', name: 'a', workload: '' }],
    ['workload', { mesh: 'default', name: 'a', workload: 'a b' }],
    ['tags.a', { mesh: 'default', name: 'a', tags: { a: [] } }],
    ['tags.a', { mesh: 'default', name: 'a', tags: { a: ['no good'] } }],
    [
      'tags',
      { mesh: 'default', name: 'a', tags: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`t${i}`, ['x']])) },
    ],
    ['validFor', { mesh: 'default', name: 'a', validFor: 'long' }],
  ])('are not issued with a bad %s', async (field, request) => {
    const refusal = await service.tokens.issue(request).catch((error: unknown) => error);
    if (!(refusal instanceof Invalid)) throw new Error('issued', { cause: refusal });
    expect(refusal.violations[0]?.field).toBe(field);
  });

  it('hold for the Dataplanes that their claims say, as they are stored', async () => {
    const networking = { address: '10.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'web' } }] };
    await plane.put('Dataplane', 'web-1', { networking });
    const stored = await plane.holds(plane.id('Dataplane', 'web-1'));
    if (!Dataplane.is(stored)) throw new Error('no Dataplane');
    const { token } = await service.tokens.issue({
      mesh: 'default',
      name: 'web-1',
      tags: { 'kuma.io/service': ['db'] },
    });
    expect(findBindingProblem((await service.verify(token)).binding, stored)).toMatch(/^claim "Tags" allows/);
  });
});
