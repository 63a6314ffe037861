import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto';
import { SignJWT } from 'jose';
import { errorText } from '@causeway/runtime';
import { Unauthenticated } from '../unauthenticated';
import { signToken, verifyToken, type TrustedKeys } from '../tokens/signed-token';
import type { SigningKey } from '../tokens/signing-keys';
import { ZONE_TOKEN, type ZoneClaims } from './zone-token';

type SignedClaims = Pick<ZoneClaims, 'id' | 'zone' | 'scope' | 'expiresAt'>;

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

function signZoneToken(
  claims: SignedClaims,
  key: { readonly serial: number; readonly privateKey: KeyObject },
  now: number,
): Promise<string> {
  return signToken(ZONE_TOKEN.order(claims, { role: 'global' }).claims, claims, key, now);
}

function keyPair(serial: number): SigningKey & { readonly privateKey: KeyObject } {
  return { serial, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) };
}

const first = keyPair(1);
const second = keyPair(2);
const rules: TrustedKeys = {
  keys: new Map([
    [1, first],
    [2, second],
  ]),
  revoked: new Set(['gone']),
};
const claims = { id: 'token-1', zone: 'east', scope: ['cp'], expiresAt: NOW + HOUR };

/** A token whose header and payload are as given, over those of a good one. */
function forged(header: object, payload: object, key: KeyObject | Uint8Array = first.privateKey): Promise<string> {
  const seconds = Math.floor(NOW / 1_000);
  const good = { Zone: 'east', Scope: ['cp'], jti: 'token-1', iat: seconds, nbf: seconds, exp: seconds + 3_600 };
  const token = new SignJWT(JSON.parse(JSON.stringify({ ...good, ...payload })));
  return token.setProtectedHeader({ alg: 'RS256', kid: '1', ...header }).sign(key);
}

async function verdict(token: string, at = NOW, by = rules): Promise<string> {
  try {
    const { zone } = await verifyToken(token, ZONE_TOKEN, by, at);
    return `zone ${zone}`;
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error;
    return errorText(error);
  }
}

