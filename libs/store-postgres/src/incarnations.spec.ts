import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { followStore, ResourceIndex } from '@causeway/store';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put, WatchReader, write } from '@causeway/store/testing';
import type { PostgresBackend, PostgresOptions } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

describe('incarnations of a store (docs/design.md §2.7)', () => {
  let database: TestDatabase;
  const open: PostgresBackend[] = [];

  /** A backend that is closed after the test, also when that fails. */
  async function start(options: PostgresOptions): Promise<PostgresBackend> {
    const backend = await createPostgresBackend(options);
    open.push(backend);
    return backend;
  }
  const more: TestDatabase[] = [];

  beforeEach(async () => void (database = await createTestDatabase()));
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    await Promise.all([database, ...more.splice(0)].map((one) => one.drop()));
  });

  async function admin(statement: string, url = database.url): Promise<void> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(statement);
    await client.end();
  }

  it('stay the same through restarts', async () => {
    const first = await start({ url: database.url });
    await write(first.store, put(freshId()));
    const head = await first.store.head();
    await first.close();
    const second = await start({ url: database.url });
    expect(await second.store.head()).toEqual(head);
    await second.close();
  });

  it('are identified by the server, its timeline and the database', async () => {
    await (await start({ url: database.url })).store.head();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ server: string; system: string; timeline: number; oid: string }>(`
      SELECT server, (SELECT system_identifier::text FROM pg_control_system()) AS system,
        (SELECT timeline_id FROM pg_control_checkpoint()) AS timeline,
        (SELECT oid::text FROM pg_database WHERE datname = current_database()) AS oid FROM store_head`);
    await client.end();
    const wanted = rows.map((row) => [row.system, row.timeline.toString(16).padStart(8, '0'), row.oid].join('/'));
    expect(rows.map(({ server }) => server)).toEqual(wanted);
    expect(rows).toHaveLength(1);
  });

  it('begin anew in a copy of the database, as a restored backup is one', async () => {
    const first = await start({ url: database.url });
    const id = freshId();
    await write(first.store, put(id));
    const old = await first.store.head();
    await first.close();
    const name = new URL(database.url).pathname.slice(1);
    const copy = await copyOf(database.url, name);
    more.push(copy);

    const restored = await start({ url: copy.url });
    const head = await restored.store.head();
    expect(head.incarnation).not.toBe(old.incarnation);
    expect(head.revision).toBeGreaterThan(old.revision);
    expect((await restored.store.get(id))?.origin.incarnation).toBe(head.incarnation);
    await expect(new WatchReader(restored.store, old).next()).rejects.toThrow('new incarnation');
    await restored.close();
    const again = await start({ url: copy.url });
    expect((await again.store.head()).incarnation).toBe(head.incarnation);
    await again.close();
  });

  it('begin anew in the same database where the tables were made anew, as `pg_restore --clean` does', async () => {
    const first = await start({ url: database.url });
    await write(first.store, put(freshId()));
    const old = await first.store.head();
    await first.close();
    await admin(`ALTER TABLE store_head RENAME TO before`);
    await admin(`CREATE TABLE store_head (LIKE before INCLUDING ALL)`);
    await admin(`INSERT INTO store_head SELECT * FROM before`);
    await admin(`DROP TABLE before`);
    const restored = await start({ url: database.url });
    const head = await restored.store.head();
    expect(head.incarnation).not.toBe(old.incarnation);
    expect(head.revision).toBeGreaterThan(old.revision);
    await restored.close();
    const again = await start({ url: database.url });
    expect(await again.store.head()).toEqual(head);
  });

  it('begin anew when a standby took over, for a process that runs: its index reloads', async () => {
    const backend = await start({ url: database.url, pollEvery: 20 });
    const [index, stop] = [new ResourceIndex(), new AbortController()];
    const following = followStore(backend.store, index, {
      clock: systemClock,
      logger: silentLogger,
      signal: stop.signal,
    });
    await write(backend.store, put(freshId()));
    const old = await backend.store.head();
    await index.reached(old);
    let reloads = 0;
    index.subscribe(({ reloaded }) => void (reloads += Number(reloaded)));
    // A process sees two signs of a fail-over: another timeline, and every connection gone.
    await admin(`UPDATE store_head SET server = 'another server'`);
    await admin(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    while (index.point?.incarnation === old.incarnation) await new Promise((resolve) => setImmediate(resolve));
    expect(reloads).toBe(1);
    const [result] = await write(backend.store, put(freshId()));
    expect(result?.type).toBe('written');
    await index.reached(await backend.store.head());
    stop.abort();
    await following;
    await backend.close();
  });

  it('purge tombstones by the clock of the database', async () => {
    const backend = await start({ url: database.url, clock: new FakeClock(0) });
    const id = freshId();
    await write(backend.store, put(id));
    await write(backend.store, { type: 'delete', id, expect: 'any' });
    expect(await backend.store.purgeTombstones(3_600_000)).toBe(0);
    await admin('UPDATE resources SET deleted_at = deleted_at - 3600001');
    expect(await backend.store.purgeTombstones(3_600_000)).toBe(1);
    await backend.close();
  });
});

async function copyOf(url: string, name: string): Promise<TestDatabase> {
  const copy = await createTestDatabase();
  await copy.drop();
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = new Client({ connectionString: server.href });
  await client.connect();
  const copyName = new URL(copy.url).pathname.slice(1);
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  await client.query(`CREATE DATABASE ${copyName} TEMPLATE ${name}`);
  await client.end();
  return copy;
}
