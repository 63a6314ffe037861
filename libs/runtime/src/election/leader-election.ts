/**
 * One life as leader. `signal` aborts the moment leadership is lost or doubtful: all work stops then. Whoever reads it
 * from the term has the lease looked at first.
 */
export interface LeaderTerm {
  readonly epoch: number;
  readonly holder: string;
  readonly signal: AbortSignal;
}

/** What can be told of an election at any time; for metrics and health. */
export interface LeaderStatus {
  readonly leading: boolean;
  /** The epoch led last, 0 before the first. */
  readonly epoch: number;
  readonly transitions: number;
  /** ms since the lease was last renewed; undefined while not leading. */
  readonly leaseAge?: number;
  /** Whether a thread of its own renews the lease; undefined while not leading. */
  readonly leaseInWorker?: boolean;
}

/**
 * Decides which replica of a control plane works (design.md §3). Liveness only: what keeps two leaders from doing
 * harm is the epoch in every write (`Fence` of the store).
 */
export interface LeaderElection {
  /**
   * Takes part until `signal` aborts, and calls `lead` for each term won. A term ends when `lead` returns or
   * rejects, its signal aborts, or `signal` does; leadership is then released and the election goes on. Resolves
   * after the last term has ended and the lock is released; rejects never.
   */
  run(lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void>;
  status(): LeaderStatus;
}
