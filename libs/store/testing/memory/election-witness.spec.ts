import type { LeaderLock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { Candidate, LEASE, TestLock } from '../../../../test/support/election-candidates';
import { MemoryDisk } from './memory-disk';
import { MemoryLease } from './memory-lease';

describe('an election whose lock another holds for ever', () => {
  const clock = new FakeClock(1_000_000);
  let disk: MemoryDisk;
  let lock: TestLock;
  let candidates: Candidate[];

  beforeEach(() => {
    disk = new MemoryDisk({ clock });
    lock = new TestLock(clock);
    candidates = [];
  });
  afterEach(async () => {
    for (const one of candidates) one.stop.abort();
    await pass(10 * LEASE);
    await Promise.all(candidates.map((one) => one.done));
  });

  /** Moves time on in small steps, so that what falls due gets its turn. */
  async function pass(ms: number): Promise<void> {
    for (let t = 0; t <= ms; t += 50) {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      if (t < ms) clock.advance(50);
    }
  }

  function candidate(holder: string, own: LeaderLock | undefined = lock): Candidate {
    const one = new Candidate({ holder, clock, lease: new MemoryLease(disk), ...(own ? { lock: own } : {}) });
    candidates.push(one);
    return one;
  }

  const occupy = (): void => void ([lock.holder, lock.until] = ['nobody of ours', Infinity]);
  const free = (): void => void (lock.holder = undefined);
  const leading = (): Candidate[] => candidates.filter((one) => one.leading);

  it('goes on with the lease alone after three leases, and says before since when nobody leads', async () => {
    occupy();
    const [a, b] = [candidate('a'), candidate('b')];
    await pass(2.9 * LEASE);
    expect(leading()).toEqual([]);
    expect(disk.leader.witness).toBe('lock');
    const { leaderless = 0, refused = 0 } = a.election.status();
    expect([leaderless >= 2.8 * LEASE, refused >= 2.8 * LEASE]).toEqual([true, true]);
    await pass(0.5 * LEASE);
    expect([leading().length, disk.leader.witness, disk.leader.epoch]).toEqual([1, 'lease', 1]);
    await pass(LEASE);
    for (const one of [a, b]) {
      expect(one.election.status().witness).toBe('lease');
      expect(one.election.status()).not.toHaveProperty('leaderless');
      expect(one.election.status()).not.toHaveProperty('refused');
    }
    await pass(10 * LEASE);
    expect([...a.terms, ...b.terms]).toHaveLength(1);
  });

  it('follows a leader that stops at once while the lease alone counts', async () => {
    occupy();
    const [a, b] = [candidate('a'), candidate('b')];
    await pass(4 * LEASE);
    const first = a.leading ? a : b;
    first.stop.abort();
    await pass(LEASE / 5);
    expect((first === a ? b : a).terms).toMatchObject([{ epoch: 2 }]);
    expect(disk.leader.witness).toBe('lease');
  });

  it('lets the lock count again, within the term, once the leader has had it for three leases', async () => {
    occupy();
    const [a, b] = [candidate('a'), candidate('b')];
    await pass(4 * LEASE);
    free();
    await pass(2 * LEASE);
    occupy(); // taken away once more: it is counted anew
    await pass(LEASE);
    free();
    await pass(2.5 * LEASE);
    expect(disk.leader.witness).toBe('lease');
    await pass(LEASE);
    expect(disk.leader.witness).toBe('lock');
    await pass(LEASE);
    expect([a, b].map((one) => one.election.status().witness)).toEqual(['lock', 'lock']);
    expect([...a.terms, ...b.terms]).toHaveLength(1);
    // And from then on it ends terms again.
    occupy();
    await pass(2 * LEASE);
    expect(leading()).toEqual([]);
    await pass(3.5 * LEASE);
    expect([leading().length, disk.leader.witness, disk.leader.epoch]).toEqual([1, 'lease', 2]);
  });

  it('lets it count again where the leader has no lock', async () => {
    disk.leader = { ...disk.leader, witness: 'lease' };
    const a = new Candidate({ holder: 'a', clock, lease: new MemoryLease(disk) });
    candidates.push(a);
    await pass(2.5 * LEASE);
    expect([a.leading, disk.leader.witness]).toEqual([true, 'lease']);
    await pass(LEASE);
    expect([a.leading, disk.leader.witness, a.terms.length]).toEqual([true, 'lock', 1]);
  });

  it('changes nothing for a leader whose lock is taken for less than it takes to end a term', async () => {
    const a = candidate('a');
    await pass(100);
    occupy();
    await pass(1.2 * LEASE);
    free();
    await pass(5 * LEASE);
    expect([a.terms.length, disk.leader.witness]).toEqual([1, 'lock']);
  });

  it('is no reason for a candidate that asks while another is about to lead', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    for (let n = 0; n < 10; n++) {
      await pass(LEASE);
      const first = a.leading ? a : b;
      expect(first.leading).toBe(true);
      await new MemoryLease(disk).release(disk.leader.epoch, disk.leader.holder);
      await pass(LEASE / 2);
    }
    expect(disk.leader.witness).toBe('lock');
  });
});
