/** What a zone token is asked for; whoever issues it judges the values. */
export interface ZoneTokenParameters {
  readonly zone: string;
  /** A duration such as `720h`. */
  readonly validFor: string;
  readonly scope?: readonly string[];
}

/** A token that was just made. */
export interface ZoneTokenResponse {
  readonly token: string;
  /** What a revocation names. */
  readonly id: string;
  readonly zone: string;
  readonly scope: readonly string[];
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** How zones come to be let in, on a global (design.md §5 Zone tokens). Methods throw DomainErrors. */
export interface ZoneAccess {
  issue(order: ZoneTokenParameters): Promise<ZoneTokenResponse>;
  /** Takes a token's validity by its id. */
  revoke(id: string): Promise<void>;
  /** Makes a newer signing key and resolves with its serial. */
  rotate(): Promise<number>;
  /** PEM of the authority that zones verify this global by; undefined where it is not ours to say. */
  authority(): string | undefined;
}
