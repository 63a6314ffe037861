import { migrations, neededStep, stepNumber, unreleasedMigrations } from '@causeway/migrations';
import type { Logger } from '@causeway/runtime';
import pg, { type Client } from 'pg';
import { DataSource } from 'typeorm';
import type { DatabaseServers } from '../servers/database-servers';
import { databaseFailure } from './database-failure';
import { DatabaseRefused } from './ready-database';

/** Key of the advisory lock that a start holds while it migrates; any number that nothing else in the database locks. */
export const MIGRATION_LOCK = 7_305_112;

/** Connection timeout of migrations, ms. A migration itself may take as long as it needs. */
const CONNECT_TIMEOUT = 5_000;

export interface MigrateOptions {
  readonly servers: DatabaseServers;
  readonly logger: Logger;
  /** Whether to work on a database that a later version has migrated, as during a rolling update. */
  readonly tolerateNewer: boolean;
}

/**
 * Brings the schema up to date. Of several replicas that start at once one migrates and the others wait. Throws
 * DatabaseRefused where a version later than the next one has migrated the database, unless that is tolerated, and where an
 * unreleased version made it.
 */
export async function migrate(options: MigrateOptions): Promise<void> {
  const client = options.servers.client({
    application_name: 'causeway migrations',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true, // it may wait for another replica for as long as a migration takes
  });
  client.on('error', () => undefined); // the next statement fails
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]); // released with the connection
    await runMigrations(options, client);
    await warnOfLoss(options, client);
  } finally {
    await client.end();
  }
}

/** A DataSource of one migration run; not connected yet. */
export function migrationSource(servers: DatabaseServers): DataSource {
  return new DataSource({
    type: 'postgres',
    driver: pg,
    url: servers.url,
    migrations,
    migrationsTableName: 'migrations',
    applicationName: 'causeway migrations',
    poolSize: 2,
    connectTimeoutMS: CONNECT_TIMEOUT,
    installExtensions: false,
    poolErrorHandler: () => undefined, // the next statement fails
    extra: { Client: servers.ClientClass },
  });
}

async function runMigrations({ servers, logger, tolerateNewer }: MigrateOptions, client: Client): Promise<void> {
  const known = migrations.map((Migration): string => new Migration().name ?? '');
  const executed = await executedMigrations(client);
  if (executed.some((name) => unreleasedMigrations.includes(name)))
    throw new DatabaseRefused(
      'an unreleased version of this program made the database, and its state cannot be carried over: use an empty ' +
        'database (`npm start -- --fresh` drops what the old one holds)',
    );
  const unknown = executed.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const line = `the database was migrated by a later version of this program (${unknown.join(', ')})`;
    const newest = Math.max(...known.map(stepNumber));
    // A rolling update or its rollback: the steps of the next version are compatible with this program.
    if (unknown.every((name) => (neededStep(name) ?? Infinity) <= newest))
      return logger.warn(`${line}; continuing, as it bears the version before it`);
    if (!tolerateNewer)
      throw new DatabaseRefused(`${line}, and not by the next one: update the program one version at a time`);
    return logger.warn(`${line}; continuing, as configured`);
  }
  if (known.some((name) => !executed.includes(name))) await runMissing(servers, logger);
}

/** An acknowledged write must survive (I9): a server may be configured to lose it, and only its operator can decide that. */
async function warnOfLoss({ logger }: MigrateOptions, client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name`,
  );
  if (rows.length === 0) return;
  const settings = rows.map(({ name }) => `${name} = off`).join(', ');
  logger.warn('a crash of this Postgres loses writes that were answered with success', { settings });
}

async function runMissing(servers: DatabaseServers, logger: Logger): Promise<void> {
  const source = migrationSource(servers);
  try {
    await source.initialize();
    const done = await source.runMigrations({ transaction: 'each' });
    logger.info('database migrated', { steps: done.map(({ name }) => name).join(', ') });
  } catch (error) {
    throw databaseFailure(error); // TypeORM's error holds the whole migration
  } finally {
    await source.driver.disconnect().catch(() => undefined);
  }
}

/** Names of the migrations that were run in this database. */
async function executedMigrations(client: Client): Promise<readonly string[]> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS there`,
  );
  if (!tables[0]?.there) return [];
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations ORDER BY timestamp');
  return rows.map((row) => row.name);
}
