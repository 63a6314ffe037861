import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change } from '@causeway/store';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { freshId, put } from '../../store/src/conformance';
import { createPostgresBackend, type PostgresBackend } from './create-postgres-backend';
import { RecentWrites } from './recent-writes';

describe('what a process has written itself', () => {
  let database: TestDatabase;
  let near: PostgresBackend;
  let far: PostgresBackend;
  const ended = new AbortController();
  const following: Promise<void>[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    [near, far] = [
      await createPostgresBackend({ url: database.url }),
      await createPostgresBackend({ url: database.url }),
    ];
  });
  afterAll(async () => {
    ended.abort();
    await Promise.all(following);
    await Promise.all([near.close(), far.close()]);
    await database.drop();
  });

  function follow({ store }: PostgresBackend): ResourceIndex {
    const index = new ResourceIndex();
    following.push(followStore(store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal }));
    return index;
  }

  it('its watches are told as those of others are, to the last field', async () => {
    const [mine, theirs] = [follow(near), follow(far)];
    await Promise.all([mine.reached(await near.store.head()), theirs.reached(await far.store.head())]);
    const [a, b] = [freshId(), freshId()];
    const origin = { incarnation: 'elsewhere', revision: 7, committedAt: 8 };
    const copy = { uid: 'u', generation: 3, creationOrder: 4, createdAt: 5, origin };
    const writes: Change[][] = [
      [put(a, { list: [1, 'two', null], text: 'ü \u{1F600}' }), { ...put(b, { n: 1 }), copy }],
      [{ type: 'patch', id: a, expect: 'any', vip: '241.9.9.1', status: { vip: 1 } }],
      [{ type: 'patch', id: a, expect: 'any', vip: 'fd00::7', graceStartedAt: 17 }],
      [put(a, { n: 2 }), put(a, { n: 3 })],
      [{ type: 'delete', id: a, expect: 'any' }],
    ];
    for (const changes of writes) {
      const { revision } = await near.store.write({ changes, onRefusal: 'abort' });
      const point = { ...(await near.store.head()), revision };
      await Promise.all([mine.reached(point), theirs.reached(point)]);
      expect(mine.get(a)).toEqual(theirs.get(a));
      expect(mine.get(b)).toEqual(theirs.get(b));
    }
    expect([...mine.tombstones()]).toEqual([...theirs.tombstones()]);
    expect([...mine.tombstones()]).toMatchObject([{ id: a, freed: [{ ip: '241.9.9.1' }, { ip: 'fd00::7' }] }]);
  });

  it('is taken only from the point right before it, and forgotten in time', () => {
    const recent = new RecentWrites();
    const write = (after: number): void => recent.add({ incarnation: 'i', after, floor: 0, rows: [] }, after + 1);
    write(5);
    expect(recent.after({ incarnation: 'i', revision: 5 })?.revision).toBe(6);
    expect(recent.after({ incarnation: 'i', revision: 4 })).toBeUndefined();
    expect(recent.after({ incarnation: 'other', revision: 5 })).toBeUndefined();
    for (let n = 6; n < 106; n++) write(n);
    expect(recent.after({ incarnation: 'i', revision: 5 })).toBeUndefined();
    expect(recent.after({ incarnation: 'i', revision: 105 })?.revision).toBe(106);
  });
});
