import type { Clock } from '../clock';
import type { LeaderLease } from './leader-lease';
import type { LeaderLock } from './leader-lock';
import type { LeaseKeeper } from './event-loop-lease-keeper';
import type { Logger } from '../logger';

/** What an election works with. */
export interface ElectionOptions {
  readonly lease: LeaderLease;
  /** Who tries; without it every candidate does, and the lease alone decides. */
  readonly lock?: LeaderLock;
  /** Who renews the lease of a term; the event loop of this process unless given. */
  readonly keeper?: LeaseKeeper;
  /** This process; no other may have the same, so it holds something random. */
  readonly holder: string;
  /** How long a leader that says nothing keeps its place, ms; 200 is legal. */
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 ≤ x < 1, for jitter; Math.random unless a simulation says otherwise. */
  readonly random?: () => number;
}
