import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put, write } from '@causeway/store/testing';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

describe('an address in the table itself (docs/design.md §2.6)', () => {
  let database: TestDatabase;
  let backend: PostgresBackend;
  let client: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url });
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await backend.close();
    await database.drop();
  });

  function give(address: string, name: string): Promise<unknown> {
    return client.query('UPDATE resources SET vip = $1 WHERE name = $2', [address, name]);
  }

  it('I1: is unique among living rows, whatever statement a bug may run beside causeway_write', async () => {
    const [first, second] = [freshId(), freshId()];
    await write(backend.store, put(first), put(second));
    await give('241.0.0.1', first.name);
    await expect(give('241.0.0.1', second.name)).rejects.toThrow('resources_vip');
    await write(backend.store, { type: 'delete', id: first, expect: 'any' });
    await expect(give('241.0.0.1', second.name)).resolves.toMatchObject({ rowCount: 1 });
  });
});
