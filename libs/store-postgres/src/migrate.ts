import { Unavailable } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import { Client } from 'pg';
import { storeDataSource } from './data-source';

/** Any number that nothing else in the database locks. */
const LOCK = 7_305_112;

export interface MigrateOptions {
  readonly url: string;
  readonly logger: Logger;
  /** Work on a database that a later version has migrated, as during a rolling update. */
  readonly tolerateNewer: boolean;
}

/**
 * Brings the schema up to date. Of several replicas that start at once one does it and the others wait. Throws
 * Unavailable where the database has steps that this program does not know, unless that is tolerated.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const client = new Client({ connectionString: options.url, application_name: 'causeway migrations' });
  client.on('error', () => undefined); // the next statement tells
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]); // let go with the connection
    await runSteps(options, client);
  } finally {
    await client.end();
  }
}

async function runSteps({ url, logger, tolerateNewer }: MigrateOptions, client: Client): Promise<void> {
  const source = storeDataSource(url);
  await source.initialize();
  try {
    const unknown = await unknownSteps(client, new Set(source.migrations.map((step) => step.name ?? '')));
    if (unknown.length > 0) {
      const line = `the database was migrated by a later version of this program (${unknown.join(', ')})`;
      if (!tolerateNewer) throw new Unavailable(`${line}; update the program`);
      logger.warn(`${line}; going on as told`);
      return;
    }
    const done = await source.runMigrations({ transaction: 'each' });
    if (done.length > 0) logger.info('database migrated', { steps: done.map((step) => step.name).join(', ') });
  } finally {
    await source.destroy();
  }
}

async function unknownSteps(client: Client, known: ReadonlySet<string>): Promise<string[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS there`,
  );
  if (!tables[0]?.there) return [];
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  return rows.map((row) => row.name).filter((name) => !known.has(name));
}
