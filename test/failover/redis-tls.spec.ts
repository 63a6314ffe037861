import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { RedisTls } from '../chaos/leader/redis-server';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane, type PlaneEnvironment } from '../support/process-plane';
import { describeWithRedis } from '../support/redis';
import { TestAuthority } from '../support/test-authority';
import { until } from '../support/until';
import { RedisCluster } from './redis-cluster';
import { RedisSentinels } from './redis-sentinels';

describeWithRedis(
  'the lock where Redis has several servers that take TLS only (docs/guides/high-availability.md)',
  () => {
    let folder: string;
    let tls: RedisTls;
    let database: TestDatabase;
    let zone: ProcessPlane | undefined;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'causeway-redis-tls-'));
      const authority = await TestAuthority.create('authority of Redis');
      const { chain, key } = await authority.issue({ ip: '127.0.0.1' });
      const [certificateFile, keyFile, authorityFile] = ['server.pem', 'server.key', 'ca.pem'].map((name) =>
        join(folder, name),
      ) as [string, string, string];
      await Promise.all([
        writeFile(certificateFile, chain),
        writeFile(keyFile, key),
        writeFile(authorityFile, authority.certificate),
      ]);
      tls = { certificateFile, keyFile, authorityFile, authority: authority.certificate };
      database = await createMigratedDatabase();
    });
    afterEach(() => zone?.stop());
    afterAll(async () => {
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    });

    async function start(redis: string, env: PlaneEnvironment): Promise<ProcessPlane> {
      const own = { DATABASE_URL: database.url, REDIS_URL: redis, CAUSEWAY_LEADER_LEASE: '4s' };
      return (zone = await ProcessPlane.start('zone', 'east', { ...own, ...env }));
    }
    const trusting = (): PlaneEnvironment => ({ NODE_EXTRA_CA_CERTS: tls.authorityFile });
    const leads = async (of: ProcessPlane): Promise<boolean> => (await of.metric('causeway_leader')) === 1;
    const seesLock = async (of: ProcessPlane): Promise<boolean> =>
      (await of.metric('causeway_leader_redis_connected')) === 1;
    async function lockKey(): Promise<string> {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      const { rows } = await client.query<{ id: string }>(
        `SELECT value->>'storeId' AS id FROM notes WHERE value->>'storeId' <> ''`,
      );
      await client.end();
      return `causeway:leader:${rows[0]?.id}`;
    }

    it('is kept with the server that Sentinels name, before and after it dies', async () => {
      const redis = await RedisSentinels.start(tls);
      try {
        const east = await start(redis.url, trusting());
        await until('it leads', () => leads(east));
        const key = await lockKey();
        const lockAt = (port: number): Promise<unknown> => redis.valueOf(port, key);
        const holder = await until('the lock is there', async () => (await lockAt(await redis.masterPort())) ?? false);
        const master = await redis.master();
        await master.kill();
        await until('the Sentinels name the replica', async () => (await redis.masterPort()) !== master.port);
        const now = await redis.masterPort();
        await until('it sees the lock again', () => seesLock(east));
        await until('the lock is there', async () => (await lockAt(now)) === holder);
      } finally {
        await redis.stop();
      }
    });

    describe('in a cluster', () => {
      let redis: RedisCluster;
      beforeAll(async () => {
        redis = await RedisCluster.start(tls);
      });
      afterAll(() => redis?.stop());

      it('is kept with the node that has its slot', async () => {
        const east = await start(redis.url, trusting());
        await until('it leads', () => leads(east));
        const key = await lockKey();
        const owner = await redis.ownerOf(key);
        await until('the lock is there', async () => typeof (await redis.ask(owner, ['GET', key])) === 'string');
      });

      it('is done without, and the log says why, where nobody trusts who signed their certificates', async () => {
        const east = await start(redis.url, {});
        await until('it leads', () => leads(east));
        expect(await seesLock(east)).toBe(false);
        const said = east.lastLines.find((line) => line.includes('"msg":"Redis is away"'));
        expect(said).toContain('self-signed certificate in certificate chain');
      });
    });
  },
);
