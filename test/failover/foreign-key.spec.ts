import { RedisServer } from '../chaos/leader/redis-server';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { describeWithRedis } from '../support/redis';
import { until } from '../support/until';

interface Check {
  readonly check: string;
  readonly findings: readonly { readonly what: string; readonly advice: string }[];
}

describeWithRedis('two replicas whose key in Redis somebody else holds for ever', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  const replicas: ProcessPlane[] = [];

  beforeAll(async () => {
    [database, redis] = await Promise.all([createMigratedDatabase(), RedisServer.start()]);
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, CAUSEWAY_LEADER_LEASE: '2s' };
    replicas.push(await ProcessPlane.start('zone', 'east', env));
    replicas.push(await ProcessPlane.start('zone', 'east', env));
  });
  afterAll(async () => {
    await Promise.all(replicas.map((one) => one.stop()));
    await redis.kill();
    await database.drop();
  });

  const metrics = (name: string): Promise<readonly (number | undefined)[]> =>
    Promise.all(replicas.map((one) => one.metric(name)));
  const leaders = async (): Promise<number> => (await metrics('causeway_leader')).filter((leads) => leads === 1).length;

  /** Returns the doctor's findings of a replica about the leader. */
  async function leaderFindings(replica: ProcessPlane): Promise<readonly string[]> {
    const { checks } = JSON.parse(await replica.text('/_doctor')) as { readonly checks: readonly Check[] };
    const findings = checks.find(({ check }) => check === 'leader')?.findings ?? [];
    return findings.map(({ what, advice }) => `${what} => ${advice}`);
  }

  it('have a leader all the same, and doctor, metric and log of each say why, until the key is free again', async () => {
    await until('one leads', async () => (await leaders()) === 1);
    const [key] = (await redis.ask(['KEYS', 'causeway:leader:*'])) as string[];
    if (key === undefined) throw new Error('nobody has the lock');
    expect([await metrics('causeway_leader_redis_witness'), await Promise.all(replicas.map(leaderFindings))]).toEqual([
      [1, 1],
      [[], []],
    ]);

    await redis.ask(['SET', key, 'foreign']);
    await until('both know that Redis counts no more', async () =>
      (await metrics('causeway_leader_redis_witness')).every((counts) => counts === 0),
    );
    await until('one leads', async () => (await leaders()) === 1);
    expect(await redis.ask(['GET', key])).toBe('foreign');
    for (const replica of replicas) {
      expect(await leaderFindings(replica)).toEqual([
        `a process that does not lead held ${key} in Redis: the lease in Postgres alone decides who leads, and replicas of earlier ` +
          `versions do not lead => see who holds it, and free it: redis-cli GET ${key}, redis-cli DEL ${key}; Redis counts ` +
          'again 6 s after the leader has it. To do without Redis: CAUSEWAY_LEADER_BACKEND=postgres',
      ]);
      await until('its log says so', () =>
        replica.lastLines.some((line) => line.includes('the leader lock is no longer used for the election')),
      );
    }

    await redis.ask(['DEL', key]);
    await until('Redis counts again', async () =>
      (await metrics('causeway_leader_redis_witness')).every((counts) => counts === 1),
    );
    expect(await leaders()).toBe(1);
    for (const replica of replicas) expect(await leaderFindings(replica)).toEqual([]);
  });
});
