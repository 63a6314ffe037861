import type { KeyObject } from 'node:crypto';
import { errors, jwtVerify, SignJWT, type CompactJWSHeaderParameters } from 'jose';
import { errorText } from '@causeway/runtime';
import { Unauthenticated } from './authentication/unauthenticated';
import type { SigningKey } from './signing-keys';

/** The scope that lets a control plane join; Kuma's `ingress` and `egress` are for proxies. */
export const CP_SCOPE = 'cp';

/** Every scope that a zone token may have. */
export const SCOPES = [CP_SCOPE, 'ingress', 'egress'] as const;

/** The claims of a zone token. */
export interface ZoneClaims {
  /** `jti`: the id that a revocation names. */
  readonly id: string;
  readonly zone: string;
  readonly scope: readonly string[];
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** The only algorithm: a token that names another is refused before its signature is verified. */
const ALGORITHM = 'RS256';

/**
 * Tokens are valid from this long before now, so that replicas whose clocks differ accept them, s
 * (docs/reference/kuma-rest.md §5.5).
 */
const BACKDATED = 5;

/** The keys that verify tokens, by serial, and the ids of revoked tokens. */
export interface TrustedKeys {
  readonly keys: ReadonlyMap<number, SigningKey>;
  readonly revoked: ReadonlySet<string>;
}

/** A signed token in compact form. `now` is ms since 1970. */
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
 * The claims of a token that is valid at `now` (ms since 1970). Throws Unauthenticated with the reason: malformed,
 * another algorithm, unknown key, wrong signature, not yet valid, expired, revoked. Does not check zone and scope.
 */
export async function verifyZoneToken(token: string, rules: TrustedKeys, now: number): Promise<ZoneClaims> {
  const options = { algorithms: [ALGORITHM], currentDate: new Date(now) };
  const key = ({ kid }: CompactJWSHeaderParameters): KeyObject => keyFor(kid, rules);
  const { payload } = await jwtVerify(token, key, options).catch((error: unknown) => {
    throw refusal(error);
  });
  const claims = parseClaims(payload);
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

/** The claims of the payload that are not registered ones; capitalised, as Kuma writes them. */
function claimPayload({ zone, scope }: Pick<ZoneClaims, 'zone' | 'scope'>): Record<string, unknown> {
  return { Zone: zone, Scope: [...scope] };
}

/** Decodes a verified payload. Throws Unauthenticated if it is not that of a zone token. */
function parseClaims(payload: Readonly<Record<string, unknown>>): ZoneClaims {
  const { jti, exp, Zone: zone, Scope: scope = [] } = payload;
  if (typeof jti !== 'string' || jti === '') throw new Unauthenticated('the zone token has no jti');
  if (typeof exp !== 'number') throw new Unauthenticated('the zone token has no exp: it would be valid for ever');
  if (typeof zone !== 'string' || zone === '')
    throw new Unauthenticated('the token has no claim "Zone": it is no zone token');
  if (!isTextList(scope)) throw new Unauthenticated('the claim "Scope" of the zone token must be a list of texts');
  return { id: jti, zone, scope, expiresAt: exp * 1_000 };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
