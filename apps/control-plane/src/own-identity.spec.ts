import { createPostgresBackend } from '@causeway/store-postgres';
import { createTestDatabase } from '../../../test/support/postgres';
import { bindIdentity } from './own-identity';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;

it('two replicas that both find no identity have the same one', async () => {
  const database = await createTestDatabase();
  const { store, close } = await createPostgresBackend({ url: database.url });
  const first = await bindIdentity(store, EAST);
  // The other has looked before the first one wrote.
  let looked = false;
  const other = Object.create(store) as typeof store;
  other.note = (area, key) => {
    if (key !== 'self' || looked) return store.note(area, key);
    looked = true;
    return Promise.resolve(undefined);
  };
  expect(await bindIdentity(other, EAST)).toEqual(first);
  expect(await bindIdentity(store, EAST)).toEqual(first);
  await expect(bindIdentity(store, { ...EAST, zone: 'west' })).rejects.toThrow('this database belongs to zone "east"');
  await close();
  await database.drop();
});
