import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { Client } from 'pg';
import { createTestDatabase } from '../../../../test/support/postgres';
import { bindIdentity } from './store-identity';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;

it('two replicas that both find no identity have the same one', async () => {
  const database = await createTestDatabase();
  const backend = await createPostgresBackend({ url: database.url });
  const { store } = backend;
  const first = await bindIdentity(store, EAST);
  // The other has looked before the first one wrote.
  let looked = false;
  const other = Object.create(store) as typeof store;
  other.readMetadata = (area, key) => {
    if (key !== 'self' || looked) return store.readMetadata(area, key);
    looked = true;
    return Promise.resolve(undefined);
  };
  expect(await bindIdentity(other, EAST)).toEqual(first);
  expect(await bindIdentity(store, EAST)).toEqual(first);
  await expect(bindIdentity(store, { ...EAST, zone: 'west' })).rejects.toThrow('this database belongs to zone "east"');
  await backend.close();
  await database.drop();
});

it.each([null, 5, 'x', [], {}, { role: 1, zone: {} }, { role: 'zone', zone: 'east', storeId: 7 }])(
  'an identity that nobody can read, %j, stops no start',
  async (value) => {
    const database = await createTestDatabase();
    const backend = await createPostgresBackend({ url: database.url });
    const { store } = backend;
    await bindIdentity(store, EAST);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("UPDATE notes SET value = $1::jsonb WHERE area = 'identity'", [JSON.stringify(value)]);
    await client.end();
    const { storeId } = await bindIdentity(store, EAST);
    expect(storeId).not.toBe('');
    expect(await bindIdentity(store, EAST)).toEqual({ storeId });
    await expect(bindIdentity(store, { ...EAST, zone: 'west' })).rejects.toThrow(
      'this database belongs to zone "east"',
    );
    await backend.close();
    await database.drop();
  },
);
