import { FakeClock } from '../../testing/fake-clock';
import { silentLogger } from '../logger';
import type { LeaderLock, LeaderWitness } from './leader-election';
import { LockHealth } from './lock-health';

const LEASE = 3_000;

describe('the lock as a candidate sees it', () => {
  /** A lock server that accepts every request and answers none until `goOn`: then it handles all in order, and keeps the remaining state. */
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
    const witness = health.findWitness(1);
    clock.advance(LEASE / 3);
    return (await witness) === 'lock';
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

describe('a lock that another holds while nobody leads', () => {
  const clock = new FakeClock(0);
  let answer: 'ours' | 'taken' | 'away';
  const lock: LeaderLock = {
    ping: () => Promise.resolve(),
    acquire: () => (answer === 'away' ? Promise.reject(new Error('away')) : Promise.resolve(answer === 'ours')),
    renew: () => Promise.resolve(false),
    release: () => Promise.resolve(),
  };
  let health: LockHealth;
  beforeEach(() => {
    answer = 'taken';
    health = new LockHealth({ lock, holder: 'candidate', leaseMs: LEASE, clock, logger: silentLogger });
  });
  const tryAfter = (leases: number, epoch = 1): Promise<LeaderWitness | undefined> => {
    clock.advance(leases * LEASE);
    return health.findWitness(epoch);
  };

  it('is no witness once it was refused for three leases', async () => {
    expect(await tryAfter(0)).toBeUndefined();
    expect(await tryAfter(1)).toBeUndefined();
    expect(health.refusedFor()).toBe(LEASE);
    expect(await tryAfter(1.9)).toBeUndefined();
    expect(await tryAfter(0.1)).toBe('lease');
  });

  it('is counted anew where somebody led, or this candidate had the lock, in between', async () => {
    await tryAfter(0);
    await tryAfter(2);
    expect(await tryAfter(1, 2)).toBeUndefined(); // another epoch
    await tryAfter(2, 2);
    health.recordLeader();
    expect(health.refusedFor()).toBeUndefined();
    expect(await tryAfter(1, 2)).toBeUndefined();
    await tryAfter(2, 2);
    answer = 'ours';
    expect(await tryAfter(1, 2)).toBe('lock');
    answer = 'taken';
    expect(await tryAfter(0, 2)).toBeUndefined();
  });

  it('is refused through the moments in which its server is away', async () => {
    await tryAfter(0);
    answer = 'away';
    expect(await tryAfter(1.5)).toBeUndefined();
    answer = 'taken';
    expect(await tryAfter(1.5)).toBe('lease');
  });
});
