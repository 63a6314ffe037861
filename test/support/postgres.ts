import { randomBytes } from 'node:crypto';
import { Client, type QueryResultRow } from 'pg';

/** An empty database of one test. `drop` also ends connections to it that the test left open. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates a database on the Postgres that the test run brought (`CAUSEWAY_TEST_DATABASE_URL`, a superuser's URL), empty
 * or as a copy of another to which nobody is connected. Whoever creates one drops it.
 */
export async function createTestDatabase(copied?: TestDatabase): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const template = copied ? ` TEMPLATE ${new URL(copied.url).pathname.slice(1)}` : '';
  await onServer(`CREATE DATABASE ${name}${template}`);
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

export function serverUrl(): string {
  const url = process.env['CAUSEWAY_TEST_DATABASE_URL'];
  if (url === undefined) throw new Error('CAUSEWAY_TEST_DATABASE_URL is not set: tools/jest-global-setup.js sets it');
  return url;
}

async function onServer(statement: string): Promise<void> {
  await rowsOf(serverUrl(), statement);
}

/** Returns the rows of one statement, on a new connection. */
export async function rowsOf<Row extends QueryResultRow>(url: string, statement: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined); // the statement fails
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
