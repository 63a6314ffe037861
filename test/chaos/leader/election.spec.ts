/*
 * Faults that a leader survives, on real servers, with the lock in Redis and with the lease in Postgres alone. A fault that another file tests names that file:
 * * a leader that plans from an index older than its epoch.
 * * a candidate that slept between lock and epoch.
 * * Redis killed and back.
 * * Redis wiped while the lock is held.
 * * a value in the key of Redis that never ends: test/chaos/leader/witness.spec.ts,
 *   libs/store/testing/memory/election-witness.spec.ts.
 * * replicas that do not know which witness counts: test/chaos/leader/witness.spec.ts,
 *   libs/store/testing/conformance/fences.ts.
 * * half of the replicas cut off from Redis.
 * * stopped (SIGSTOP) past the lease, and woken: test/chaos/leader/leader-chaos.long.spec.ts.
 * * a clock that jumps.
 * * two that both believe they lead: test/chaos/leader/two-leaders.spec.ts.
 * * a clean stop.
 */
import { silentLogger, systemClock, type Clock, type LeaderLock, type LeaderTerm } from '@causeway/runtime';
import { waitUntilCaughtUp, Fenced, followStore, ResourceIndex } from '@causeway/store';
import type { Change } from '@causeway/store';
import { createMigratedDatabase } from '../../support/migrated-database';
import type { TestDatabase } from '../../support/postgres';
import { describeWithRedis } from '../../support/redis';
import { until } from '../../support/until';
import { bundleCandidate, CandidateProcess } from './candidate-process';
import { RedisServer } from './redis-server';
import { Replica, type ReplicaOptions } from './replica';

/** Longer than any pause of a busy machine, or a leader loses its term for good reason. */
const LEASE = 4_000;
/** An address at which no Redis answers. */
const CUT_OFF = 'redis://127.0.0.1:1';

const BACKENDS = ['redis', 'postgres'] as const;
let named = 0;

function put(spec: Record<string, string | number>): Change {
  const id = { kind: 'Thing', mesh: 'default', zone: '', namespace: '', name: `thing-${++named}` };
  return { type: 'put', id, expect: 'absent', labels: {}, spec };
}

