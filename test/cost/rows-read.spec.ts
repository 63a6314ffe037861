import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { freshId, freshVip, put } from '@causeway/store/testing';
import { createTestDatabase, rowsOf, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';

/** Resources that are created, changed, patched and deleted. */
const CHANGED = 20;
const READ = `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::float8 AS read FROM pg_stat_user_tables`;
const CONNECTIONS =
  'SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

describe('rows that the store reads for one change', () => {
  let database: TestDatabase;
  let size = 0;
  beforeAll(async () => void (database = await createTestDatabase()));
  afterAll(() => database.drop());

  /**
   * Writes through one replica and follows with another; returns the rows that both have read from their start to their end: a connection reports
   * what it has read when it is closed.
   */
  async function countRead(writes: readonly (readonly Change[])[]): Promise<number> {
    const before = await readSoFar();
    const index = new ResourceIndex();
    const end = new AbortController();
    const [writer, reader] = [
      await createPostgresBackend({ url: database.url }),
      await createPostgresBackend({ url: database.url }),
    ];
    const following = followStore(reader.store, index, {
      clock: systemClock,
      logger: silentLogger,
      signal: end.signal,
    });
    await index.reached(0);
    for (const changes of writes) {
      const { revision } = await writer.store.write({ changes, onRefusal: 'abort' });
      await index.reached(revision);
    }
    end.abort();
    await following;
    await Promise.all([writer.close(), reader.close()]);
    return (await readSoFar()) - before;
  }

  async function readSoFar(): Promise<number> {
    await until('every connection is closed', async () => (await rowsOf(database.url, CONNECTIONS))[0]?.['open'] === 0);
    return Number((await rowsOf(database.url, READ))[0]?.['read']);
  }

  async function fillTo(services: number): Promise<void> {
    const added = Array.from({ length: services - size }, () => put(freshId()));
    const batches = Array.from({ length: Math.ceil(added.length / 500) }, (_, n) =>
      added.slice(500 * n, 500 * (n + 1)),
    );
    await countRead(batches);
    size = services;
    // As a server does by itself: it plans by the size of the tables.
    await rowsOf(database.url, 'ANALYZE');
  }

  /** Returns the rows that the changes cost, without those of the two starts. */
  async function countChanges(): Promise<number> {
    const ids = Array.from({ length: CHANGED }, () => freshId());
    const writes = ids.flatMap((id): readonly (readonly Change[])[] => [
      [put(id, {}, { initial: { vip: freshVip() } })],
      [put(id, { n: 1 })],
      [{ type: 'patch', id, expect: 'any', vip: freshVip() }],
      [{ type: 'delete', id, expect: 'any' }],
    ]);
    const atRest = await countRead([]);
    return (await countRead(writes)) - atRest;
  }

  it('are as many beside 8,000 services as beside 1,000, on the replica that writes and on one that follows', async () => {
    await fillTo(1_000);
    const few = await countChanges();
    await fillTo(8_000);
    const many = await countChanges();
    expect(few).toBeGreaterThan(CHANGED * 4);
    expect(Math.abs(many - few)).toBeLessThanOrEqual(0.05 * few + 20);
  });
});
