/** Who leads by the store: the row that changes only at a take-over. Epoch 0: nobody has led yet. */
export interface LeaderEpoch {
  readonly epoch: number;
  readonly holder: string;
  /** ms until the lease beside it expires, by the store's clock; 0 when it has or was released. */
  readonly remaining: number;
}

/**
 * The epoch and the lease of a control plane's leader, kept by its store (design.md §3). The epoch is what makes
 * leaders safe: writes carry it as a fence. The lease only says when somebody else may try. All methods throw when
 * the store is away.
 */
export interface LeaderLease {
  readEpoch(): Promise<LeaderEpoch>;
  /**
   * Begins the epoch after `fromEpoch`, once the lease has expired or was released; waits for fenced writes of the
   * epoch before that are under way. The new epoch, or undefined when the lease stands or somebody was faster.
   */
  takeOver(fromEpoch: number, holder: string, leaseMs: number): Promise<number | undefined>;
  /** Extends the lease to `leaseMs` from now; false when epoch and holder no longer stand, or have released it. */
  renew(epoch: number, holder: string, leaseMs: number): Promise<boolean>;
  /** Ends the lease at once where epoch and holder stand; the epoch stays. */
  release(epoch: number, holder: string): Promise<void>;
  /** Calls `listener` soon after a release, so that a clean stop hands over at once; may miss some. Returns its end. */
  onRelease(listener: () => void): () => void;
}
