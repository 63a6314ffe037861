import {
  aborted,
  createElection,
  silentLogger,
  type LeaderElection,
  type LeaderLock,
  type LeaderTerm,
} from '@causeway/runtime';
import type { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';

/** The lease of candidates in memory, ms. */
export const LEASE = 3_000;

/** A lock server that tests can wipe and take away. */
export class TestLock implements LeaderLock {
  holder: string | undefined;
  until = 0;
  away = false;

  constructor(private readonly clock: FakeClock) {}

  ping(): Promise<void> {
    return this.away ? Promise.reject(new Error('away')) : Promise.resolve();
  }

  acquire(holder: string, leaseMs: number): Promise<boolean> {
    if (this.away) return Promise.reject(new Error('away'));
    if (this.holder !== undefined && this.holder !== holder && this.until > this.clock.now())
      return Promise.resolve(false);
    [this.holder, this.until] = [holder, this.clock.now() + leaseMs];
    return Promise.resolve(true);
  }

  renew(holder: string, leaseMs: number): Promise<boolean> {
    return this.acquire(holder, leaseMs);
  }

  release(holder: string): Promise<void> {
    if (this.away) return Promise.reject(new Error('away'));
    if (this.holder === holder) this.holder = undefined;
    return Promise.resolve();
  }
}

/** A lease whose store can be cut off. */
export class CutLease extends MemoryLease {
  away = false;

  override readEpoch(): ReturnType<MemoryLease['readEpoch']> {
    return this.away ? Promise.reject(new Error('away')) : super.readEpoch();
  }

  override renew(epoch: number, holder: string, leaseMs: number): Promise<boolean> {
    return this.away ? Promise.reject(new Error('away')) : super.renew(epoch, holder, leaseMs);
  }

  override release(epoch: number, holder: string): Promise<void> {
    return this.away ? Promise.reject(new Error('away')) : super.release(epoch, holder);
  }
}

/** A candidate that remembers its terms and works until each is over. */
export class Candidate {
  readonly terms: LeaderTerm[] = [];
  readonly stop = new AbortController();
  readonly election: LeaderElection;
  readonly done: Promise<void>;

  constructor(
    parts: { holder: string; clock: FakeClock; lease: MemoryLease; lock?: LeaderLock },
    work?: (term: LeaderTerm) => Promise<void>,
  ) {
    this.election = createElection({ ...parts, leaseMs: LEASE, logger: silentLogger });
    this.done = this.election.run((term) => {
      this.terms.push(term);
      return work ? work(term) : aborted(term.signal);
    }, this.stop.signal);
  }

  get leading(): boolean {
    return this.election.status().leading;
  }
}
