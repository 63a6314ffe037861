import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put, WatchReader, write } from '@causeway/store/testing';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

const NEVER = 3_600_000;

describe('a watch and its connections (docs/design.md §2.3)', () => {
  let database: TestDatabase;
  let admin: Client;
  const open: PostgresBackend[] = [];

  async function backend(pollEvery: number): Promise<PostgresBackend> {
    const one = await createPostgresBackend({ url: database.url, pollEvery });
    open.push(one);
    return one;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    admin = new Client({ connectionString: database.url });
    await admin.connect();
  });
  afterAll(async () => {
    await Promise.all(open.map((one) => one.close()));
    await admin.end();
    await database.drop();
  });

  /** Ends the backends behind an application name, as a failing server or network would. */
  async function terminate(application: string): Promise<number> {
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`,
      [application],
    );
    return rowCount ?? 0;
  }

  it('is woken by a notification of another process, without a poll', async () => {
    const [near, far] = [await backend(NEVER), await backend(NEVER)];
    await until(() => near.status().listening);
    const watching = new WatchReader(near.store, await near.store.head());
    const [first, second] = [freshId(), freshId()];
    await write(far.store, put(first));
    await watching.next();
    // The first may have been found on beginning; the second comes to a watch that waits.
    await write(far.store, put(second));
    await watching.next();
    expect(watching.names()).toEqual([first.name, second.name]);
    await watching.close();
  });

  it('yields the first batches of a large write of its own process while the others are being written', async () => {
    const near = await backend(NEVER);
    const last = freshId();
    await write(near.store, put(last));
    const since = await near.store.head();
    const watching = new WatchReader(near.store, since);
    await admin.query('BEGIN');
    await admin.query('SELECT * FROM resources WHERE name = $1 FOR UPDATE', [last.name]);
    const ids = Array.from({ length: 1_000 }, () => freshId());
    const changes = [...ids.map((id) => put(id)), put(last, { again: true })];
    const writing = near.store.write({ changes, onRefusal: 'skip' });
    await watching.reach(since.revision + ids.length);
    expect(watching.names().sort()).toEqual(ids.map(({ name }) => name).sort());
    await admin.query('COMMIT');
    await watching.reach((await writing).revision);
    expect(watching.names().at(-1)).toBe(last.name);
    await watching.close();
  });

  it('is not woken by notes, which are beside the log', async () => {
    const near = await backend(NEVER);
    const heard: (string | undefined)[] = [];
    const listener = new Client({ connectionString: database.url });
    await listener.connect();
    listener.on('notification', ({ payload }) => heard.push(payload));
    await listener.query('LISTEN causeway_log');
    const entry = { area: 'insights', key: 'east', value: { seen: 1 } };
    await near.store.write({ changes: [], metadata: [entry], onRefusal: 'abort' });
    await admin.query("NOTIFY causeway_log, 'afterwards'");
    await until(() => heard.includes('afterwards'));
    expect(heard).toEqual(['afterwards']);
    await listener.end();
  });

  it('loses nothing while its listening connection is ended in the middle, again and again', async () => {
    const [near, far] = [await backend(NEVER), await backend(NEVER)];
    const watching = new WatchReader(near.store, await near.store.head());
    const ids = Array.from({ length: 20 }, () => freshId());
    for (const [n, id] of ids.entries()) {
      if (n % 5 === 2) await terminate('causeway listener');
      await write(far.store, put(id));
    }
    await watching.reach((await far.store.head()).revision);
    expect(watching.names().sort()).toEqual(ids.map((id) => id.name).sort());
    await until(() => near.status().listening && near.status().listenerConnections > 1);
    await watching.close();
  });

  it('loses nothing when its reading connections are ended', async () => {
    const near = await backend(NEVER);
    const watching = new WatchReader(near.store, await near.store.head());
    const ids = Array.from({ length: 10 }, () => freshId());
    for (const id of ids) {
      await terminate('causeway');
      await until(
        async () =>
          (await near.store.write({ changes: [put(id)], onRefusal: 'abort' }).catch(() => undefined)) !== undefined,
      );
    }
    await watching.reach((await near.store.head()).revision);
    expect(watching.names().sort()).toEqual(ids.map((id) => id.name).sort());
    await watching.close();
  });

  it('finds changes without a notification by polling', async () => {
    const near = await backend(20);
    const far = await backend(NEVER);
    const id = freshId();
    const watching = new WatchReader(near.store, await near.store.head());
    // A notification is sent with the commit of its transaction; this one commits without.
    await write(far.store, put(id));
    await watching.next();
    const since = await near.store.head();
    const quiet = watching.next();
    await admin.query('BEGIN');
    await admin.query(
      `INSERT INTO resources SELECT kind, mesh, zone, namespace, 'unheard', 'u', labels, spec, status, generation,
      creation_order, created_at, modified_at, $1, origin_incarnation, $1, origin_committed_at, NULL, freed, NULL, NULL
      FROM resources WHERE name = $2`,
      [since.revision + 1, id.name],
    );
    await admin.query('UPDATE store_head SET revision = revision + 1');
    await admin.query('COMMIT');
    await quiet;
    expect(watching.names()).toEqual([id.name, 'unheard']);
    await watching.close();
  });

  it('reads in pages after a long absence', async () => {
    const near = await backend(NEVER);
    const since = await near.store.head();
    const ids = Array.from({ length: 12_000 }, () => freshId('Page'));
    await near.store.write({ changes: ids.map((id) => put(id)), onRefusal: 'skip' });
    const watching = new WatchReader(near.store, since);
    await watching.reach((await near.store.head()).revision);
    expect(watching.batches.length).toBeGreaterThan(2);
    expect(new Set(watching.names())).toEqual(new Set(ids.map((id) => id.name)));
    await watching.close();
  });

  it('opens no more connections than allowed', async () => {
    const near = await createPostgresBackend({ url: database.url, poolSize: 3 });
    open.push(near);
    await Promise.all(Array.from({ length: 40 }, () => write(near.store, put(freshId()), put(freshId()))));
    expect(near.status().open).toBe(3);
  });
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}
