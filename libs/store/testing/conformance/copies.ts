import { copyFacts, freshId, held, put, refusals, write, writeOne, type StoreFixture } from './store-fixture';

const at = (
  revision: number,
  incarnation = 'incarnation-1',
): { origin: { incarnation: string; revision: number; committedAt: number } } => ({
  origin: { incarnation, revision, committedAt: 1_700_000_000_000 + revision },
});

/** Copies of other stores' resources: facts kept, older states refused (I7). */
export function describeCopies(world: () => StoreFixture): void {
  describe('a copy', () => {
    it('keeps the facts of its origin, through updates and controllers', async () => {
      const { store } = world();
      const id = freshId();
      const first = await writeOne(store, put(id, { n: 1 }, { copy: copyFacts() }));
      expect(first).toMatchObject(copyFacts());
      await write(store, { type: 'patch', id, expect: 'any', status: { vip: 'x' } });
      const next = copyFacts({ uid: 'uid-2', generation: 9, creationOrder: 0, createdAt: 1, ...at(8) });
      const second = await writeOne(store, put(id, { n: 2 }, { copy: next }));
      expect(second).toMatchObject({ ...next, spec: { n: 2 }, status: { vip: 'x' } });
      await write(store, { type: 'patch', id, expect: 'any', spec: { n: 3 } });
      expect((await held(store, id)).origin).toEqual(next.origin);
    });

    it('I10: is unchanged where content and facts are the same, and written where a fact differs', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 1 }, { copy: copyFacts() }));
      const [same] = await write(store, put(id, { n: 1 }, { copy: copyFacts() }));
      expect(same?.type).toBe('unchanged');
      const [uid] = await write(store, put(id, { n: 1 }, { copy: copyFacts({ uid: 'uid-2' }) }));
      const [renewed] = await write(
        store,
        put(id, { n: 1 }, { copy: copyFacts({ uid: 'uid-2', ...at(7, 'incarnation-2') }) }),
      );
      expect([uid?.type, renewed?.type]).toEqual(['written', 'written']);
    });

    it('keeps the trace of its origin, which is no content (I10)', async () => {
      const { store } = world();
      const id = freshId();
      const traced = { ...at(7).origin, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
      const other = { ...traced, traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` };
      expect((await writeOne(store, put(id, {}, { copy: copyFacts({ origin: traced }) }))).origin).toEqual(traced);
      const [same, without] = [
        await write(store, put(id, {}, { copy: copyFacts({ origin: other }) })),
        await write(store, put(id, {}, { copy: copyFacts(at(7)) })),
      ];
      expect([same[0]?.type, without[0]?.type]).toEqual(['unchanged', 'unchanged']);
      expect((await held(store, id)).origin).toEqual(traced);
      expect((await writeOne(store, put(id, { n: 1 }, { copy: copyFacts(at(8)) }))).origin).toEqual(at(8).origin);
    });

    it('I7: refuses an older state of the same incarnation, and only that', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 7 }, { copy: copyFacts(at(7)) }));
      expect(await refusals(store, put(id, { n: 6 }, { copy: copyFacts(at(6)) }))).toEqual(['older']);
      expect((await held(store, id)).spec).toEqual({ n: 7 });
      expect(await refusals(store, put(id, { n: 70 }, { copy: copyFacts(at(7)) }))).toEqual([undefined]);
      expect(await refusals(store, put(id, { n: 1 }, { copy: copyFacts(at(1, 'incarnation-2')) }))).toEqual([
        undefined,
      ]);
      expect((await held(store, id)).spec).toEqual({ n: 1 });
    });

    it('I7: a delayed state does not bring back what was removed', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 7 }, { copy: copyFacts(at(7)) }), { type: 'delete', id, expect: 'any' });
      expect(await refusals(store, put(id, { n: 6 }, { copy: copyFacts(at(6)) }))).toEqual(['older']);
      expect(await store.get(id)).toBeUndefined();
      // Withdrawn and exported again, it has its former state.
      expect(await refusals(store, put(id, { n: 7 }, { copy: copyFacts(at(7)) }))).toEqual([undefined]);
    });

    it('becomes a resource of this store when it is put here, and a copy again', async () => {
      const { store } = world();
      const id = freshId();
      const copy = await writeOne(store, put(id, { n: 1 }, { copy: copyFacts() }));
      const ours = await writeOne(store, put(id, { n: 2 }));
      const { incarnation } = await store.head();
      expect(ours).toMatchObject({ uid: copy.uid, generation: 4, origin: { incarnation, revision: ours.revision } });
      expect(await writeOne(store, put(id, { n: 3 }, { copy: copyFacts(at(1)) }))).toMatchObject(copyFacts(at(1)));
    });
  });
}