describeWithRedis('an election on real servers (docs/design.md §3)', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  const replicas: Replica[] = [];

  beforeEach(async () => {
    [database, redis] = await Promise.all([createMigratedDatabase(), RedisServer.start()]);
  });
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((one) => one.close()));
    await redis.kill();
    await database.drop();
  });

  async function replica(more: Partial<ReplicaOptions> & { readonly cutOff?: boolean } = {}): Promise<Replica> {
    const { cutOff = false, ...rest } = more;
    const one = await Replica.start({
      database: database.url,
      redis: cutOff ? CUT_OFF : redis.url,
      leaseMs: LEASE,
      ...rest,
    });
    replicas.push(one);
    return one;
  }

  const leader = (): Promise<Replica> => until('one replica leads', () => replicas.find((one) => one.leading));
  const terms = (): LeaderTerm[] => replicas.flatMap((one) => one.terms);
  const leases = (n: number): Promise<void> => systemClock.sleep(n * LEASE);

  for (const kind of BACKENDS) {
    describe(`with ${kind === 'redis' ? 'the lock in Redis' : 'the lease in Postgres alone'}`, () => {
      const start = (more: Partial<ReplicaOptions> = {}): Promise<Replica> =>
        kind === 'redis'
          ? replica(more)
          : Replica.start({ database: database.url, leaseMs: LEASE, ...more }).then((one) => (replicas.push(one), one));

      it('has one leader at a time, who keeps its term', async () => {
        await Promise.all([start(), start(), start()]);
        const first = await leader();
        await leases(1.5);
        expect(terms()).toHaveLength(1);
        expect(first.election.status()).toMatchObject({ leading: true, epoch: 1, transitions: 1 });
      });

      it('hands over on a clean stop without waiting for the lease', async () => {
        const [a, b] = await Promise.all([start({ leaseMs: 30_000 }), start({ leaseMs: 30_000 })]);
        const first = await leader();
        const other = first === a ? b : a;
        await first.stop();
        await until('the other leads', () => other.leading);
        expect(other.terms).toMatchObject([{ epoch: 2 }]);
      });

      it('I8: of two that both believe they lead only the higher epoch commits', async () => {
        let hear = (): void => undefined;
        const deaf = new Promise<void>((resolve) => (hear = resolve)); // does not hear that its term is over
        const [a, b] = await Promise.all([start({ work: () => deaf }), start({ work: () => deaf })]);
        const first = await leader();
        const [term] = first.terms;
        const fence = { epoch: term?.epoch ?? 0, holder: term?.holder ?? '' };
        // The lease passes to the other one while the first still works.
        await first.backend.lease.release(fence.epoch, fence.holder);
        const second = first === a ? b : a;
        await until('the other leads', () => second.leading);
        await expect(
          first.backend.store.write({ changes: [put({ by: 'first' })], onRefusal: 'abort', fence }),
        ).rejects.toBeInstanceOf(Fenced);
        const [now] = second.terms;
        const { results } = await second.backend.store.write({
          changes: [put({ by: 'second' })],
          onRefusal: 'abort',
          fence: { epoch: now?.epoch ?? 0, holder: now?.holder ?? '' },
        });
        expect(results[0]?.type).toBe('written');
        await until('the first is told', () => term?.signal.aborted);
        hear();
      });

      it('does not follow a clock that jumps', async () => {
        let jump = 0;
        const clock: Clock = { ...systemClock, now: () => Date.now() + jump };
        await Promise.all([start({ clock }), start({ clock })]);
        await leader();
        for (const hours of [1, -2, 24]) {
          jump += hours * 3_600_000;
          await leases(1.2);
        }
        expect(terms()).toHaveLength(1);
        expect(terms()[0]?.signal.aborted).toBe(false);
      });

      it('ends a term when the store cannot be reached for a lease, and starts over', async () => {
        const one = await start();
        await leader();
        await one.backend.lease.release(1, one.holder); // as if it had expired unseen, and no other had taken it
        await until('the first term is over', () => one.terms[0]?.signal.aborted);
        await until('it leads again', () => one.leading && one.terms.length === 2);
        expect(one.terms[1]?.epoch).toBe(2);
      });

      it('a new leader plans nothing before its index holds what the epochs before have written', async () => {
        const one = await start();
        await leader();
        const index = new ResourceIndex();
        const { store } = one.backend;
        index.load(await store.snapshot());
        await store.write({ changes: [put({ n: 1 })], onRefusal: 'abort' }); // the index does not follow: it is late
        const stop = new AbortController();
        let caught = false;
        const waiting = waitUntilCaughtUp(store, index, stop.signal).then(() => (caught = true));
        await systemClock.sleep(500);
        expect(caught).toBe(false);
        const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: stop.signal });
        await waiting;
        expect(index.point).toEqual(await store.head());
        stop.abort();
        await following;
        await expect(
          waitUntilCaughtUp(store, new ResourceIndex(), AbortSignal.abort(new Error('over'))),
        ).rejects.toThrow('over');
      });
    });
  }

  it('goes on while Redis is killed and when it is back', async () => {
    const [a, b] = await Promise.all([replica(), replica()]);
    const first = await leader();
    await redis.kill();
    await leases(1.5);
    expect(terms()).toHaveLength(1);
    await redis.start();
    await until('both see Redis again', () => a.seesLock && b.seesLock);
    await leases(1.5);
    expect(terms()).toHaveLength(1);
    expect(first.leading).toBe(true);
  });

  it('finds a new leader while Redis is away, and keeps it when Redis is back', async () => {
    const [a, b] = await Promise.all([replica(), replica()]);
    const first = await leader();
    await redis.kill();
    await first.stop();
    const second = first === a ? b : a;
    await until('the other leads', () => second.leading);
    await redis.start();
    await until('it sees Redis again', () => second.seesLock);
    const third = await replica();
    await leases(1.5);
    expect([second.terms.length, third.terms.length]).toEqual([1, 0]);
  });

  it('follows a killed leader while Redis stands open and never answers, and keeps the term when it does again', async () => {
    const program = await bundleCandidate();
    const killed = new CandidateProcess({
      program: program.file,
      database: database.url,
      redis: redis.url,
      leaseMs: LEASE,
      onEvent: (_, { event }) => void (led ||= event === 'lead'),
    });
    let led = false;
    await until('it leads', () => led);
    const [a, b] = await Promise.all([replica(), replica()]);
    redis.pause();
    await killed.kill();
    program.remove();
    const second = await leader();
    redis.resume();
    await until('both see Redis again', () => a.seesLock && b.seesLock);
    await leases(1.5);
    // Not the terms themselves: of what a signal holds Jest cannot print a difference.
    const found = terms().map(({ epoch, holder, signal }) => ({
      epoch,
      holder,
      ended: signal.aborted && String(signal.reason),
    }));
    expect(found).toEqual([{ epoch: 2, holder: second.holder, ended: false }]);
    expect(second.leading).toBe(true);
  });

  it('deposes nobody when Redis is wiped, again and again', async () => {
    await Promise.all([replica(), replica(), replica()]);
    await leader();
    for (let n = 0; n < 4; n++) {
      await redis.wipe();
      await leases(0.5);
    }
    expect(terms()).toHaveLength(1);
    expect(terms()[0]?.signal.aborted).toBe(false);
  });

  it('lets those who are cut off from Redis and those who are not depose each other never', async () => {
    await Promise.all([replica(), replica({ cutOff: true }), replica(), replica({ cutOff: true })]);
    await leader();
    await leases(1.5);
    expect(terms()).toHaveLength(1);
    await (await leader()).stop();
    await leader();
    await leases(1.5);
    expect(
      terms()
        .map(({ epoch }) => epoch)
        .sort(),
    ).toEqual([1, 2]);
  });

  it('gives nothing to a candidate that slept between lock and epoch', async () => {
    let slept = false;
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => (wake = resolve));
    const sleepy = (lock: LeaderLock): LeaderLock => ({
      ping: () => lock.ping(),
      renew: (holder, ms) => lock.renew(holder, ms),
      release: (holder) => lock.release(holder),
      acquire: (holder, ms) =>
        lock.acquire(holder, ms).then(async (ours) => {
          slept ||= ours;
          if (ours) await asleep;
          return ours;
        }),
    });
    const clock: Clock = { ...systemClock, after: (ms, action) => systemClock.after(ms * 100, action) }; // nor does its time pass
    const sleeper = await replica({ wrapLock: sleepy, clock });
    await until('it has the lock', () => slept);
    const other = await replica();
    await until('the other leads', () => other.leading);
    await other.stop();
    wake();
    await until('the sleeper has tried', async () => (await sleeper.backend.lease.readEpoch()).epoch > 0);
    await leases(1);
    expect(sleeper.terms.map(({ epoch }) => epoch)).not.toContain(1);
    expect(terms().map(({ epoch }) => epoch)).toEqual([...new Set(terms().map(({ epoch }) => epoch))]);
  });
});
