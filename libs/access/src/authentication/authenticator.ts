import { createHash, timingSafeEqual } from 'node:crypto';
import { BoundedMap, type Clock } from '@causeway/runtime';
import { anonymous, operator, type Caller } from '../authorization/caller';
import { Unauthenticated } from '../unauthenticated';

/** Maximum length of a bearer token, in characters. Tokens with many groups have a few thousand. */
const MAX_TOKEN_LENGTH = 16_384;

/** Maximum number of cached verified tokens. */
const MAX_CACHED = 10_000;

/** Maximum time for which a token counts as verified, ms: then expiry and changed issuers are checked again. */
const CACHE_TIME = 60_000;

/** Verifies one type of bearer token. */
export interface TokenVerifier {
  /**
   * Returns the caller that the token proves; undefined for a token of another type (another issuer). Throws
   * Unauthenticated for an invalid token of its own type.
   */
  verify(token: string): Promise<Caller | undefined>;
  /** Calls `listener` after a change that may invalidate a token, until the returned function is called. */
  onChange?(listener: () => void): () => void;
}

/** Dependencies of an Authenticator. */
export interface AuthenticatorParts {
  /** Asked in order; the first that knows the type of a token decides. */
  readonly verifiers: readonly TokenVerifier[];
  readonly clock: Pick<Clock, 'now'>;
  /** The static token of an administrator, from the settings. */
  readonly operatorToken?: string | undefined;
}

interface Remembered {
  readonly caller: Caller;
  /** Ms since 1970. */
  readonly until: number;
}

/**
 * Authenticates the sender of a request by its bearer token alone. A verified token is cached by its hash until it
 * expires, for at most a minute, and until a verifier reports a change.
 */
export class Authenticator {
  private remembered = new BoundedMap<Remembered>(MAX_CACHED);
  private readonly listeners = new Set<() => void>();
  private operatorDigest: Buffer | undefined;

  constructor(private readonly parts: AuthenticatorParts) {
    this.useOperatorToken(parts.operatorToken);
    // Before other listeners, so that a caller that authenticates again is verified again.
    this.onChange(() => this.clearCache());
  }

  /** Replaces the static token of an administrator: from now on, requests with the former one are refused. */
  useOperatorToken(token: string | undefined): void {
    this.operatorDigest = token === undefined ? undefined : computeDigest(token);
    for (const listener of this.listeners) listener();
  }

  /** Returns the caller of a token; `anonymous` without one. Throws Unauthenticated, which says which check failed. */
  async authenticate(token: string | undefined): Promise<Caller> {
    if (token === undefined) return anonymous;
    if (token.length > MAX_TOKEN_LENGTH)
      throw new Unauthenticated(
        `the bearer token must not be longer than ${MAX_TOKEN_LENGTH} characters, has ${token.length}`,
      );
    const digest = computeDigest(token);
    // Digests, so that the time of the comparison does not depend on the content.
    if (this.operatorDigest && timingSafeEqual(digest, this.operatorDigest)) return operator;
    const key = digest.toString('latin1');
    const known = this.remembered.get(key);
    const now = this.parts.clock.now();
    if (known && now < known.until) return known.caller;
    const memory = this.remembered;
    const caller = await this.verify(token);
    // Into the cache as it was at the start: a result from before `clearCache` must not be cached after it.
    memory.set(key, { caller, until: Math.min(caller.until ?? Infinity, now + CACHE_TIME) });
    return caller;
  }

  /** Discards the cache: every token is verified again. */
  private clearCache(): void {
    this.remembered = new BoundedMap(MAX_CACHED);
  }

  private async verify(token: string): Promise<Caller> {
    for (const verifier of this.parts.verifiers) {
      const caller = await verifier.verify(token);
      if (caller) return caller;
    }
    throw new Unauthenticated(
      'the bearer token is neither the operator token, nor a user token of this mesh, nor of an OIDC issuer that is trusted here',
    );
  }

  /**
   * Calls `listener` after a change that may invalidate a token, until the returned function is called: interfaces then
   * review who keeps a stream open.
   */
  onChange(listener: () => void): () => void {
    const stops = this.parts.verifiers.map((verifier) => verifier.onChange?.(listener));
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
      stops.forEach((stop) => stop?.());
    };
  }
}

function computeDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
