import { createRedisLock } from '@causeway/leader-redis';
import type { RedisLock } from '@causeway/leader-redis/testing';
import { silentLogger } from '@causeway/runtime';
import { Fenced } from '@causeway/store';
import { Replica } from '../chaos/leader/replica';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { describeWithRedis } from '../support/redis';
import { until } from '../support/until';
import { putOf } from './followed-store';
import { RedisCluster } from './redis-cluster';
import { RedisSentinels } from './redis-sentinels';

/** Longer than any pause of a busy machine. */
const LEASE = 10_000;
/** The key of the lock of a `Replica`. */
const KEY = 'leader';

describeWithRedis('the lock where Redis has several servers (docs/design.md §3)', () => {
  let database: TestDatabase;
  const replicas: Replica[] = [];
  const locks: RedisLock[] = [];

  beforeAll(async () => void (database = await createMigratedDatabase()));
  afterEach(async () => {
    for (const one of locks.splice(0)) one.close();
    await Promise.all(replicas.splice(0).map((one) => one.close()));
  });
  afterAll(() => database.drop());

  async function start(redis: string): Promise<readonly [Replica, Replica]> {
    const two = [{}, {}].map(() => Replica.start({ database: database.url, redis, leaseMs: LEASE }));
    const [one, other] = await Promise.all(two);
    if (!one || !other) throw new Error('two were started');
    replicas.push(one, other);
    await until('both see the lock', () => one.seesLock && other.seesLock);
    return [one, other];
  }

  const leader = (): Promise<Replica> => until('one replica leads', () => replicas.find((one) => one.leading));
  const terms = (): number => replicas.reduce((sum, one) => sum + one.terms.length, 0);

  it('with Sentinels the term goes on while a replica of Redis is promoted, and the lock is there', async () => {
    const redis = await RedisSentinels.start();
    try {
      const [one, other] = await start(redis.url);
      const first = await leader();
      const master = await redis.master();
      await until('the lock is there', async () => (await redis.valueOf(master.port, KEY)) === first.holder);
      await master.kill();
      await until('the Sentinels name the replica', async () => (await redis.masterPort()) !== master.port);
      const now = await redis.masterPort();
      await until('both see the lock', () => one.seesLock && other.seesLock);
      await until('the leader has the lock there', async () => (await redis.valueOf(now, KEY)) === first.holder);
      expect([terms(), first.leading]).toEqual([1, true]);

      await master.start(); // the old one becomes a replica, and has no news
      const [term] = first.terms;
      await first.stop();
      const second = first === one ? other : one;
      await until('the other leads', () => second.leading);
      await until('it has the lock', async () => (await redis.valueOf(now, KEY)) === second.holder);
      const fence = { epoch: term?.epoch ?? 0, holder: first.holder };
      const late = second.backend.store.write({ changes: [putOf('late')], onRefusal: 'abort', fence });
      await expect(late).rejects.toBeInstanceOf(Fenced);
    } finally {
      await redis.stop();
    }
  });

  it('in a cluster the lease decides while the node of the lock is away, and the lock follows its slot', async () => {
    const redis = await RedisCluster.start();
    try {
      const [one, other] = await start(redis.url);
      const first = await leader();
      const owner = await redis.ownerOf(KEY);
      expect(await redis.ask(owner, ['GET', KEY])).toBe(first.holder);
      await owner.kill();
      await until('neither sees the lock', () => !one.seesLock && !other.seesLock);
      await first.stop();
      const second = first === one ? other : one;
      await until('the other leads', () => second.leading);
      await owner.start();
      await until(
        'it has the lock',
        async () => (await redis.ask(owner, ['GET', KEY]).catch(() => '')) === second.holder,
      );
      expect([terms(), second.leading]).toEqual([2, true]);
      await second.stop();

      const lock = createRedisLock({ url: redis.url, key: KEY, logger: silentLogger });
      const acquired = (): Promise<boolean> => lock.acquire('mover', 60_000).catch(() => false);
      locks.push(lock);
      await until('it has the lock', acquired);
      await lock.release('mover');
      const next = await redis.moveSlotOf(KEY);
      await until('it has the lock again', acquired);
      expect(await redis.ask(next, ['GET', KEY])).toBe('mover');
    } finally {
      await redis.stop();
    }
  });
});
