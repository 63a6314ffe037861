import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { coreKinds } from '@causeway/kinds';
import { Conflict, Invalid, type ControlPlane } from '@causeway/resources';
import { errorText, silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { globalSecretId, secretText } from '../global-secrets';
import { createZoneTokenService } from '../zones/zone-token-service';
import { createAuthentication, type Authentication } from './authentication';
import { AUTHENTICATION_ID } from './authentication-settings';
import { Unauthenticated } from '../unauthenticated';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const GLOBAL: ControlPlane = { role: 'global' };

/** A signing key of the tests; making one takes longer than a test. */
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();

/** A control plane whose signing key has serial 1. */
class Plane {
  readonly clock = new FakeClock(NOW);
  readonly plane: TestPlane;
  readonly authentication: Authentication;

  constructor(readonly cp: ControlPlane) {
    this.plane = new TestPlane(cp);
    const { store, index } = this.plane;
    const { clock } = this;
    const parts = { cp, store, index, registry: coreKinds, clock, logger: silentLogger };
    this.authentication = createAuthentication({ ...parts, operatorToken: 'the-operator' });
  }

  async start(key = pem(privateKey)): Promise<this> {
    await this.plane.index.reached(0);
    await this.plane.put('GlobalSecret', 'user-token-signing-key-1', { data: Buffer.from(key).toString('base64') });
    await this.caughtUp();
    return this;
  }

  async caughtUp(): Promise<void> {
    await this.plane.index.reached(await this.plane.store.head());
  }

  /** Stores what the global would send: public keys and revocations. */
  async learn(spec: object): Promise<void> {
    const change = { type: 'put', id: AUTHENTICATION_ID, expect: 'any', labels: {}, spec: { ...spec } } as const;
    await this.plane.store.write({ changes: [change], onRefusal: 'abort' });
    await this.caughtUp();
  }

  /** The user and the groups, or why not. */
  async whoIs(token: string | undefined): Promise<string> {
    try {
      const { user, groups, by } = await this.authentication.authenticator.authenticate(token);
      return [by, user, ...groups].join(' ');
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error;
      return errorText(error);
    }
  }

  async close(): Promise<void> {
    this.authentication.close();
    await this.plane.close();
  }
}

/** A token whose header and payload are as given, over those of a good one. */
function forged(header: object, payload: object, key: KeyObject | Uint8Array = privateKey): Promise<string> {
  const seconds = NOW / 1_000;
  const id = '6f1b2c0e-0000-4000-8000-000000000000';
  const good = { Name: 'anna', Groups: ['dev'], jti: id, iat: seconds, nbf: seconds, exp: seconds + 3_600 };
  const token = new SignJWT(JSON.parse(JSON.stringify({ iss: 'causeway:global', ...good, ...payload })));
  return token.setProtectedHeader({ alg: 'RS256', kid: '1', ...header }).sign(key);
}

const unsigned = (payload: object): string =>
  [{ alg: 'none' }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.';

describe('user tokens', () => {
  const open: Plane[] = [];
  const start = async (cp: ControlPlane = GLOBAL, key?: string): Promise<Plane> => {
    const plane = new Plane(cp);
    open.push(plane);
    return plane.start(key);
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((plane) => plane.close()));
  });

  it('prove the user and the groups that they were issued for, until they end', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const issued = await tokens.issue({ name: 'anna', groups: ['dev'], issuedBy: 'root' });
    expect(issued).toMatchObject({ name: 'anna', groups: ['dev'], expiresAt: '2026-03-02T12:00:00.000Z' });
    expect(await plane.whoIs(issued.token)).toBe('user-token anna dev causeway:authenticated');
    expect(await tokens.list()).toEqual([
      {
        id: issued.id,
        facts: { name: 'anna', groups: ['dev'] },
        issuedAt: NOW,
        expiresAt: NOW + 24 * HOUR,
        issuedBy: 'root',
        revoked: false,
      },
    ]);
    plane.clock.advance(24 * HOUR);
    expect(await plane.whoIs(issued.token)).toBe(`the user token ${issued.id} expired at 2026-03-02T12:00:00.000Z`);
  });

  it('count as expiring once a tenth of their time is left, where they are presented and valid', async () => {
    const plane = await start();
    const { authentication, clock } = plane;
    const { token } = await authentication.tokens.issue({
      name: 'robot',
      groups: [],
      issuedBy: 'root',
      validFor: '30d',
    });
    clock.advance(28 * 24 * HOUR);
    expect(authentication.expiringTokens()).toBe(0);
    await plane.whoIs(`${token}x`);
    expect(authentication.expiringTokens()).toBe(0);
    expect(await plane.whoIs(token)).toBe('user-token robot causeway:authenticated');
    expect(authentication.expiringTokens()).toBe(1);
  });

  it('are revoked at once, although the caller was remembered', async () => {
    const plane = await start();
    const { tokens, authenticator } = plane.authentication;
    let changes = 0;
    authenticator.onChange(() => changes++);
    const { id, token } = await tokens.issue({ name: 'anna' });
    expect(await plane.whoIs(token)).toBe('user-token anna causeway:authenticated');
    await tokens.revoke(id);
    expect(await plane.whoIs(token)).toBe(`the user token ${id} is revoked`);
    expect(changes).toBe(1);
    expect(await tokens.list()).toMatchObject([{ id, revoked: true }]);
  });

  it('are revoked whichever case their id is written in', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const { id, token } = await tokens.issue({ name: 'anna' });
    await tokens.revoke(id.toUpperCase());
    expect(await plane.whoIs(token)).toBe(`the user token ${id} is revoked`);
  });

  it('are revoked unseen, with a warning, where no token has the id', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const { id } = await tokens.issue({ name: 'anna' });
    expect(await tokens.revoke(id)).toEqual([]);
    const unknown = '6f1b2c0e-0000-4000-8000-000000000000';
    expect(await tokens.revoke(unknown)).toEqual([
      `no user token with id ${unknown} is on record here: is it the right id? It is revoked all the same`,
    ]);
    expect(await plane.whoIs(await forged({}, { jti: unknown }))).toBe(`the user token ${unknown} is revoked`);
  });

  it('are not revoked where too many are: an older revocation is never forgotten for a newer one', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const { id, token } = await tokens.issue({ name: 'anna' });
    const ids = Array.from({ length: 16_000 }, (_, i) => `6f1b2c0e-0000-4000-8000-${String(i).padStart(12, '0')}`);
    const data = Buffer.from(ids.join(',')).toString('base64');
    await plane.plane.put('GlobalSecret', 'user-token-revocations', { data });
    await plane.caughtUp();
    const refusal = await tokens.revoke(id).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Conflict);
    expect(errorText(refusal)).toMatch(/^16000 user tokens are revoked, the most is 16000; .*causeway tokens rotate/);
    expect(await plane.whoIs(token)).toBe('user-token anna causeway:authenticated');
    expect(await plane.whoIs(await forged({}, { jti: ids[0] }))).toBe(`the user token ${ids[0]} is revoked`);
    await tokens.revoke(ids[0] ?? '');
  });

  it('of a deleted key are valid no longer, those of the rotated key are', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const old = await tokens.issue({ name: 'anna' });
    expect(await tokens.rotate()).toBe(2);
    const fresh = await tokens.issue({ name: 'anna' });
    await plane.plane.write([{ type: 'delete', id: globalSecretId('user-token-signing-key-1'), expect: 'any' }]);
    await plane.caughtUp();
    expect(await plane.whoIs(old.token)).toMatch(/^there is no signing key with kid "1"/);
    expect(await plane.whoIs(fresh.token)).toBe('user-token anna causeway:authenticated');
  });

  it('are forgotten a week after their end, and their revocation with them', async () => {
    const plane = await start();
    const { tokens } = plane.authentication;
    const [gone, kept] = [await tokens.issue({ name: 'a' }), await tokens.issue({ name: 'b', validFor: '30d' })];
    await tokens.revoke(gone.id);
    await tokens.revoke(kept.id);
    plane.clock.advance(8 * 24 * HOUR - 1);
    await tokens.purge();
    expect((await tokens.list()).map(({ id }) => id)).toEqual([gone.id, kept.id]);
    plane.clock.advance(1);
    await tokens.purge();
    const list = await plane.plane.store.get(globalSecretId('user-token-revocations'));
    expect(list && secretText(list)).toBe(kept.id);
    expect(await plane.plane.store.listMetadata('user-tokens')).toMatchObject([{ key: kept.id }]);
  });

  it('of the global hold in its zones while it is away; those of a zone hold in that zone only', async () => {
    const global = await start();
    const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const east = await start({ role: 'zone', zone: 'east', federated: true }, pem(own.privateKey));
    const west = await start({ role: 'zone', zone: 'west', federated: true }, pem(own.privateKey));
    const everywhere = await global.authentication.tokens.issue({ name: 'anna' });
    expect(await east.whoIs(everywhere.token)).toMatch(/^there is no signing key with kid "1"/);
    const tokenKeys = [{ serial: 1, key: pem(publicKey) }];
    await east.learn({ tokenKeys });
    expect(await east.whoIs(everywhere.token)).toBe('user-token anna causeway:authenticated');
    await east.learn({ tokenKeys, revokedTokens: [everywhere.id] });
    expect(await east.whoIs(everywhere.token)).toBe(`the user token ${everywhere.id} is revoked`);

    const { token } = await east.authentication.tokens.issue({ name: 'bert' });
    expect(await east.whoIs(token)).toBe('user-token bert causeway:authenticated');
    const elsewhere = 'the user token was issued by causeway:zone:east and is not valid here, at ';
    expect(await west.whoIs(token)).toBe(`${elsewhere}causeway:zone:west`);
    expect(await global.whoIs(token)).toBe(`${elsewhere}causeway:global`);
  });

  const publicPem = Buffer.from(pem(createPublicKey(pem(privateKey))));
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  it.each<[string, () => Promise<string> | string, string | RegExp]>([
    ["Kuma's, without an issuer", () => forged({}, { iss: undefined }), 'user-token anna dev causeway:authenticated'],
    ['without groups', () => forged({}, { Groups: undefined }), 'user-token anna causeway:authenticated'],
    ['the operator token', () => 'the-operator', 'operator-token operator causeway:admins'],
    ['no JWT', () => 'abc', /^the bearer token is neither the operator token/],
    ['of another issuer', () => forged({}, { iss: 'https://login.example' }), /^the bearer token is neither/],
    ['whose issuer is a number', () => forged({}, { iss: 7 }), /^the bearer token is neither/],
    [
      'expired',
      () => forged({}, { exp: NOW / 1_000 - 1 }),
      /^the user token 6f1b2c0e-.* expired at 2026-03-01T11:59:59/,
    ],
    ['without an end', () => forged({}, { exp: undefined }), 'the user token has no exp: it would be valid for ever'],
    [
      'alg none',
      () => unsigned({ Name: 'root', Groups: ['causeway:admins'] }),
      'the user token must be signed with RS256',
    ],
    [
      'HS256 by the public key',
      () => forged({ alg: 'HS256' }, {}, publicPem),
      'the user token must be signed with RS256',
    ],
    [
      'signed by a stranger',
      () => forged({}, {}, stranger),
      'the signature of the user token does not fit its signing key',
    ],
    ['with a forged kid', () => forged({ kid: '99' }, {}), /^there is no signing key with kid "99"/],
    ['with a kid that is a path', () => forged({ kid: '../../etc/passwd' }, {}), /^there is no signing key with kid/],
    ['huge', () => 'x'.repeat(100_000), 'the bearer token must not be longer than 16384 characters, has 100000'],
    ['groups as a text', () => forged({}, { Groups: 'causeway:admins' }), /claim "Groups" .* must be a list of texts/],
    ['groups of numbers', () => forged({}, { Groups: [1] }), /claim "Groups" .* must be a list of texts/],
    ['groups as an object', () => forged({}, { Groups: { 0: 'a' } }), /claim "Groups" .* must be a list of texts/],
    ['a name that is a list', () => forged({}, { Name: ['root'] }), /claim "Name" .* must be the name of a user/],
    [
      'a zone token',
      () => forged({}, { Name: undefined, iss: undefined, Zone: 'east' }),
      'the token has no claim "Name": it is no user token',
    ],
  ])('%s', async (_, make, wanted) => {
    const plane = await start();
    expect(await plane.whoIs(await make())).toMatch(wanted);
  });

  it('warn whoever deletes a key, and name a key that cannot be used', async () => {
    const east = { role: 'zone', zone: 'east', federated: true } as const;
    const plane = await new Plane(east).start('no key');
    const warnings = (zone: string, name: string): readonly string[] =>
      plane.authentication.deletionWarnings(globalSecretId(name, zone));
    expect(warnings('east', 'user-token-signing-key-1')).toEqual([
      'user tokens signed with key 1 are valid no longer without it',
    ]);
    expect([...warnings('', 'user-token-signing-key-1'), ...warnings('east', 'zone-token-signing-key-1')]).toEqual([]);
    expect(plane.authentication.faults()).toEqual([expect.stringMatching(/^user-token-signing-key-1: /)]);
    await plane.close();
  });

  it('are no zone tokens', async () => {
    const plane = await start();
    const { store, index } = plane.plane;
    const parts = { store, index, registry: coreKinds, clock: plane.clock, logger: silentLogger };
    const zones = createZoneTokenService(parts);
    const { token } = await plane.authentication.tokens.issue({ name: 'east' });
    await expect(zones.auth.authenticate({ zone: 'east', token })).rejects.toThrow(
      'the token has no claim "Zone": it is no zone token',
    );
    zones.close();
  });

  it.each([
    ['name', { name: '' }, 'must not be empty'],
    ['name', { name: ' anna' }, 'must be one line of text without white space at its ends'],
    ['name', { name: 'a\nb' }, 'must be one line of text without white space at its ends'],
    ['name', { name: 'anonymous' }, 'must not be a name that the control plane itself uses; got "anonymous"'],
    ['name', { name: 'localhost' }, 'must not be a name that the control plane itself uses; got "localhost"'],
    ['name', { name: 'local-socket' }, 'must not be a name that the control plane itself uses; got "local-socket"'],
    ['name', { name: 'operator' }, 'must not be a name that the control plane itself uses; got "operator"'],
    ['name', { name: 'causeway:x' }, 'must not be a name that the control plane itself uses; got "causeway:x"'],
    ['name', { name: 'a'.repeat(129) }, 'must not be longer than 128 characters, has 129'],
    [
      'groups[0]',
      { name: 'a', groups: ['causeway:authenticated'] },
      'must not be a name that the control plane itself uses; got "causeway:authenticated"',
    ],
    [
      'groups',
      { name: 'a', groups: Array.from({ length: 65 }, (_, i) => `g${i}`) },
      'must not have more than 64 items, has 65',
    ],
    ['validFor', { name: 'a', validFor: '30 days' }, 'must be a duration such as 720h, 1h30m or 30d'],
  ])('are not issued with a bad %s', async (field, request, reason) => {
    const plane = await start();
    const refusal = await plane.authentication.tokens.issue(request).catch((error: unknown) => error);
    if (!(refusal instanceof Invalid)) throw new Error('issued');
    expect(refusal.violations[0]?.field).toBe(field);
    expect(refusal.violations[0]?.reason).toMatch(reason);
  });
});
