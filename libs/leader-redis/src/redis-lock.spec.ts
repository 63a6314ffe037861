import { silentLogger } from '@causeway/runtime';
import { createClient } from '@redis/client';
import { describeWithRedis } from '../../../test/support/redis';
import { createRedisLock, type RedisLock } from './redis-lock';

describeWithRedis('the lock in Redis', (url) => {
  const key = `test:leader:${process.pid}`;
  const open: RedisLock[] = [];
  const raw = createClient({ url });

  async function lock(): Promise<RedisLock> {
    const one = createRedisLock({ url, key, logger: silentLogger });
    open.push(one);
    await eventually(() => one.connected());
    return one;
  }

  beforeAll(async () => void (await raw.connect()));
  afterEach(async () => {
    await raw.del(key);
    for (const one of open.splice(0)) one.close();
  });
  afterAll(() => raw.destroy());

  it('has one holder, also when many want it at once', async () => {
    const locks = await Promise.all(Array.from({ length: 5 }, lock));
    const got = await Promise.all(locks.map((one, n) => one.acquire(`holder-${n}`, 60_000)));
    expect(got.filter(Boolean)).toHaveLength(1);
    expect(await raw.get(key)).toBe(`holder-${got.indexOf(true)}`);
  });

  it('expires, and is renewed only by its holder', async () => {
    const one = await lock();
    expect(await one.acquire('a', 60_000)).toBe(true);
    expect(await one.acquire('a', 30_000)).toBe(true);
    expect(await raw.pTTL(key)).toBeLessThanOrEqual(30_000);
    expect(await one.renew('b', 60_000)).toBe(false);
    expect(await raw.pTTL(key)).toBeLessThanOrEqual(30_000);
    expect(await one.renew('a', 60_000)).toBe(true);
    expect(await raw.pTTL(key)).toBeGreaterThan(30_000);
    await one.acquire('a', 1);
    await eventually(async () => (await raw.exists(key)) === 0);
    expect(await one.acquire('b', 60_000)).toBe(true);
  });

  it('is released only by its holder', async () => {
    const one = await lock();
    await one.acquire('a', 60_000);
    await one.release('b');
    expect(await raw.get(key)).toBe('a');
    await one.release('a');
    expect(await raw.get(key)).toBeNull();
  });

  it('is taken again by its holder when Redis was wiped', async () => {
    const one = await lock();
    await one.acquire('a', 60_000);
    await raw.del(key);
    expect(await one.renew('a', 60_000)).toBe(true);
    expect(await raw.get(key)).toBe('a');
  });

  it('rejects at once while Redis is away', async () => {
    const nowhere = createRedisLock({ url: 'redis://127.0.0.1:1', key, logger: silentLogger });
    open.push(nowhere);
    await expect(nowhere.acquire('a', 1_000)).rejects.toThrow();
    expect(nowhere.connected()).toBe(false);
  });
});

async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}
