import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { PROGRAM_TREE } from './built-programs';
import { createTestDatabase, rowsOf, serverUrl, type TestDatabase } from './postgres';

const MIGRATIONS = join(__dirname, '..', '..', 'migrations');

/** Key of the advisory lock under which the template is made, on the database of the server's URL. */
const TEMPLATE_LOCK = 7_305_113;

/** Draws anew what a migration draws: no two stores have one identity. */
const DRAW_IDENTITY = `
  UPDATE store_head SET incarnation = gen_random_uuid();
  UPDATE point_key SET key = replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  UPDATE notes SET value = jsonb_build_object('storeId', gen_random_uuid()) WHERE area = 'identity' AND key = 'store'`;

let template: Promise<TestDatabase> | undefined;

/**
 * Creates a database with the schema of this version, in which no store has begun yet: a copy of one that is migrated once for all tests of the
 * server. A control plane starts on it as on an empty one, at two thirds of the cost. Whoever creates one drops it.
 */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  if (process.env[PROGRAM_TREE] !== undefined) return createTestDatabase(); // programs of another tree have steps of their own
  template ??= provideTemplate().catch((error: unknown) => {
    template = undefined; // the next one tries again
    throw error;
  });
  const database = await createTestDatabase(await template);
  await rowsOf(database.url, DRAW_IDENTITY);
  return database;
}

/** Returns the migrated database of this server, which stays there and takes no connections; the first to ask makes it. */
async function provideTemplate(): Promise<TestDatabase> {
  const name = `migrated_${hashSchema()}`;
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    // Imported on demand: the store of the programs and all of its imports.
    if (rows.length === 0) await (await import('./migrated-template.js')).makeTemplate(client, name);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => Promise.reject(new Error(`${name} is of all tests`)) };
}

function hashSchema(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(MIGRATIONS).sort())
    if (/^\d{4}-.*\.sql$/.test(file)) hash.update(readFileSync(join(MIGRATIONS, file)));
  return hash.digest('hex').slice(0, 12);
}
