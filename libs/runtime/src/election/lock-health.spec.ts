import { FakeClock } from '../clock';
import { silentLogger } from '../logger';
import type { LeaderLock } from './leader-election';
import { LockHealth } from './lock-health';

const LEASE = 3_000;

describe('the lock as a candidate sees it', () => {
  /** A server that takes every question and answers none, until it goes on: then it does all in order, and holds what is left. */
  class HungLock implements LeaderLock {
    holder: string | undefined;
    private readonly asked: (() => void)[] = [];

    acquire = (holder: string): Promise<boolean> => this.ask(() => (this.holder ??= holder) === holder);
    renew = this.acquire;
    ping = (): Promise<void> => this.ask(() => undefined);
    release = (holder: string): Promise<void> =>
      this.ask(() => void (this.holder === holder && (this.holder = undefined)));

    goOn(): void {
      for (const each of this.asked.splice(0)) each();
    }

    private ask<T>(answer: () => T): Promise<T> {
      return new Promise((resolve) => this.asked.push(() => resolve(answer())));
    }
  }

  let clock: FakeClock;
  let lock: HungLock;
  let health: LockHealth;
  beforeEach(() => {
    clock = new FakeClock(0);
    lock = new HungLock();
    health = new LockHealth({ lock, holder: 'candidate', leaseMs: LEASE, clock, logger: silentLogger });
  });
  const mayTry = async (): Promise<boolean> => {
    const answer = health.mayTry();
    clock.advance(LEASE / 3);
    return answer;
  };

  it('is not left with a candidate that gave up, when a server that hung does what it was asked', async () => {
    expect([await mayTry(), await mayTry()]).toEqual([false, false]);
    lock.goOn();
    expect(lock.holder).toBeUndefined();
  });

  it('stays with a candidate that went on without it', async () => {
    expect([await mayTry(), await mayTry(), await mayTry()]).toEqual([false, false, true]);
    lock.goOn();
    expect(lock.holder).toBe('candidate');
  });
});
