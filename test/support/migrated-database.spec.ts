import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createMigratedDatabase } from './migrated-database';
import { createTestDatabase, rowsOf } from './postgres';

/** The rows that every new store has, without random values. */
const FIRST_ROWS = `
  SELECT (SELECT jsonb_agg(name ORDER BY timestamp) FROM migrations) AS steps,
    (SELECT to_jsonb(h) - '{incarnation,relation,server}'::text[] FROM store_head h) AS head,
    (SELECT jsonb_agg(to_jsonb(n) - 'value') FROM notes n) AS notes`;
const DRAWN = `SELECT (SELECT incarnation FROM store_head) AS incarnation, (SELECT key FROM point_key) AS key, (SELECT value FROM notes) AS store`;

it('a migrated database is one in which a store begins as in an empty one, with an identity of its own', async () => {
  const databases = await Promise.all([createMigratedDatabase(), createMigratedDatabase(), createTestDatabase()]);
  const urls = databases.map(({ url }) => url);
  const drawn = await Promise.all(urls.slice(0, 2).map((url) => rowsOf<Record<string, unknown>>(url, DRAWN)));
  for (const url of urls) await (await createPostgresBackend({ url })).close();
  const [copied, other, empty] = await Promise.all(urls.map((url) => rowsOf(url, FIRST_ROWS)));
  expect(copied).toEqual(empty);
  expect(other).toEqual(empty);
  const kept = await Promise.all(urls.map((url) => rowsOf<Record<string, unknown>>(url, DRAWN)));
  // No new incarnation began where the first one connected.
  expect(kept.slice(0, 2)).toEqual(drawn);
  for (const name of ['incarnation', 'key', 'store'])
    expect(new Set(kept.map(([row]) => JSON.stringify(row?.[name]))).size).toBe(urls.length);
  await Promise.all(databases.map((database) => database.drop()));
});
