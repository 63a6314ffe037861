import fc from 'fast-check';
import type { Identity } from '@causeway/resources';
import type { Change, ResourceStore, WriteRequest } from '@causeway/store';
import { MemoryStore, copyFacts, freshId, freshVip, put } from '@causeway/store/testing';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import type { PostgresBackend } from './postgres-backend';
import { createPostgresBackend } from '../testing/connected-backend';

/** A change of one of a few resources and addresses, so that the changes of one write conflict with each other. */
interface Drawn {
  readonly type: 'put' | 'copy' | 'create' | 'patch' | 'take' | 'delete';
  readonly resource: number;
  readonly address: number | null;
  readonly content: number;
  readonly expect: 'any' | 'absent' | 'stale';
}

const small = fc.integer({ min: 0, max: 2 });
const drawn: fc.Arbitrary<Drawn> = fc.record({
  type: fc.constantFrom('put', 'put', 'copy', 'create', 'create', 'patch', 'take', 'take', 'delete'),
  resource: fc.integer({ min: 0, max: 4 }),
  address: fc.option(small),
  content: small,
  expect: fc.constantFrom('any', 'any', 'any', 'absent', 'stale'),
});
const writes = fc.array(
  fc.record({ onRefusal: fc.constantFrom('abort', 'skip'), changes: fc.array(drawn, { minLength: 1, maxLength: 5 }) }),
  { minLength: 1, maxLength: 6 },
);

function changeOf(each: Drawn, ids: readonly Identity[], vips: readonly string[]): Change {
  const id = ids[each.resource] ?? freshId();
  const spec = { n: each.content };
  const expect = each.expect === 'absent' ? 'any' : each.expect === 'stale' ? 1 : 'any';
  const origin = { incarnation: 'elsewhere', revision: 10 + each.content, committedAt: 5 };
  switch (each.type) {
    case 'put':
      return put(id, spec, { expect: each.expect === 'absent' ? 'absent' : expect });
    case 'copy':
      return put(id, spec, { copy: copyFacts({ uid: 'copy', generation: 2 + each.content, origin }) });
    case 'create': {
      const vip = each.address === null ? undefined : vips[each.address];
      const initial = { status: { first: each.content }, ...(vip === undefined ? {} : { vip }) };
      const copy = copyFacts({ uid: 'copy', generation: 2 + each.content, origin });
      return put(id, spec, { initial, ...(each.expect === 'absent' ? { copy } : { expect }) });
    }
    case 'patch':
      return { type: 'patch', id, expect, status: spec, ...(each.expect === 'any' ? {} : { spec }) };
    case 'take':
      return { type: 'patch', id, expect, vip: each.address === null ? null : (vips[each.address] ?? null) };
    case 'delete':
      return { type: 'delete', id, expect };
  }
}

/** Returns the answer of a store and its rows of these, without what each store generates by itself. */
async function outcome(store: ResourceStore, request: WriteRequest, ids: readonly Identity[]): Promise<unknown> {
  const answered: unknown = await store.write(request).then(
    ({ revision, results }) => [revision, results.map((result) => ({ ...result, uid: undefined }))],
    (error: unknown) => String(error),
  );
  const held = await Promise.all(ids.map((id) => store.get(id)));
  const rows = held.map((row) => row && { ...row, uid: '', creationOrder: 0, createdAt: 0, modifiedAt: 0 });
  const plain = rows.map((row) => row && { ...row, freed: row.freed.map(({ ip }) => ip), origin: row.origin.revision });
  return { answered, held: plain };
}

describe('the function that writes', () => {
  let database: TestDatabase;
  let backend: PostgresBackend;
  beforeAll(async () => {
    database = await createTestDatabase();
    backend = await createPostgresBackend({ url: database.url });
  });
  afterAll(async () => {
    await backend.close();
    await database.drop();
  });

  it('decides changes of one resource within a write as MemoryStore does', async () => {
    const memory = new MemoryStore();
    await fc.assert(
      fc.asyncProperty(writes, async (several) => {
        const ids = Array.from({ length: 5 }, () => freshId());
        const vips = Array.from({ length: 3 }, () => freshVip());
        for (const { onRefusal, changes } of several) {
          const request = { onRefusal, changes: changes.map((each) => changeOf(each, ids, vips)) };
          expect(await outcome(backend.store, request, ids)).toEqual(await outcome(memory, request, ids));
        }
      }),
      // Both stores go on from run to run, so nothing can be tried again in a smaller form.
      { numRuns: 150, endOnFailure: true },
    );
  });
});
