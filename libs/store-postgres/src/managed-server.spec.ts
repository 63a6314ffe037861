import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { until } from '../../../test/support/until';
import { freshId, put, WatchReader } from '@causeway/store/testing';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

const NEVER = 3_600_000;

describe('a server as providers run it: no superuser, idle connections are ended', () => {
  const role = `managed_${randomBytes(6).toString('hex')}`;
  let database: TestDatabase;
  let admin: Client;
  let url: string;
  const open: PostgresBackend[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret' NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION`);
    await admin.query(`ALTER ROLE ${role} SET idle_session_timeout = '100ms'`);
    const at = new URL(database.url);
    await admin.query(`ALTER DATABASE ${at.pathname.slice(1)} OWNER TO ${role}`);
    at.username = role;
    at.password = 'secret';
    url = at.href;
  });
  afterAll(async () => {
    await Promise.all(open.map((one) => one.close()));
    await admin.end();
    await database.drop();
    const server = new Client({ connectionString: process.env['CAUSEWAY_TEST_DATABASE_URL'] });
    await server.connect();
    await server.query(`DROP ROLE ${role}`);
    await server.end();
  });

  async function backend(): Promise<PostgresBackend> {
    const one = await createPostgresBackend({ url, pollEvery: NEVER });
    open.push(one);
    return one;
  }

  async function connections(): Promise<readonly number[]> {
    const { rows } = await admin.query<{ pid: number }>('SELECT pid FROM pg_stat_activity WHERE usename = $1', [role]);
    return rows.map(({ pid }) => pid);
  }

  it('migrates, and loses no write and no change of a watch', async () => {
    const [near, far] = [await backend(), await backend()];
    const { rows } = await admin.query<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_roles WHERE rolname = $1', [
      role,
    ]);
    expect(rows).toEqual([{ rolsuper: false }]);
    const watching = new WatchReader(near.store, await near.store.head());
    const ids = Array.from({ length: 5 }, () => freshId());
    for (const id of ids) {
      const before = await connections();
      await until('the server has ended each connection', async () => {
        const now = await connections();
        return before.every((pid) => !now.includes(pid));
      });
      const change = put(id);
      await until('a write succeeds', () =>
        far.store.write({ changes: [change], onRefusal: 'abort' }).then(
          () => true,
          () => false,
        ),
      );
    }
    await watching.reach((await far.store.head()).revision);
    expect(watching.names().sort()).toEqual(ids.map(({ name }) => name).sort());
    expect(near.status().listenerConnections).toBeGreaterThan(1);
    await watching.close();
  });

  it('hands the lease on', async () => {
    const { lease } = await backend();
    const { epoch } = await lease.readEpoch();
    const begun = await lease.takeOver(epoch, 'replica', 10_000);
    expect(begun).toBe(epoch + 1);
  });
});