describe('a zone token', () => {
  it('has the claims that it was signed with', async () => {
    expect(await verifyToken(await signZoneToken(claims, first, NOW), ZONE_TOKEN, rules, NOW)).toMatchObject(claims);
  });

  it("is written as Kuma's: kid in the header, capitalised claims, registered ones beside them", async () => {
    const [header, payload] = (await signZoneToken(claims, second, NOW))
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown);
    expect(header).toEqual({ alg: 'RS256', kid: '2', typ: 'JWT' });
    const from = NOW / 1_000 - 5;
    expect(payload).toEqual({
      Zone: 'east',
      Scope: ['cp'],
      jti: 'token-1',
      iat: from,
      nbf: from,
      exp: NOW / 1_000 + 3_600,
    });
  });

  it.each([
    ['at once', 0, 'zone east'],
    ['with a clock 4 s behind', -4_000, 'zone east'],
    [
      'with a clock a minute behind',
      -60_000,
      'the zone token is not valid before 2026-03-01T11:59:55.000Z: is the clock right where it was issued?',
    ],
    ['a second before its end', HOUR - 1_000, 'zone east'],
    ['at its end', HOUR, 'the zone token token-1 expired at 2026-03-01T13:00:00.000Z'],
    ['a year later', 8760 * HOUR, 'the zone token token-1 expired at 2026-03-01T13:00:00.000Z'],
  ])('used %s', async (_, later, wanted) => {
    expect(await verdict(await signZoneToken(claims, first, NOW), NOW + later)).toBe(wanted);
  });

  it('whose signature was verified is not verified again, and ends, is revoked and loses its key as before', async () => {
    const token = await signZoneToken({ ...claims, id: 'again' }, first, NOW);
    const verify = jest.spyOn(webcrypto.subtle, 'verify');
    const used = Array.from({ length: 3 }, () => () => verdict(token));
    for (const use of used) expect(await use()).toBe('zone east');
    expect(verify).toHaveBeenCalledTimes(1);
    verify.mockRestore();
    expect(await verdict(token, NOW - 60_000)).toContain('is not valid before');
    expect(await verdict(token, NOW + HOUR)).toContain('expired at');
    expect(await verdict(token, NOW, { ...rules, revoked: new Set(['again']) })).toContain('is revoked');
    expect(await verdict(token, NOW, { ...rules, keys: new Map([[2, second]]) })).toContain('there is no signing key');
    expect(await verdict(`${token.slice(0, -4)}AAAA`)).toContain('does not fit its signing key');
    expect(await verdict(token)).toBe('zone east');
  });

  const readable = /^the zone token cannot be read: /;
  const secret = new TextEncoder().encode('0123456789abcdef0123456789abcdef');
  const publicPem = Buffer.from(first.publicKey.export({ type: 'spki', format: 'pem' }));
  it.each<[string, () => Promise<string>, string | RegExp]>([
    ['nothing', async () => '', readable],
    ['a word', async () => 'secret', readable],
    ['three words', async () => 'a.b.c', readable],
    [
      'a token cut short',
      async () => (await forged({}, {})).slice(0, -3),
      /does not fit its signing key|cannot be read/,
    ],
    [
      'a payload that was changed',
      async () => {
        const [header, , signature] = (await forged({}, {})).split('.');
        const payload = Buffer.from(JSON.stringify({ Zone: 'west', jti: 'x', exp: NOW })).toString('base64url');
        return [header, payload, signature].join('.');
      },
      'the signature of the zone token does not fit its signing key',
    ],
    [
      'the signature of another key',
      () => forged({ kid: '2' }, {}),
      'the signature of the zone token does not fit its signing key',
    ],
    [
      'no signature at all',
      async () => {
        const [, payload] = (await forged({}, {})).split('.');
        return `${Buffer.from('{"alg":"none","kid":"1"}').toString('base64url')}.${payload}.`;
      },
      'the zone token must be signed with RS256',
    ],
    ['a shared secret', () => forged({ alg: 'HS256' }, {}, secret), 'the zone token must be signed with RS256'],
    [
      'the public key taken for a shared secret',
      () => forged({ alg: 'HS256' }, {}, publicPem),
      'the zone token must be signed with RS256',
    ],
    ['another RSA algorithm', () => forged({ alg: 'PS256' }, {}), 'the zone token must be signed with RS256'],
    ['no kid', () => forged({ kid: undefined }, {}), 'the zone token has no header "kid" that is a text'],
    [
      'an unknown kid',
      () => forged({ kid: '3' }, {}),
      'there is no signing key with kid "3": it was rotated out, or the token is of another control plane',
    ],
    [
      'a kid that is no serial',
      () => forged({ kid: '1e0' }, {}),
      'there is no signing key with kid "1e0": it was rotated out, or the token is of another control plane',
    ],
    ['no jti', () => forged({}, { jti: undefined }), 'the zone token has no jti'],
    ['no end', () => forged({}, { exp: undefined }), 'the zone token has no exp: it would be valid for ever'],
    ['an end that is a text', () => forged({}, { exp: 'never' }), readable],
    ['no zone', () => forged({}, { Zone: undefined }), 'the token has no claim "Zone": it is no zone token'],
    ["Kuma's user token", () => forged({}, { Zone: undefined, Name: 'admin', Groups: [] }), /no claim "Zone"/],
    [
      'a scope that is a text',
      () => forged({}, { Scope: 'cp' }),
      'the claim "Scope" of the zone token must be a list of texts',
    ],
    ['a revoked id', () => forged({}, { jti: 'gone' }), 'the zone token gone is revoked'],
  ])('is refused: %s', async (_, make, wanted) => {
    expect(await verdict(await make())).toMatch(wanted);
  });

  it('of an older key is valid as long as that key is there', async () => {
    const token = await signZoneToken(claims, first, NOW);
    const rotated = { ...rules, keys: new Map([[2, second]]) };
    expect(await verdict(token)).toBe('zone east');
    expect(await verdict(token, NOW, rotated)).toMatch(/no signing key with kid "1"/);
  });

  it('is verified by a public key alone', async () => {
    const publicOnly = {
      serial: 1,
      publicKey: createPublicKey(createPrivateKey(first.privateKey.export({ type: 'pkcs1', format: 'pem' }))),
    };
    expect(
      await verdict(await signZoneToken(claims, first, NOW), NOW, { ...rules, keys: new Map([[1, publicOnly]]) }),
    ).toBe('zone east');
  });
});
