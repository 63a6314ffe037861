import fc from 'fast-check';
import { Client } from 'pg';
import type { Identity, Resource } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change, type PatchChange, type WriteResult } from '@causeway/store';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/postgres';
import { freshId, put } from '@causeway/store/testing';
import type { PostgresBackend } from '../postgres-backend';
import { createPostgresBackend } from '../../testing/connected-backend';
import { RecentWrites } from './recent-writes';
import { WRITE_STATEMENT, writeCall } from './write-request';

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

  it('its watches yield what those of other processes yield, to the last field', async () => {
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

  it('its watches yield what those of other processes yield, whatever its patches contain', async () => {
    const taken = jest.spyOn(RecentWrites.prototype, 'after');
    const [mine, theirs] = [follow(near), follow(far)];
    const ids = Array.from({ length: 4 }, () => freshId());
    const vips = ['241.8.0.1', '241.8.0.2', null];
    const write = async (changes: readonly Change[]): Promise<void> => {
      const { revision } = await near.store.write({ changes, onRefusal: 'skip' });
      await Promise.all([mine.reached(revision), theirs.reached(revision)]);
    };
    await write(ids.map((id) => put(id)));
    const drawn = fc.record({
      resource: fc.nat(3),
      stale: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      part: fc.constantFrom('status', 'status', 'grace', 'no grace', 'vip', 'spec', 'put', 'delete'),
      content: fc.nat(2),
    });
    const change = ({
      resource,
      stale,
      part,
      content,
    }: typeof drawn extends fc.Arbitrary<infer T> ? T : never): Change => {
      const id = ids[resource] ?? freshId();
      const base = { type: 'patch' as const, id, expect: stale ? 1 : (mine.get(id)?.revision ?? 1) };
      if (part === 'put' || !mine.get(id)) return put(id, { n: content });
      if (part === 'delete') return { ...base, type: 'delete' };
      if (part === 'vip') return { ...base, vip: vips[content] ?? null };
      if (part === 'spec') return { ...base, spec: { n: content } };
      if (part === 'status') return { ...base, status: { n: content } };
      return { ...base, graceStartedAt: part === 'grace' ? content : null };
    };
    await fc.assert(
      fc.asyncProperty(fc.array(drawn, { minLength: 1, maxLength: 3 }), async (several) => {
        await write(several.map(change));
        const held = (index: ResourceIndex): unknown => ids.map((id) => index.get(id) ?? index.tombstone(id));
        expect(held(mine)).toEqual(held(theirs));
      }),
      { numRuns: 300, endOnFailure: true },
    );
    const asNamed = taken.mock.results.filter(({ value }) => value !== undefined);
    expect(asNamed.length).toBeGreaterThan(100);
    taken.mockRestore();
  });

  it('a call without tell_rows gets no echo', async () => {
    const id = freshId();
    await near.store.write({ changes: [put(id)], onRefusal: 'abort' });
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const patch: Change = { type: 'patch', id, expect: (await near.store.head()).revision, status: { n: 1 } };
    const { values } = writeCall({ changes: [patch], onRefusal: 'abort' });
    expect(values[8]).toBeNull();
    const call = { text: WRITE_STATEMENT, values: [...values.slice(0, 8), false] };
    const { rows } = await client.query<{ results: unknown; written: unknown }>(call);
    await client.end();
    expect(rows).toMatchObject([{ results: [expect.arrayContaining([0, 'written'])], written: null }]);
  });

  it('is derived from what the reader holds, or not at all', () => {
    const recent = new RecentWrites();
    const id: Identity = freshId();
    const before: Resource = {
      id,
      uid: 'u',
      labels: {},
      spec: { n: 1 },
      generation: 1,
      creationOrder: 3,
      createdAt: 1,
      modifiedAt: 1,
      revision: 4,
      origin: { incarnation: 'i', revision: 4, committedAt: 1 },
      freed: [],
      graceStartedAt: 2,
    };
    const patch = (rest: Partial<PatchChange>): PatchChange => ({ type: 'patch', id, expect: 4, ...rest });
    const result = { type: 'written', created: false, revision: 6, generation: 1, uid: 'u' } as const;
    const written: WriteResult = { revision: 6, results: [result] };
    const echo = { incarnation: 'i', after: 5, floor: 3, at: 9 };
    const point = { incarnation: 'i', revision: 5 };
    const changesOf = (change: PatchChange): unknown => {
      recent.add(echo, { changes: [change] }, written);
      const batch = recent.after(point, () => before);
      return batch?.changes.map((one) => one.type === 'put' && one.resource);
    };
    expect(changesOf(patch({ status: { s: 1 } }))).toEqual([
      { ...before, revision: 6, modifiedAt: 9, status: { s: 1 } },
    ]);
    expect(changesOf(patch({ graceStartedAt: 7 }))).toEqual([
      { ...before, revision: 6, modifiedAt: 9, graceStartedAt: 7 },
    ]);
    const { graceStartedAt: _, ...without } = before;
    expect(changesOf(patch({ graceStartedAt: null }))).toStrictEqual([{ ...without, revision: 6, modifiedAt: 9 }]);
    expect(recent.after(point, () => ({ ...before, revision: 3 }))).toBeUndefined();
    expect(recent.after(point, () => undefined)).toBeUndefined();
    expect(recent.after(point)).toBeUndefined();
  });

  it('is taken only from the point right before it, and forgotten in time', () => {
    const recent = new RecentWrites();
    const write = (after: number): void =>
      recent.add(
        { incarnation: 'i', after, floor: 0, rows: [] },
        { changes: [] },
        { revision: after + 1, results: [] },
      );
    write(5);
    expect(recent.after({ incarnation: 'i', revision: 5 })?.revision).toBe(6);
    expect(recent.after({ incarnation: 'i', revision: 4 })).toBeUndefined();
    expect(recent.after({ incarnation: 'other', revision: 5 })).toBeUndefined();
    for (let n = 6; n < 106; n++) write(n);
    expect(recent.after({ incarnation: 'i', revision: 5 })).toBeUndefined();
    expect(recent.after({ incarnation: 'i', revision: 105 })?.revision).toBe(106);
  });
});
