import { yieldToEventLoop } from '../sliced-work';
import { FakeClock } from '../../testing/fake-clock';
import { silentLogger } from '../logger';
import { ActiveTerm } from './active-term';
import type { LeaderLease, LeaderLock } from './leader-election';

const LEASE = 3_000;

describe('a term whose lock another holds', () => {
  const clock = new FakeClock(0);
  /** Until when another process holds the lock. */
  let heldUntil = 0;
  const lock: LeaderLock = {
    ping: () => Promise.resolve(),
    acquire: () => Promise.resolve(true),
    renew: () => Promise.resolve(clock.elapsed() >= heldUntil),
    release: () => Promise.resolve(),
  };
  const kept = { age: () => 0, lost: () => undefined, inWorker: () => false, end: () => Promise.resolve() };

  async function term(): Promise<ActiveTerm> {
    const parts = { lease: {} as LeaderLease, lock, keeper: { keep: () => Promise.resolve(kept) } };
    const begun = new ActiveTerm({
      ...parts,
      epoch: 1,
      holder: 'one',
      leaseMs: LEASE,
      clock,
      logger: silentLogger,
      witness: 'lock',
      onWitness: () => undefined,
    });
    await begun.begin(new AbortController().signal);
    return begun;
  }

  async function wait(ms: number): Promise<void> {
    for (let past = 0; past < ms; past += 100) {
      clock.advance(100);
      await yieldToEventLoop();
    }
  }

  it('goes on where that other asked for it long ago, and does not renew it', async () => {
    const one = await term();
    for (const late of [0, 999, 1_000]) {
      await wait(late);
      heldUntil = clock.elapsed() + LEASE;
      await wait(2 * LEASE);
      expect(one.signal.aborted).toBe(false);
    }
    await one.end();
  });

  it('ends where that other renews it', async () => {
    const one = await term();
    heldUntil = Infinity;
    await wait(2 * LEASE);
    expect(String(one.signal.reason)).toContain('another process holds the lock');
    await one.end();
  });
});
