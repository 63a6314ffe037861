import { aborted, createElection, silentLogger, type LeaderLock, type LeaderTerm } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { Candidate, CutLease, LEASE, TestLock } from '../../../../test/support/election-candidates';
import { MemoryDisk } from './memory-disk';
import { MemoryLease } from './memory-lease';

describe('an election', () => {
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

  function candidate(
    holder: string,
    more: { lock?: LeaderLock | undefined; lease?: MemoryLease; work?: (term: LeaderTerm) => Promise<void> } = {},
  ): Candidate {
    const { lock: own = lock, lease = new MemoryLease(disk), work } = more;
    const one = new Candidate({ holder, clock, lease, lock: own }, work);
    candidates.push(one);
    return one;
  }

  it('has one leader, in the next epoch, who renews lease and lock', async () => {
    const [a, b] = [candidate('a'), candidate('b')];
    await pass(10 * LEASE);
    expect([a.leading, b.leading]).toEqual([true, false]);
    expect(a.terms).toMatchObject([{ epoch: 1, holder: 'a' }]);
    expect(a.election.status()).toMatchObject({ leading: true, epoch: 1, transitions: 1 });
    expect(a.election.status().leaseAge).toBeLessThanOrEqual(LEASE / 3 + 50);
    expect([disk.leader.holder, lock.holder]).toEqual(['a', 'a']);
  });

  it('hands over at once on a clean stop, after the work has ended', async () => {
    const order: string[] = [];
    const a = candidate('a', {
      work: async (term) => {
        await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()));
        order.push(`a ends while ${disk.leader.holder} has the epoch`);
      },
    });
    await pass(100);
    const b = candidate('b', { work: async (term) => void order.push(`b leads epoch ${term.epoch}`) });
    await pass(100);
    a.stop.abort();
    await pass(LEASE / 5);
    expect(order.slice(0, 2)).toEqual(['a ends while a has the epoch', 'b leads epoch 2']);
    await a.done;
    void b;
  });

  it('ends a term within a lease when the store cannot be reached, and starts over', async () => {
    const lease = new CutLease(disk);
    const a = candidate('a', { lease });
    await pass(100);
    lease.away = true;
    await pass(LEASE - 100);
    const [term] = a.terms;
    await pass(LEASE / 3 + 100);
    expect(term?.signal.aborted).toBe(true);
    await pass(5 * LEASE);
    expect(a.terms).toHaveLength(1);
    lease.away = false;
    await pass(2 * LEASE);
    expect(a.terms.at(-1)?.epoch).toBe(2);
    expect(a.leading).toBe(true);
  });

  it('aborts the work of a leader that another one has followed', async () => {
    const a = candidate('a');
    await pass(100);
    disk.leader = { epoch: 7, holder: 'x', witness: 'lock', expiresAt: clock.now() + LEASE };
    await pass(LEASE / 3);
    expect(a.terms[0]?.signal.aborted).toBe(true);
    await pass(2 * LEASE);
    expect(a.terms.at(-1)?.epoch).toBe(8);
  });

  it('deposes no leader when the lock server is wiped', async () => {
    const a = candidate('a');
    await pass(100);
    const b = candidate('b');
    for (let n = 0; n < 5; n++) {
      await pass(LEASE);
      lock.holder = undefined;
    }
    await pass(LEASE);
    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    expect(lock.holder).toBe('a');
  });

  it('goes on with the lease while the lock server is away, and after a lease candidates do, too', async () => {
    const a = candidate('a');
    await pass(100);
    const b = candidate('b');
    lock.away = true;
    await pass(LEASE / 2);
    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    a.stop.abort();
    await pass(LEASE / 4);
    expect(b.terms.length).toBe(0);
    await pass(LEASE / 2);
    expect(b.terms).toMatchObject([{ epoch: 2 }]);
  });

  it('waits no second lease for a lock server that is away already', async () => {
    const a = candidate('a');
    await pass(100);
    const b = candidate('b');
    lock.away = true;
    await pass(5 * LEASE);
    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    a.stop.abort();
    await pass(LEASE / 5);
    expect(b.terms).toMatchObject([{ epoch: 2 }]);
  });

  for (const [how, silent] of [
    ['refuses', new Error('refused')],
    ['says nothing', undefined],
  ] as const) {
    it(`takes over from a killed leader within 5 s when a lock server that dies with it ${how}`, async () => {
      const away = (): Promise<never> => (silent ? Promise.reject(silent) : new Promise<never>(() => undefined));
      const lease = new CutLease(disk);
      const a = candidate('a', { lease });
      await pass(100);
      const b = candidate('b');
      await pass(2 * LEASE);
      lock.acquire = away;
      lock.ping = away;
      lock.renew = away;
      lease.away = true; // killed: it renews nothing any more
      await pass(5_000);
      expect(a.terms[0]?.signal.aborted).toBe(true);
      expect(b.terms).toMatchObject([{ epoch: 2 }]);
    });
  }

  it('never lets candidates that see the lock and candidates that do not depose each other', async () => {
    const blind = new TestLock(clock);
    blind.away = true;
    const all = ['a', 'b', 'c', 'd'].map((name, n) => candidate(name, n % 2 ? { lock: blind } : {}));
    await pass(20 * LEASE);
    expect(all.flatMap((one) => one.terms)).toHaveLength(1);
    all.find((one) => one.leading)?.stop.abort();
    await pass(20 * LEASE);
    expect(all.flatMap((one) => one.terms)).toHaveLength(2);
  });

  it('gives nothing to a candidate that slept between lock and epoch', async () => {
    let wake = (): void => undefined;
    const sleepy = new TestLock(clock);
    sleepy.acquire = () => new Promise((resolve) => (wake = () => resolve(true)));
    const a = candidate('a', { lock: sleepy });
    await pass(100);
    const b = candidate('b');
    await pass(100);
    expect(b.terms).toMatchObject([{ epoch: 1 }]);
    disk.leader = { ...disk.leader, expiresAt: 0 }; // even while the lease is free
    wake();
    await pass(50);
    expect(a.terms).toEqual([]);
    expect(disk.leader.epoch).toBe(1);
  });

  it('ends the term of a leader whose lock another one keeps', async () => {
    const a = candidate('a');
    await pass(100);
    [lock.holder, lock.until] = ['operator', Infinity];
    await pass(LEASE);
    expect(a.terms[0]?.signal.aborted).toBe(false); // it may be left from a candidate that asked long ago
    await pass(LEASE);
    expect(a.terms[0]?.signal.aborted).toBe(true);
    await pass(2 * LEASE);
    expect(a.terms).toHaveLength(1);
  });

  it('leads again although the work of a term never ends, and says so', async () => {
    const errors: string[] = [];
    const lease = new MemoryLease(disk);
    const logger = { ...silentLogger, error: (message: string) => void errors.push(message) };
    const terms: LeaderTerm[] = [];
    const stop = new AbortController();
    const done = createElection({ holder: 'a', clock, lease, leaseMs: LEASE, logger }).run((term) => {
      terms.push(term);
      return terms.length === 1 ? new Promise<never>(() => undefined) : aborted(term.signal);
    }, stop.signal);
    await pass(100);
    await lease.release(1, 'a');
    await pass(50_000);
    expect([terms.length, errors.length]).toEqual([1, 0]);
    await pass(20_000);
    expect(terms.map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(errors).toEqual(['the work of the leader did not end with its term']);
    stop.abort();
    await pass(LEASE);
    await done;
  });

  it('does not spin when the work fails at once', async () => {
    const a = candidate('a', { work: () => Promise.reject(new Error('broken')) });
    await pass(10 * LEASE);
    expect(a.terms.length).toBeGreaterThan(3);
    expect(a.terms.length).toBeLessThan(40);
  });
});
