import type { Clock } from '../clock';
import type { Logger } from '../logger';

/**
 * One term as leader. `signal` aborts when leadership is lost or doubtful: all work must stop then. Each read of
 * `signal` checks the lease first.
 */
export interface LeaderTerm {
  readonly epoch: number;
  readonly holder: string;
  readonly signal: AbortSignal;
}

/**
 * Witness by which a candidate may try to lead: the lock, or the lease alone once the lock's server has proved
 * unreliable. One row of the store holds the current one (docs/design.md §3).
 */
export type LeaderWitness = 'lock' | 'lease';

/** Current state of an election, for metrics and health. */
export interface LeaderStatus {
  readonly leading: boolean;
  /** The epoch led last, 0 before the first. */
  readonly epoch: number;
  readonly transitions: number;
  /** Time since the lease was last renewed, ms; undefined while not leading. */
  readonly leaseAge?: number;
  /** Whether a worker thread renews the lease; undefined while not leading. */
  readonly leaseInWorker?: boolean;
  /** Witness that counts, as this process last read it. */
  readonly witness: LeaderWitness;
  /** Time since this process first found no leader, ms; undefined while there is one. */
  readonly leaderless?: number;
  /** Time since the lock's server first refused this candidate while there was no leader, ms; undefined while it does not. */
  readonly refused?: number;
}

/**
 * Elects the active replica of a control plane (docs/design.md §3). Liveness only: the epoch in every write (`Fence` of
 * the store) prevents harm by two leaders.
 */
export interface LeaderElection {
  /**
   * Takes part until `signal` aborts, and calls `lead` for each term won. A term ends when `lead` returns or rejects,
   * its signal aborts, or `signal` does. Leadership is then released and the election continues, after at most a minute
   * even if the work does not end. Resolves after the last term has ended and the lock is released; never rejects.
   */
  run(lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void>;
  status(): LeaderStatus;
}

/** Dependencies of an election. */
export interface ElectionOptions {
  readonly lease: LeaderLease;
  /** Decides which candidate tries; without a lock all try, and the lease alone decides. */
  readonly lock?: LeaderLock;
  /** Renews the lease of a term; by default the event loop of this process. */
  readonly keeper?: LeaseKeeper;
  /** Unique name of this process, with a random part. */
  readonly holder: string;
  /** Time for which a silent leader keeps its place, ms; at least 200. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Random number with 0 ≤ x < 1 for jitter; Math.random unless a simulation sets it. */
  readonly random?: () => number;
}

/** The leader according to the store: the row changes only at a take-over. Epoch 0 means there was no leader yet. */
export interface LeaderEpoch {
  readonly epoch: number;
  readonly holder: string;
  /** Time until the lease expires by the store's clock, ms; 0 if it expired or was released. */
  readonly remaining: number;
  readonly witness: LeaderWitness;
}

/** The witness that was read, and the one that counts after a take-over. */
export interface WitnessChange {
  readonly from: LeaderWitness;
  readonly to: LeaderWitness;
}

/**
 * Epoch and lease of a control plane's leader in its store (docs/design.md §3). The epoch makes leaders safe: writes
 * carry it as a fence. The lease only determines when another candidate may try. All methods throw while the store is
 * unavailable.
 */
export interface LeaderLease {
  readEpoch(): Promise<LeaderEpoch>;
  /**
   * Starts the epoch after `fromEpoch`, once the lease has expired or was released; waits for pending fenced writes of the previous epoch. Returns
   * the new epoch, or undefined if the lease is valid, another candidate was faster, or another witness counts than `witness.from`. Without `witness`
   * that is the lock, before and after.
   */
  takeOver(fromEpoch: number, holder: string, leaseMs: number, witness?: WitnessChange): Promise<number | undefined>;
  /** Extends the lease to `leaseMs` from now; false if epoch and holder are no longer current, or have released it. */
  renew(epoch: number, holder: string, leaseMs: number): Promise<boolean>;
  /** Ends the lease immediately if epoch and holder are current; the epoch stays. */
  release(epoch: number, holder: string): Promise<void>;
  /** Makes the lock the witness again, within the term; false if epoch and holder are no longer current. Idempotent. */
  returnToLock(epoch: number, holder: string): Promise<boolean>;
  /** Calls `listener` soon after a release, for a fast hand-over; may miss some. Returns a function that unsubscribes. */
  onRelease(listener: () => void): () => void;
}

/**
 * Decides which candidate tries to lead (docs/design.md §3). Only a hint: the epoch in the store separates two leaders.
 * All methods reject while the lock's server is unavailable.
 */
export interface LeaderLock {
  /** Resolves when the lock's server answers; changes nothing. */
  ping(): Promise<void>;
  /** Takes the lock for `leaseMs` if no other holder has it; true also if the holder already has it. */
  acquire(holder: string, leaseMs: number): Promise<boolean>;
  /** Extends the lock, and acquires it again if it vanished; false if another holder has it. */
  renew(holder: string, leaseMs: number): Promise<boolean>;
  /** Releases the lock if this holder has it. */
  release(holder: string): Promise<void>;
}

/** The lease to renew, and its length. */
export interface LeaseRequest {
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** Called when the lease is known to be lost. The call may be late: check `KeptLease.lost` before acting. */
  readonly onLost: () => void;
}

/** A lease that is renewed each third of its length. The methods do no I/O. */
export interface KeptLease {
  /** Returns ms since the start of the newest granted renewal: the lease is certainly valid below its length. */
  age(): number;
  /** Returns why the lease is lost; undefined as long as no loss is known. */
  lost(): string | undefined;
  /** Whether a worker thread renews it, so that it survives a blocked event loop. */
  inWorker(): boolean;
  /** Stops renewing. Does not release the lease. */
  end(): Promise<void>;
}

/** Renews the lease of a leader's term (docs/adr/0004-lease-in-a-worker.md). */
export interface LeaseKeeper {
  /** Renews once and continues; undefined if the first renewal is refused or fails. */
  keep(request: LeaseRequest): Promise<KeptLease | undefined>;
}
