import type { ControlPlane, JsonObject, Violation } from '@causeway/resources';

/** Name of a use of tokens, and where its keys, revocations and records are stored. */
export interface TokenUse {
  /** Name of such a token in messages. */
  readonly name: string;
  /** The claim that every token of this use has, and no other. */
  readonly claim: string;
  /** Signing keys are GlobalSecrets of this name and `-<serial>`, as in Kuma (docs/reference/kuma-rest.md §5.5). */
  readonly signingKey: string;
  /** The GlobalSecret that lists the ids of revoked tokens, as in Kuma. */
  readonly revocations: string;
  /** Area of the metadata that records which tokens were issued. */
  readonly records: string;
}

/** Facts of every token. */
export interface TokenFacts {
  /** `jti`: the id that a revocation names. */
  readonly id: string;
  /** ms since 1970; whole seconds. */
  readonly expiresAt: number;
}

/** A token whose signature, times and revocation were checked. */
export interface VerifiedToken extends TokenFacts {
  /** All claims, undecoded. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Fields of every request for a token. */
export interface TokenRequest {
  /** A duration such as `720h` or `30d`; by default that of the definition. */
  readonly validFor?: string;
  /** The user who asks for it. */
  readonly issuedBy?: string;
}

/** A token to issue; the fields of its request were checked. */
interface TokenOrder<Answer> {
  /** The claims besides the registered ones, as the token has them. */
  readonly claims: JsonObject;
  /** Facts of the token for lists and the log. */
  readonly facts: JsonObject;
  /** Facts that are returned with the token. */
  readonly answer: Answer;
}

/** Verification of the tokens of one use. */
export interface TokenClaims<Claims extends TokenFacts> extends TokenUse {
  /** Returns the claims of a verified token. Throws Unauthenticated with the reason if one has a wrong type. */
  readonly decode: (token: VerifiedToken) => Claims;
}

/** One use of tokens: its name, the fields of its requests and its claims. `TokenFamily` implements the rest. */
export interface TokenDefinition<
  Request extends TokenRequest,
  Answer extends object,
  Claims extends TokenFacts,
> extends TokenClaims<Claims> {
  /** Default validity, a duration. */
  readonly validFor: string;
  /** Whether the first request creates the first signing key. Otherwise the start of the leader does. */
  readonly makesFirstKey?: boolean;
  /** Returns the violations of a request at this control plane; those of `validFor` may be among them. */
  readonly violations: (request: Request, cp: ControlPlane) => readonly Violation[];
  /** Returns the token to issue for a request without violations. */
  readonly order: (request: Request, cp: ControlPlane) => TokenOrder<Answer>;
}
