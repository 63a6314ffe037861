import type { Identity } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, freshVip, put } from '@causeway/store/testing';
import { createPostgresBackend } from '../testing/connected-backend';
import { bindValues, writeCall } from './write/write-request';

const ROWS = 2_000;
const CHANGED = 100;
/** Rows that this connection has read, by index or in one sweep, as far as it has not reported them to the server yet. */
const READ = `SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'resources'`;

describe('a write', () => {
  let database: TestDatabase;
  let client: Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    await (await createPostgresBackend({ url: database.url })).close();
    client = new Client({ connectionString: database.url });
    await client.connect();
    // Only the test gives the planner statistics of the table.
    await client.query('ALTER TABLE resources SET (autovacuum_enabled = off)');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  function write(changes: readonly Change[]): Promise<unknown> {
    const { name, text, values } = writeCall({ changes, onRefusal: 'skip' });
    return client.query({ name, text, values: [...values] });
  }

  function give(ids: readonly Identity[]): Promise<unknown> {
    return write(ids.map((id) => ({ type: 'patch', id, expect: 'any', vip: freshVip() })));
  }

  async function rowsRead(): Promise<number> {
    const { rows } = await client.query<{ read: string }>(READ);
    return Number(rows[0]?.read);
  }

  it('reads the rows that it is about, by plans that were made while the table was empty', async () => {
    const ids = Array.from({ length: ROWS }, () => freshId());
    await give(ids.slice(0, 1)); // refused, and planned for good
    await write(ids.map((id) => put(id)));
    await give(ids);
    await client.query('BEGIN');
    const before = await rowsRead();
    await give(ids.slice(0, CHANGED));
    const read = (await rowsRead()) - before;
    await client.query('COMMIT');
    // Each row is read twice: once by the lookup, once by the update.
    expect(read).toBe(CHANGED * 2);
  });

  it('that was decided from an older revision reads what changed since, and nothing else', async () => {
    await write(Array.from({ length: ROWS }, () => put(freshId())));
    const { rows } = await client.query<{ revision: string }>('SELECT revision FROM store_head');
    const revision = Number(rows[0]?.revision) - CHANGED;
    const call = writeCall({ changes: [put(freshId())], onRefusal: 'skip', unchanged: { revision, kinds: ['Mesh'] } });
    await client.query('BEGIN');
    const before = await rowsRead();
    await client.query({ name: call.name, text: call.text, values: [...bindValues(call, undefined)] });
    const read = (await rowsRead()) - before;
    await client.query('COMMIT');
    expect(read).toBe(CHANGED);
  });
});
