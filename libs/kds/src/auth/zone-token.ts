import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT, type CompactJWSHeaderParameters } from 'jose';
import { errorText } from '@causeway/runtime';
import type { SigningKey } from './signing-key';
import { Unauthenticated } from './unauthenticated';
import { claimPayload, readClaims, type ZoneClaims } from './zone-claims';

/** The only algorithm: a token that names another is refused before its signature is looked at. */
const ALGORITHM = 'RS256';

/** Tokens are valid from a little before now, so that replicas whose clocks differ take them at once, s (rest.md §5.5). */
const BACKDATED = 5;

/** What tokens are judged by. */
export interface TrustedKeys {
  readonly keys: ReadonlyMap<number, SigningKey>;
  readonly revoked: ReadonlySet<string>;
}

/** A signed token in compact form. `now` is ms since 1970; the key must have its private half. */
export function signZoneToken(
  claims: ZoneClaims,
  key: { readonly serial: number; readonly privateKey: KeyObject },
  now: number,
): Promise<string> {
  const from = Math.floor(now / 1_000) - BACKDATED;
  return new SignJWT(claimPayload(claims))
    .setProtectedHeader({ alg: ALGORITHM, kid: String(key.serial), typ: 'JWT' })
    .setJti(claims.id)
    .setIssuedAt(from)
    .setNotBefore(from)
    .setExpirationTime(Math.floor(claims.expiresAt / 1_000))
    .sign(key.privateKey);
}

/**
 * What a token proves at `now` (ms since 1970). Throws Unauthenticated, saying which: malformed, another algorithm,
 * unknown key, wrong signature, not yet valid, expired, revoked. Says nothing about whose it has to be.
 */
export async function verifyZoneToken(token: string, rules: TrustedKeys, now: number): Promise<ZoneClaims> {
  const options = { algorithms: [ALGORITHM], currentDate: new Date(now) };
  const key = ({ kid }: CompactJWSHeaderParameters): KeyObject => keyFor(kid, rules);
  const { payload } = await jwtVerify(token, key, options).catch((error: unknown) => {
    throw refusal(error);
  });
  const claims = readClaims(payload);
  if (rules.revoked.has(claims.id)) throw new Unauthenticated(`the zone token ${claims.id} is revoked`);
  return claims;
}

function keyFor(kid: unknown, { keys }: TrustedKeys): KeyObject {
  if (typeof kid !== 'string') throw new Unauthenticated('the zone token has no header "kid" that is a text');
  const key = /^\d{1,15}$/.test(kid) ? keys.get(Number(kid)) : undefined;
  if (key) return key.publicKey;
  throw new Unauthenticated(
    `there is no signing key with kid "${kid.slice(0, 40)}": it was rotated out, or the token is of another global`,
  );
}

function refusal(error: unknown): Error {
  if (error instanceof Unauthenticated) return error;
  return new Unauthenticated(reasonOf(error), { cause: error });
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return `the zone token ${idOf(error)}expired at ${timeOf(error, 'exp')}`;
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'the signature of the zone token does not fit its signing key';
  if (error instanceof errors.JOSEAlgNotAllowed) return `the zone token must be signed with ${ALGORITHM}`;
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
    return `the zone token is not valid before ${timeOf(error, 'nbf')}: is the clock right where it was issued?`;
  return `the zone token cannot be read: ${errorText(error)}`;
}

type ClaimError = errors.JWTExpired | errors.JWTClaimValidationFailed;

function idOf({ payload }: ClaimError): string {
  return typeof payload.jti === 'string' ? `${payload.jti} ` : '';
}

function timeOf({ payload }: ClaimError, claim: 'exp' | 'nbf'): string {
  const seconds = payload[claim];
  return typeof seconds === 'number' && Math.abs(seconds) < 1e12
    ? new Date(seconds * 1_000).toISOString()
    : 'a time that cannot be read';
}
