/** Verified identity of a caller. */
export interface VerifiedCaller {
  /** SPIFFE ids; empty without an identity. */
  readonly ids: readonly string[];
  /** Subject of the certificate; empty if it has none. */
  readonly subject: string;
}

/** Caller without an identity. */
export const ANONYMOUS_CALLER: VerifiedCaller = { ids: [], subject: '' };

/** Returns whether a caller is allowed. */
export type CallerRule = (caller: VerifiedCaller) => boolean;
