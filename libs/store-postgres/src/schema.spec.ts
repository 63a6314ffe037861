import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { storeEntities } from './database/entities';
import { migrationSource } from './database/migrate';
import { databaseServers } from './servers/server-urls';

const GOLDEN = join(__dirname, '../../../migrations/schema.sql');

/** Everything that the steps made, from the catalogue, as statements that would make it again. */
const DESCRIBE = `
SELECT 'CREATE TABLE ' || c.relname || E' (\\n' || string_agg('  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation = 'pg_catalog."C"'::regcollation THEN ' COLLATE "C"' ELSE '' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''), E',\\n' ORDER BY a.attnum) || E'\\n)'
    || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') || ';' AS text, 1 AS part, c.relname AS name
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'migrations' GROUP BY c.oid
UNION ALL
SELECT 'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) || ';', 2, conname
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' AND conrelid <> 'migrations'::regclass
UNION ALL
SELECT replace(indexdef, 'public.', '') || ';', 3, indexname FROM pg_indexes
  WHERE schemaname = 'public' AND tablename <> 'migrations'
    AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE connamespace = 'public'::regnamespace)
UNION ALL
SELECT 'CREATE TYPE ' || t.typname || ' AS (' || string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum) || ');', 4, t.typname
  FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c' JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE t.typnamespace = 'public'::regnamespace GROUP BY t.oid
UNION ALL
SELECT replace(pg_get_functiondef(oid), 'public.', '') || ';', 5, proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
ORDER BY part, name`;

describe('the schema', () => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await createTestDatabase()));
  afterAll(() => database.drop());

  it('is what migrations/schema.sql says, and what the entities say', async () => {
    const source = migrationSource(databaseServers(database.url)).setOptions({ entities: storeEntities });
    await source.initialize();
    await source.runMigrations({ transaction: 'each' });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ text: string }>(DESCRIBE);
    await client.end();
    const schema = `-- What the migrations make together. Refreshed by UPDATE_GOLDEN=1; do not edit.\n\n${rows.map((row) => row.text).join('\n\n')}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1' || !existsSync(GOLDEN)) writeFileSync(GOLDEN, schema);
    expect(schema).toBe(readFileSync(GOLDEN, 'utf8'));

    const { upQueries } = await source.driver.createSchemaBuilder().log();
    await source.destroy();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });
});
