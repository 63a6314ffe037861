import { migrateDatabase } from '@causeway/store-postgres/testing';
import type { Client } from 'pg';
import { createTestDatabase } from './postgres';

/** Makes the database that others copy, under a temporary name first: a run that is aborted leaves no half of one. */
export async function makeTemplate(client: Client, name: string): Promise<void> {
  const made = await createTestDatabase();
  await migrateDatabase(made.url);
  const former = new URL(made.url).pathname.slice(1);
  await client.query(`ALTER DATABASE ${former} ALLOW_CONNECTIONS false`); // autovacuum would keep others from copying it
  await client.query(`ALTER DATABASE ${former} RENAME TO ${name}`);
}
