import { Unavailable } from '@causeway/resources';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put, WatchReader, write } from '@causeway/store/testing';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';
import { WRITE_STATEMENT, writeCall } from './write/write-request';

/** A writer that can be stopped between its steps, as no process of ours can: a transaction of several statements. */
async function slowWriter(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('BEGIN');
  return client;
}

async function callWrite(client: Client, ...changes: Parameters<typeof write>[1][]): Promise<number> {
  const { values } = writeCall({ changes, onRefusal: 'abort' });
  const { rows } = await client.query<{ head_revision: string }>(WRITE_STATEMENT, [...values]);
  return Number(rows[0]?.head_revision);
}

describe('the order of commits (docs/design.md §2.2)', () => {
  let database: TestDatabase;
  let backend: PostgresBackend;

  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url, statementTimeout: 1_000 });
  });
  afterAll(async () => {
    await backend.close();
    await database.drop();
  });

  it('is the order of the revisions: a writer that draws first and commits late is neither overtaken nor skipped', async () => {
    const { store } = backend;
    const [slow, quick] = [freshId(), freshId()];
    const since = await store.head();
    const writer = await slowWriter(database.url);
    const drawn = await callWrite(writer, put(slow));
    expect(drawn).toBe(since.revision + 1);

    const watching = new WatchReader(store, since);
    const waiting = write(store, put(quick)); // wants the next number, and has to wait for it
    const blocked = new Client({ connectionString: database.url });
    await blocked.connect();
    await until(async () => {
      const text = `SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%causeway_write%'`;
      return (await blocked.query<{ n: number }>(text)).rows[0]?.n === 1;
    });
    expect(await store.head()).toEqual(since);
    expect((await store.snapshot()).point).toEqual(since);
    await writer.query('COMMIT');
    const [result] = await waiting;
    expect(result).toMatchObject({ revision: drawn + 1 });
    await watching.reach(drawn + 1);
    expect(watching.names()).toEqual([slow.name, quick.name]);
    await watching.close();
    await Promise.all([writer.end(), blocked.end()]);
  });

  it('has no hole where a writer gave up', async () => {
    const { store } = backend;
    const since = await store.head();
    const writer = await slowWriter(database.url);
    const drawn = await callWrite(writer, put(freshId()));
    await writer.query('ROLLBACK');
    const [result] = await write(store, put(freshId()));
    expect(result).toMatchObject({ revision: drawn });
    expect(drawn).toBe(since.revision + 1);
    await writer.end();
  });

  it('makes no writer wait for ever where another client holds the head', async () => {
    const writer = await slowWriter(database.url);
    await writer.query('SELECT * FROM store_head FOR UPDATE');
    const refused: unknown = await write(backend.store, put(freshId())).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Unavailable);
    expect(String(refused)).toContain('statement timeout');
    await writer.end();
    await write(backend.store, put(freshId()));
  });

  it('I8: an epoch begins only when the writes of the one before have ended', async () => {
    const { lease } = backend;
    const first = await lease.takeOver(0, 'a', 1);
    expect(first).toBe(1);
    const writer = await slowWriter(database.url);
    const { values } = writeCall({ changes: [put(freshId())], onRefusal: 'abort', fence: { epoch: 1, holder: 'a' } });
    await writer.query(WRITE_STATEMENT, [...values]);
    let begun = false;
    const taking = until(async () => (await lease.takeOver(1, 'b', 60_000)) === 2).then(() => (begun = true));
    await until(async () => (await lease.readEpoch()).remaining === 0);
    expect((await lease.readEpoch()).epoch).toBe(1);
    expect(begun).toBe(false);
    await writer.query('COMMIT');
    await taking;
    const late = await slowWriter(database.url);
    const { rows } = await late.query<{ fenced: string }>(WRITE_STATEMENT, [...values]);
    expect(rows[0]?.fenced).toBe('leader');
    await Promise.all([writer.end(), late.end()]);
  });
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}
