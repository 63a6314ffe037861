import { RefusedWrite } from '../../src/refused-write';
import type { Change, ChangeResult } from '../../src/resource-store';
import { freshId, held, put, refusals, write, type StoreFixture } from './store-fixture';

/** Guarantee 4: many changes at once, all or the accepted ones; and metadata with them. */
export function describeBatches(world: () => StoreFixture): void {
  describe('a batch', () => {
    it('skips refused changes and names them, or writes none', async () => {
      const { store } = world();
      const [a, b, gone] = [freshId(), freshId(), freshId()];
      const changes: readonly Change[] = [
        put(a),
        { type: 'patch', id: gone, expect: 'any', status: {} },
        put(b),
        put(a, {}, { expect: 'absent' }),
      ];
      const before = await store.head();
      const refused: unknown = await store.write({ changes, onRefusal: 'abort' }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(RefusedWrite);
      expect((refused as RefusedWrite).refused.some(({ at, refusal }) => at === 1 && refusal === 'absent')).toBe(true);
      expect(await store.head()).toEqual(before);
      expect(await store.get(a)).toBeUndefined();

      const { revision, results } = await store.write({ changes, onRefusal: 'skip' });
      expect(results.map((result) => (result.type === 'refused' ? result.refusal : result.type))).toEqual([
        'written',
        'absent',
        'written',
        'exists',
      ]);
      expect(revision).toBe(before.revision + 2);
      expect(await store.get(b)).toBeDefined();
    });

    it('takes several changes of one identity in their order', async () => {
      const { store } = world();
      const id = freshId();
      const results = await write(
        store,
        put(id, { n: 1 }, { expect: 'absent' }),
        { type: 'patch', id, expect: 'any', status: { ok: true } },
        put(id, { n: 2 }),
        { type: 'delete', id, expect: 'any' },
        put(id, { n: 3 }, { expect: 'absent' }),
      );
      expect(results.map((result) => result.type === 'written' && result.generation)).toEqual([1, 1, 2, 2, 3]);
      expect(await held(store, id)).toMatchObject({ spec: { n: 3 }, generation: 3 });
      expect(await held(store, id)).not.toHaveProperty('status');
    });

    it('says what is durable in the order of the changes, and gives creation orders in it', async () => {
      const { store } = world();
      const ids = Array.from({ length: 1_203 }, () => freshId());
      const durable: ChangeResult[] = [];
      const { results } = await store.write({
        changes: ids.map((id) => put(id)),
        onRefusal: 'skip',
        onDurable: (part) => durable.push(...part),
      });
      expect(durable).toEqual(results);
      const { resources } = await store.snapshot();
      const orders = new Map(resources.map(({ id, creationOrder }) => [id.name, creationOrder]));
      const inOrder = ids.map(({ name }) => orders.get(name) ?? NaN);
      expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
      const single: ChangeResult[] = [];
      await store.write({ changes: [put(freshId())], onRefusal: 'skip', onDurable: (part) => single.push(...part) });
      expect(single).toMatchObject([{ type: 'written', created: true }]);
    });

    it('undoes the first change of an identity where the second is refused', async () => {
      const { store } = world();
      const [a, b] = [freshId(), freshId()];
      const before = await store.head();
      const refused: unknown = await write(store, put(a), put(b), put(b, {}, { expect: 'absent' })).catch(
        (error: unknown) => error,
      );
      expect(refused).toBeInstanceOf(RefusedWrite);
      expect((refused as RefusedWrite).refused).toMatchObject([{ at: 2, refusal: 'exists' }]);
      expect(await store.head()).toEqual(before);
      expect([await store.get(a), await store.get(b)]).toEqual([undefined, undefined]);
    });

    it('writes the storable changes beside unstorable ones', async () => {
      const { store } = world();
      const good = freshId();
      let deep = {};
      for (let n = 0; n < 200; n++) deep = { deep };
      const bad: readonly Change[] = [
        put(freshId(), { text: 'nul \0' }),
        put(freshId(), { 'key \0': 1 }),
        put(freshId(), { list: [{ text: 'half \ud800 pair' }] }),
        put({ ...freshId(), name: 'nul \0' }),
        put({ ...freshId(), name: 'x'.repeat(600) }),
        put(freshId(), deep),
        { type: 'patch', id: good, expect: 'any', vip: 'no address' },
      ];
      const fine = put(good, {
        text: 'whole pair \u{1F600}, a quote " and \\u0000 in words',
        huge: 1e300,
        small: 5e-324,
      });
      const outcome = await refusals(store, ...bad.slice(0, 3), fine, ...bad.slice(3));
      expect(outcome).toEqual([
        ...Array<string>(3).fill('unstorable'),
        undefined,
        ...Array<string>(4).fill('unstorable'),
      ]);
      expect((await held(store, good)).spec).toEqual(fine.spec);
      await expect(write(store, ...bad)).rejects.toBeInstanceOf(RefusedWrite);
    });

    it('may have 10,000 changes, in one or several statements', async () => {
      const { store } = world();
      const ids = Array.from({ length: 10_000 }, () => freshId('Mass'));
      const before = await store.head();
      const made = await store.write({ changes: ids.map((id, n) => put(id, { n })), onRefusal: 'abort' });
      expect(made.revision).toBe(before.revision + 10_000);
      expect(made.results.map((result) => result.type === 'written' && result.created && result.revision)).toEqual(
        ids.map((_, n) => before.revision + n + 1),
      );
      const changed = await store.write({ changes: ids.map((id, n) => put(id, { n: n + 1 })), onRefusal: 'skip' });
      expect(changed.results.every((result) => result.type === 'written' && result.generation === 2)).toBe(true);
      expect(changed.revision).toBe(made.revision + 10_000);
      const gone = await store.write({
        changes: ids.map((id) => ({ type: 'delete', id, expect: 'any' })),
        onRefusal: 'skip',
      });
      expect(gone.results).toHaveLength(10_000);
      expect((await store.snapshot()).resources.filter((one) => one.id.kind === 'Mass')).toEqual([]);
    });
  });

  describe('notes', () => {
    it('are written with the changes, or not at all', async () => {
      const { store } = world();
      const [area, id] = [freshId().name, freshId()];
      const entries = [{ area, key: 'cursor', value: { next: 1 } }];
      await store.write({ changes: [put(id)], onRefusal: 'abort', metadata: entries });
      expect(await store.readMetadata(area, 'cursor')).toEqual({ next: 1 });
      const again = {
        changes: [put(id, {}, { expect: 'absent' })],
        metadata: [{ area, key: 'cursor', value: { next: 2 } }],
      } as const;
      await expect(store.write({ ...again, onRefusal: 'abort' })).rejects.toBeInstanceOf(RefusedWrite);
      expect(await store.readMetadata(area, 'cursor')).toEqual({ next: 1 });
      await store.write({ ...again, onRefusal: 'skip' });
      expect(await store.readMetadata(area, 'cursor')).toEqual({ next: 2 });
    });

    it('raise no revision, and null removes one', async () => {
      const { store, other } = world();
      const area = freshId().name;
      const before = await store.head();
      const entries = ['b', 'a', 'c'].map((key) => ({ area, key, value: { key } }));
      const { revision } = await store.write({ changes: [], onRefusal: 'abort', metadata: entries });
      expect(revision).toBe(before.revision);
      expect(await store.head()).toEqual(before);
      await store.write({
        changes: [],
        onRefusal: 'abort',
        metadata: [
          { area, key: 'b', value: null },
          { area, key: 'c', value: { n: 1 } },
          { area, key: 'c', value: { n: 2 } },
        ],
      });
      expect(await other.listMetadata(area)).toEqual([
        { area, key: 'a', value: { key: 'a' } },
        { area, key: 'c', value: { n: 2 } },
      ]);
      expect(await other.readMetadata(area, 'b')).toBeUndefined();
      expect(await other.listMetadata(`${area}x`)).toEqual([]);
    });
  });
}
