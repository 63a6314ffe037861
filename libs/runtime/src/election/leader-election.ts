import type { Clock } from '../clock';
import type { Logger } from '../logger';

/**
 * One term as leader. `signal` aborts the moment leadership is lost or doubtful: all work stops then. Each read of
 * `signal` checks the lease first.
 */
export interface LeaderTerm {
  readonly epoch: number;
  readonly holder: string;
  readonly signal: AbortSignal;
}

/**
 * Witness by which a candidate may try to lead: the lock, if the candidate has one, or the lease alone, once the lock's
 * server has proved to be no witness. One row of the store says which (docs/design.md §3).
 */
export type LeaderWitness = 'lock' | 'lease';

/** State of an election at any time; for metrics and health. */
export interface LeaderStatus {
  readonly leading: boolean;
  /** The epoch led last, 0 before the first. */
  readonly epoch: number;
  readonly transitions: number;
  /** ms since the lease was last renewed; undefined while not leading. */
  readonly leaseAge?: number;
  /** Whether a thread of its own renews the lease; undefined while not leading. */
  readonly leaseInWorker?: boolean;
  /** Which witness counts, as this process read last. */
  readonly witness: LeaderWitness;
  /** ms since this process first found no leader; undefined while there is one. */
  readonly leaderless?: number;
  /** ms since the lock's server first refused this candidate while there was no leader; undefined while it does not. */
  readonly refused?: number;
}

/**
 * Decides which replica of a control plane works (docs/design.md §3). Liveness only: what keeps two leaders from doing
 * harm is the epoch in every write (`Fence` of the store).
 */
export interface LeaderElection {
  /**
   * Takes part until `signal` aborts, and calls `lead` for each term won. A term ends when `lead` returns or
   * rejects, its signal aborts, or `signal` does; leadership is then released and the election goes on, a minute later at
   * the most where the work does not end. Resolves after the last term has ended and the lock is released; rejects never.
   */
  run(lead: (term: LeaderTerm) => Promise<void>, signal: AbortSignal): Promise<void>;
  status(): LeaderStatus;
}

/** Dependencies of an election. */
export interface ElectionOptions {
  readonly lease: LeaderLease;
  /** Decides which candidate tries; without a lock every candidate tries, and the lease alone decides. */
  readonly lock?: LeaderLock;
  /** Renews the lease of a term; by default the event loop of this process. */
  readonly keeper?: LeaseKeeper;
  /** Name of this process. No other process may have it, so it contains something random. */
  readonly holder: string;
  /** Time for which a silent leader keeps its place, ms; 200 is legal. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 ≤ x < 1, for jitter; Math.random unless a simulation says otherwise. */
  readonly random?: () => number;
}

/** The leader according to the store: the row changes only at a take-over. Epoch 0: there was no leader yet. */
export interface LeaderEpoch {
  readonly epoch: number;
  readonly holder: string;
  /** ms until the lease beside it expires, by the store's clock; 0 when it expired or was released. */
  readonly remaining: number;
  readonly witness: LeaderWitness;
}

/** The witness that was read, and the one that counts from a take-over on. */
export interface WitnessChange {
  readonly from: LeaderWitness;
  readonly to: LeaderWitness;
}

/**
 * The epoch and the lease of a control plane's leader, kept by its store (docs/design.md §3). The epoch makes leaders
 * safe: writes carry it as a fence. The lease only says when another candidate may try. All methods throw when the store
 * is away.
 */
export interface LeaderLease {
  readEpoch(): Promise<LeaderEpoch>;
  /**
   * Begins the epoch after `fromEpoch`, once the lease has expired or was released; waits for fenced writes of the
   * epoch before that are under way. Returns the new epoch, or undefined when the lease stands, another candidate was
   * faster, or another witness counts than `witness.from`. Without `witness` that is the lock, before and after.
   */
  takeOver(fromEpoch: number, holder: string, leaseMs: number, witness?: WitnessChange): Promise<number | undefined>;
  /** Extends the lease to `leaseMs` from now; false when epoch and holder no longer stand, or have released it. */
  renew(epoch: number, holder: string, leaseMs: number): Promise<boolean>;
  /** Ends the lease at once where epoch and holder stand; the epoch stays. */
  release(epoch: number, holder: string): Promise<void>;
  /** Makes the lock the witness again, within the term; false when epoch and holder no longer stand. Idempotent. */
  returnToLock(epoch: number, holder: string): Promise<boolean>;
  /** Calls `listener` soon after a release, so that a clean stop hands over at once; may miss some. Returns its end. */
  onRelease(listener: () => void): () => void;
}

/**
 * Decides which candidate tries to lead (docs/design.md §3). A hint: what keeps two leaders apart is the epoch in the
 * store. All methods reject when the lock's server is away.
 */
export interface LeaderLock {
  /** Resolves when the lock's server answers; changes nothing. */
  ping(): Promise<void>;
  /** Takes the lock for `leaseMs` if no other holder has it; true also if the holder already has it. */
  acquire(holder: string, leaseMs: number): Promise<boolean>;
  /** Extends the lock, and takes it again where it vanished; false when another holds it. */
  renew(holder: string, leaseMs: number): Promise<boolean>;
  /** Releases the lock where this holder has it. */
  release(holder: string): Promise<void>;
}

/** The lease to renew, and its length. */
export interface LeaseRequest {
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** Called when the lease is known to be lost. The call may come late: check `KeptLease.lost` before acting. */
  readonly onLost: () => void;
}

/** A lease that is renewed each third of its length. The methods cost nothing and do no I/O. */
export interface KeptLease {
  /** ms since the newest granted renewal began: the lease is certain while this is below its length. */
  age(): number;
  /** Returns why the lease is lost; undefined while it is not known to be. */
  lost(): string | undefined;
  /** Whether a thread of its own renews it, so that it outlives a busy event loop. */
  inWorker(): boolean;
  /** Stops renewing. Releases nothing. */
  end(): Promise<void>;
}

/** Renews the lease of a leader's term (docs/adr/0004-lease-in-a-worker.md). */
export interface LeaseKeeper {
  /** Renews once and continues; undefined when the first renewal is refused or fails. */
  keep(request: LeaseRequest): Promise<KeptLease | undefined>;
}
