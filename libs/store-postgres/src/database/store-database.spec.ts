import { inspect } from 'node:util';
import { Client, DatabaseError } from 'pg';
import { Unavailable } from '@causeway/resources';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { createPostgresBackend } from '../../testing/connected-backend';
import { NoteRow } from './entities';
import { databaseServers } from '../servers/server-urls';
import { queryOn, StoreDatabase } from './store-database';

it('outlives a connection that the server ends while it is lent and no statement runs on it', async () => {
  const database = await createTestDatabase();
  await (await createPostgresBackend({ url: database.url })).close();
  const pool = new StoreDatabase({
    servers: databaseServers(database.url),
    size: 1,
    statementTimeout: 5_000,
    applicationName: 'test',
  });
  await pool.connect();
  const server = new Client({ connectionString: database.url });
  await server.connect();

  const work = pool.connected(async (client) => {
    const [row] = await queryOn<{ pid: number }>(client, { text: 'SELECT pg_backend_pid() AS pid' });
    const ended = new Promise((resolve) => client.once('end', resolve));
    await server.query('SELECT pg_terminate_backend($1)', [row?.pid]);
    await ended;
    return queryOn(client, { text: 'SELECT 1' });
  });
  await expect(work).rejects.toThrow(Unavailable);
  expect(await pool.query({ text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);

  await pool.close();
  await server.end();
  await database.drop();
});

it('treats a database that accepts no connections as away', async () => {
  const database = await createTestDatabase();
  const elsewhere = new URL(database.url);
  const name = elsewhere.pathname.slice(1);
  elsewhere.pathname = '/postgres';
  const server = new Client({ connectionString: elsewhere.href });
  await server.connect();
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  const pool = new StoreDatabase({
    servers: databaseServers(database.url),
    size: 1,
    statementTimeout: 5_000,
    applicationName: 'test',
  });
  await expect(pool.connect()).rejects.toThrow(Unavailable);

  await pool.close();
  await server.end();
  await database.drop();
});

describe('a failing statement', () => {
  const SECRET = 'a value that no log may show';
  let database: TestDatabase;
  let store: StoreDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await (await createPostgresBackend({ url: database.url })).close();
    store = new StoreDatabase({
      servers: databaseServers(database.url),
      size: 1,
      statementTimeout: 500,
      applicationName: 'test',
    });
    await store.connect();
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  it('of a repository is thrown as the error of the driver, without its parameters', async () => {
    const failure: unknown = await store
      .find(NoteRow, (rows) => rows.createQueryBuilder().where('value = :secret', { secret: SECRET }).getMany())
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain(`[ '${SECRET}'`);
    expect(failure).not.toHaveProperty('parameters');
  });

  it('that takes too long is Unavailable, by a repository too, and its connection is replaced', async () => {
    const slow = store.find(NoteRow, (rows) => rows.query('SELECT pg_sleep(30)'));
    await expect(slow).rejects.toThrow('the database cannot serve now: canceling statement due to statement timeout');
    expect(await store.find(NoteRow, (rows) => rows.countBy({ area: 'identity' }))).toBe(1);
    expect(store.usage()).toEqual({ open: 1, idle: 1, waiting: 0 });
  });
});

it('ends after the statements under way, and refuses later ones', async () => {
  const database = await createTestDatabase();
  await (await createPostgresBackend({ url: database.url })).close();
  const store = new StoreDatabase({
    servers: databaseServers(database.url),
    size: 2,
    statementTimeout: 5_000,
    applicationName: 'test',
  });
  await store.connect();
  const underWay = store.query({ text: 'SELECT pg_sleep(0.3), 1 AS one' });
  const closed = store.close();
  await expect(store.query({ text: 'SELECT 1' })).rejects.toThrow(Unavailable);
  expect(await underWay).toMatchObject([{ one: 1 }]);
  await closed;
  await database.drop();
});
