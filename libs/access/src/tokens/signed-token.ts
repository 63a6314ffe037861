import { createHash, type KeyObject } from 'node:crypto';
import { decodeJwt, errors, jwtVerify, SignJWT, type CompactJWSHeaderParameters, type JWTPayload } from 'jose';
import type { JsonObject } from '@causeway/resources';
import { BoundedMap, errorText } from '@causeway/runtime';
import { Unauthenticated } from '../unauthenticated';
import type { SigningKey } from './signing-keys';
import type { TokenClaims, TokenFacts, TokenUse } from './token-definition';

/** The only algorithm: a token that names another is refused before its signature is verified. */
const ALGORITHM = 'RS256';

/**
 * Tokens are valid from this long before now, so that replicas whose clocks differ accept them, s
 * (docs/reference/kuma-rest.md §5.5).
 */
export const BACKDATED = 5;

/** The keys that verify tokens, by serial, and the ids of revoked tokens. */
export interface TrustedKeys {
  readonly keys: ReadonlyMap<number, SigningKey>;
  readonly revoked: ReadonlySet<string>;
  /** When renewed tokens end, ms since 1970, by id. */
  readonly ends?: ReadonlyMap<string, number>;
}

/** The claim of a renewed token that has the id of the first token of its line. */
export const LINE_CLAIM = 'Line';

/** A token that was valid before its successor was used. */
export class TokenEnded extends Unauthenticated {
  constructor(
    readonly id: string,
    message: string,
  ) {
    super(message);
  }
}

/** A signed token in compact form. `now` is ms since 1970. */
export function signToken(
  claims: JsonObject,
  { id, expiresAt }: TokenFacts,
  key: { readonly serial: number; readonly privateKey: KeyObject },
  now: number,
): Promise<string> {
  const from = Math.floor(now / 1_000) - BACKDATED;
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: ALGORITHM, kid: String(key.serial), typ: 'JWT' })
    .setJti(id)
    .setIssuedAt(from)
    .setNotBefore(from)
    .setExpirationTime(Math.floor(expiresAt / 1_000))
    .sign(key.privateKey);
}

/** Returns the claims of a token before verification, to find out its use; undefined for text that is no JWT. */
export function unverifiedClaims(token: string): Readonly<JWTPayload> | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/**
 * Returns the claims of a token that is valid at `now` (ms since 1970). Throws Unauthenticated with the reason: another
 * use, malformed, another algorithm, unknown key, wrong signature, not yet valid, expired, revoked, a claim of a wrong
 * type.
 */
export async function verifyToken<Claims extends TokenFacts>(
  token: string,
  use: TokenClaims<Claims>,
  trusted: TrustedKeys,
  now: number,
): Promise<Claims> {
  const claims = unverifiedClaims(token);
  if (claims && claims[use.claim] === undefined)
    throw new Unauthenticated(`the token has no claim "${use.claim}": it is no ${use.name}`);
  const payload = findVerified(token, trusted, now) ?? (await verifySignature(token, use, trusted, now));
  const { jti: id, exp } = payload;
  if (typeof id !== 'string' || id === '') throw new Unauthenticated(`the ${use.name} has no jti`);
  if (typeof exp !== 'number') throw new Unauthenticated(`the ${use.name} has no exp: it would be valid for ever`);
  const { [LINE_CLAIM]: line } = payload;
  if (trusted.revoked.has(id) || (typeof line === 'string' && trusted.revoked.has(line)))
    throw new Unauthenticated(`the ${use.name} ${id} is revoked`);
  const end = trusted.ends?.get(id) ?? Infinity;
  if (end <= now)
    throw new TokenEnded(id, `the ${use.name} ${id} was renewed, and ended at ${new Date(end).toISOString()}`);
  return use.decode({ id, expiresAt: Math.min(exp * 1_000, end), payload });
}

async function verifySignature(token: string, use: TokenUse, trusted: TrustedKeys, now: number): Promise<JWTPayload> {
  const options = { algorithms: [ALGORITHM], currentDate: new Date(now) };
  let by: SigningKey | undefined;
  const key = ({ kid }: CompactJWSHeaderParameters): KeyObject => (by = keyFor(kid, use, trusted)).publicKey;
  const { payload } = await jwtVerify(token, key, options).catch((error: unknown) => {
    throw error instanceof Unauthenticated
      ? error
      : new Unauthenticated(refusalText(error, `the ${use.name}`, [ALGORITHM]), { cause: error });
  });
  if (by) keepVerified(token, by, payload);
  return payload;
}

/** Maximum number of verified tokens that are kept of one key. */
const MAX_VERIFIED = 1_000;

/**
 * Payloads of the tokens whose signature each key has verified, by hash of the token: with one token a thousand machines join. A key
 * that is rotated out is not asked any more.
 */
const verifiedTokens = new WeakMap<SigningKey, BoundedMap<JWTPayload>>();

function keepVerified(token: string, by: SigningKey, payload: JWTPayload): void {
  const tokens = verifiedTokens.get(by) ?? new BoundedMap<JWTPayload>(MAX_VERIFIED);
  verifiedTokens.set(by, tokens);
  tokens.set(hashToken(token), payload);
}

/** Returns the payload of a token whose signature a trusted key has verified before, if it is valid at `now`. */
function findVerified(token: string, { keys }: TrustedKeys, now: number): JWTPayload | undefined {
  const hash = hashToken(token);
  for (const key of keys.values()) {
    const payload = verifiedTokens.get(key)?.get(hash);
    const { nbf = Infinity, exp = 0 } = payload ?? {};
    const seconds = Math.floor(now / 1_000);
    if (payload && nbf <= seconds && seconds < exp) return payload;
  }
  return undefined;
}

function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}

function keyFor(kid: unknown, use: TokenUse, { keys }: TrustedKeys): SigningKey {
  if (typeof kid !== 'string') throw new Unauthenticated(`the ${use.name} has no header "kid" that is a text`);
  const key = /^\d{1,15}$/.test(kid) ? keys.get(Number(kid)) : undefined;
  if (key) return key;
  throw new Unauthenticated(
    `there is no signing key with kid "${kid.slice(0, 40)}": it was rotated out, or the token is of another control plane`,
  );
}

/**
 * Formats why `jose` refused a token; `what` is the name of the token in the sentence. Repeats nothing of the token but
 * its id.
 */
export function refusalText(error: unknown, what: string, algorithms: readonly string[]): string {
  if (error instanceof errors.JWTExpired)
    return `${what} ${formatTokenId(error)}expired at ${formatTime(error, 'exp')}`;
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return `the signature of ${what} does not fit its signing key`;
  if (error instanceof errors.JOSEAlgNotAllowed) return `${what} must be signed with ${algorithms.join(', ')}`;
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
    return `${what} is not valid before ${formatTime(error, 'nbf')}: is the clock right where it was issued?`;
  return `${what} cannot be read: ${errorText(error)}`;
}

type ClaimError = errors.JWTExpired | errors.JWTClaimValidationFailed;

function formatTokenId({ payload }: ClaimError): string {
  return typeof payload.jti === 'string' ? `${payload.jti.slice(0, 100)} ` : '';
}

function formatTime({ payload }: ClaimError, claim: 'exp' | 'nbf'): string {
  const seconds = payload[claim];
  return typeof seconds === 'number' && Math.abs(seconds) < 1e12
    ? new Date(seconds * 1_000).toISOString()
    : 'a time that cannot be read';
}

/** Whether a claim is a list of texts. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
