import { createHash, timingSafeEqual } from 'node:crypto';
import { anonymous, operator, type Caller } from '../authorization/caller';
import { Unauthenticated } from './unauthenticated';

/** Longest bearer token that is looked at, in characters. Tokens with many groups have a few thousand. */
const LONGEST_TOKEN = 16_384;

/** Verifies one sort of bearer token. */
export interface TokenVerifier {
  /**
   * The caller that the token proves; undefined for a token of another sort (another issuer). Throws Unauthenticated for
   * one of its own sort that is not valid.
   */
  verify(token: string): Promise<Caller | undefined>;
  /** Calls `listener` after a change that may end what was proven, until the returned function is called. */
  onChange?(listener: () => void): () => void;
}

/** What an Authenticator is made of. */
export interface AuthenticatorParts {
  /** Asked in order; the first that knows the sort of a token decides. */
  readonly verifiers: readonly TokenVerifier[];
  /** The static token of an administrator, from the settings. */
  readonly operatorToken?: string | undefined;
}

/** Finds out who sends a request, by its bearer token alone; whether it is local is the interface's own question. */
export class Authenticator {
  constructor(private readonly parts: AuthenticatorParts) {}

  /** The caller of a token; `anonymous` without one. Throws Unauthenticated, which says which check failed. */
  async authenticate(token: string | undefined): Promise<Caller> {
    if (token === undefined) return anonymous;
    if (token.length > LONGEST_TOKEN)
      throw new Unauthenticated(
        `the bearer token must not be longer than ${LONGEST_TOKEN} characters, has ${token.length}`,
      );
    const { operatorToken, verifiers } = this.parts;
    if (operatorToken !== undefined && equalInConstantTime(token, operatorToken)) return operator;
    for (const verifier of verifiers) {
      const caller = await verifier.verify(token);
      if (caller) return caller;
    }
    throw new Unauthenticated(
      'the bearer token is neither the operator token, nor a user token of this mesh, nor of an OIDC issuer that is trusted here',
    );
  }

  /**
   * Calls `listener` after a change that may end what a token proved, until the returned function is called: an interface
   * then judges again who keeps a stream open.
   */
  onChange(listener: () => void): () => void {
    const stops = this.parts.verifiers.map((verifier) => verifier.onChange?.(listener));
    return () => stops.forEach((stop) => stop?.());
  }
}

/** Compares in a time that does not depend on the content. */
function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
