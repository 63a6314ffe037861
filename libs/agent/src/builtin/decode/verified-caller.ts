/** A caller as it is verified. */
export interface VerifiedCaller {
  /** Its SPIFFE ids; none without an identity. */
  readonly ids: readonly string[];
  /** The subject of its certificate; empty where it has none. */
  readonly subject: string;
}

/** A caller without an identity. */
export const NOBODY: VerifiedCaller = { ids: [], subject: '' };

/** Whether a caller may call. */
export type CallerRule = (caller: VerifiedCaller) => boolean;
