import { Unavailable } from '@causeway/resources';
import { Link } from '../../../test/support/link';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { until } from '../../../test/support/until';
import { freshId, put, write } from '@causeway/store/testing';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

/** A statement that is not answered would be waited for longer than the test lasts. */
const HOUR = 3_600_000;

describe('a server that is away without an error', () => {
  const way = new Link();
  let database: TestDatabase;
  let backend: PostgresBackend;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    await way.listen();
    way.lead(Number(url.port));
    url.port = String(way.port);
    backend = await createPostgresBackend({ url: url.href, statementTimeout: HOUR, poolSize: 3 });
  });
  afterAll(async () => {
    await backend.close();
    await way.close();
    await database.drop();
  });

  it('is left for the one that is reached by a new connection: what was asked of it fails, and the next write is answered', async () => {
    const { store } = backend;
    await Promise.all([1, 2, 3].map(() => write(store, put(freshId()))));
    await until('it listens', () => backend.status().listening);
    way.silence();
    const asked = write(store, put(freshId())).then(
      () => 'answered',
      (error: unknown) => (error instanceof Unavailable ? 'unavailable' : String(error)),
    );
    // As behind a name that leads to another server since: old connections stay mute, new ones are answered.
    way.heal(true);
    expect(await asked).toBe('unavailable');
    const last = freshId();
    await write(store, put(last));
    expect((await store.snapshot()).resources.map(({ id: { name } }) => name)).toContain(last.name);
  });
});
