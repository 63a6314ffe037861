import { migrations } from '@causeway/migrations';
import { Unavailable } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import { Client } from 'pg';
import { CONNECT_TIMEOUT, storeDataSource } from './data-source';

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
  const client = new Client({
    connectionString: options.url,
    application_name: 'causeway migrations',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true, // it may wait for another replica for as long as a step takes
  });
  client.on('error', () => undefined); // the next statement tells
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]); // let go with the connection
    await runSteps(options, client);
    await warnOfLoss(options, client);
  } finally {
    await client.end();
  }
}

async function runSteps({ url, logger, tolerateNewer }: MigrateOptions, client: Client): Promise<void> {
  const known = migrations.map((Step): string => new Step().name);
  const done = await stepsDone(client);
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const line = `the database was migrated by a later version of this program (${unknown.join(', ')})`;
    if (!tolerateNewer) throw new Unavailable(`${line}; update the program`);
    return logger.warn(`${line}; going on as told`);
  }
  if (known.some((name) => !done.includes(name))) await runMissing(url, logger);
}

/** What was answered with success must stand (I9): a server may be told otherwise, and then only its operator knows. */
async function warnOfLoss({ logger }: MigrateOptions, client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name`,
  );
  if (rows.length === 0) return;
  const settings = rows.map(({ name }) => `${name} = off`).join(', ');
  logger.warn('a crash of this Postgres loses writes that were answered with success', { settings });
}

async function runMissing(url: string, logger: Logger): Promise<void> {
  const source = await (await storeDataSource(url)).initialize();
  try {
    const steps = await source.runMigrations({ transaction: 'each' });
    logger.info('database migrated', { steps: steps.map((step) => step.name).join(', ') });
  } finally {
    await source.destroy();
  }
}

/** Names of the steps that were made in this database. */
async function stepsDone(client: Client): Promise<readonly string[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS there`,
  );
  if (!tables[0]?.there) return [];
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  return rows.map((row) => row.name);
}
