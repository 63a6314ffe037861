import { Client } from 'pg';
import { Unavailable } from '@causeway/resources';
import { createTestDatabase } from '../../../../test/support/postgres';
import { createPostgresBackend } from '../postgres-backend';
import { PostgresPool, queryOn } from './postgres-pool';

it('outlives a connection that the server ends while it is lent and no statement runs on it', async () => {
  const database = await createTestDatabase();
  await (await createPostgresBackend({ url: database.url })).close();
  const pool = new PostgresPool({ url: database.url, size: 1, statementTimeout: 5_000, applicationName: 'test' });
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

it('takes a database that lets nobody in for one that is away', async () => {
  const database = await createTestDatabase();
  const elsewhere = new URL(database.url);
  const name = elsewhere.pathname.slice(1);
  elsewhere.pathname = '/postgres';
  const server = new Client({ connectionString: elsewhere.href });
  await server.connect();
  await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  const pool = new PostgresPool({ url: database.url, size: 1, statementTimeout: 5_000, applicationName: 'test' });
  await expect(pool.query({ text: 'SELECT 1' })).rejects.toThrow(Unavailable);

  await pool.close();
  await server.end();
  await database.drop();
});
