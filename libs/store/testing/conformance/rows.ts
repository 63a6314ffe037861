import { freshId, held, put, write, writeOne, copyFacts, type StoreFixture } from './store-fixture';

/** The facts of a row: generation, uid, creation order. */
export function describeRows(world: () => StoreFixture): void {
  describe('a row', () => {
    it('holds what was put, and the facts that the store adds', async () => {
      const { store } = world();
      const id = freshId();
      const before = Date.now();
      const [result] = await write(
        store,
        put(id, { port: 80, deep: { list: [1, 'x', null, true] } }, { status: { ok: true } }),
      );
      const made = await held(store, id);
      const { incarnation, revision } = await store.head();
      expect(result).toEqual({ type: 'written', created: true, revision, generation: 1, uid: made.uid });
      expect(made).toEqual({
        id,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        labels: { team: 'a' },
        spec: { port: 80, deep: { list: [1, 'x', null, true] } },
        status: { ok: true },
        generation: 1,
        creationOrder: expect.any(Number),
        createdAt: expect.any(Number),
        modifiedAt: made.createdAt,
        revision,
        origin: { incarnation, revision, committedAt: made.createdAt },
        freed: [],
      });
      expect(Math.abs(made.createdAt - before)).toBeLessThan(60_000);
    });

    it('has the trace of its last change of spec or labels, through all other changes', async () => {
      const { store } = world();
      const id = freshId();
      const [first, second] = ['1', '2'].map((digit) => `00-${'a'.repeat(32)}-${digit.repeat(16)}-01`);
      const readTrace = async (...changes: Parameters<typeof write>[1][]): Promise<string | undefined> => {
        await write(store, ...changes);
        return (await held(store, id)).origin.traceparent;
      };
      expect(await readTrace(put(id, { n: 1 }, { traceparent: first }))).toBe(first);
      expect(await readTrace(put(id, { n: 1 }, { traceparent: second }))).toBe(first);
      const { revision } = await held(store, id);
      expect(await readTrace({ type: 'patch', id, expect: revision, status: { n: 1 }, traceparent: second })).toBe(
        first,
      );
      expect(await readTrace({ type: 'patch', id, expect: 'any', spec: { n: 2 }, traceparent: second })).toBe(second);
      expect(await readTrace(put(id, { n: 3 }))).toBeUndefined();
      expect(await readTrace(put(id, { n: 4 }, { traceparent: first }))).toBe(first);
      await write(store, { type: 'delete', id, expect: 'any' });
      expect(await readTrace(put(id, { n: 4 }))).toBeUndefined();
    });

    it('counts changes of spec and labels, and only these', async () => {
      const { store } = world();
      const id = freshId();
      const made = await writeOne(store, put(id, { n: 1 }));
      const respec = await writeOne(store, put(id, { n: 2 }));
      const relabel = await writeOne(store, put(id, { n: 2 }, { labels: { team: 'b' } }));
      const restate = await writeOne(store, put(id, { n: 2 }, { labels: { team: 'b' }, status: { ok: 1 } }));
      await write(store, {
        type: 'patch',
        id,
        expect: restate.revision,
        spec: { n: 3 },
        status: { ok: 2 },
        graceStartedAt: 5,
      });
      const patched = await held(store, id);
      expect([made, respec, relabel, restate, patched].map((row) => row.generation)).toEqual([1, 2, 3, 3, 3]);
      expect(patched).toMatchObject({
        uid: made.uid,
        spec: { n: 3 },
        status: { ok: 2 },
        graceStartedAt: 5,
        labels: { team: 'b' },
      });
      expect(patched.creationOrder).toBe(made.creationOrder);
      // The origin's revision changes with the synced parts: spec and labels, also when a controller writes the spec.
      expect([respec, relabel, restate, patched].map((row) => row.origin.revision)).toEqual([
        respec.revision,
        relabel.revision,
        relabel.revision,
        patched.revision,
      ]);
    });

    it('keeps the status where a put has none', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 1 }, { status: { ok: true } }), put(id, { n: 2 }));
      expect((await held(store, id)).status).toEqual({ ok: true });
    });

    it('changes only the named parts in a patch, and null clears', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 1 }, { status: { ok: true } }));
      await write(store, { type: 'patch', id, expect: 'any', graceStartedAt: 12 });
      expect(await held(store, id)).toMatchObject({ spec: { n: 1 }, status: { ok: true }, graceStartedAt: 12 });
      await write(store, { type: 'patch', id, expect: 'any', graceStartedAt: null });
      expect(await held(store, id)).not.toHaveProperty('graceStartedAt');
    });

    it('I10: writes nothing where nothing differs', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { a: 1, b: { c: [1] } }, { labels: { x: '1', y: '2' }, status: { ok: true } }));
      await write(store, { type: 'patch', id, expect: 'any', graceStartedAt: 5 });
      const [before, row] = [await store.head(), await held(store, id)];
      const same = [
        put(id, { b: { c: [1] }, a: 1, gone: undefined }, { labels: { y: '2', x: '1' } }),
        put(id, { a: 1, b: { c: [1] } }, { labels: { x: '1', y: '2' }, status: { ok: true } }),
        {
          type: 'patch',
          id,
          expect: row.revision,
          status: { ok: true },
          spec: { b: { c: [1] }, a: 1 },
          graceStartedAt: 5,
        },
      ] as const;
      for (const change of same) {
        const { revision, results } = await store.write({ changes: [change], onRefusal: 'abort' });
        expect(results).toEqual([{ type: 'unchanged', revision: row.revision, generation: 1, uid: row.uid }]);
        expect(revision).toBe(before.revision);
      }
      expect(await held(store, id)).toEqual(row);
    });

    it('continues from its tombstone: generation, not uid, not status', async () => {
      const { store } = world();
      const id = freshId();
      await write(store, put(id, { n: 1 }, { status: { ok: true } }), put(id, { n: 2 }));
      const before = await held(store, id);
      await write(
        store,
        { type: 'patch', id, expect: 'any', graceStartedAt: 5 },
        { type: 'delete', id, expect: 'any' },
      );
      expect(await store.get(id)).toBeUndefined();
      const after = await writeOne(store, put(id, { n: 1 }, { expect: 'absent' }));
      expect(after.generation).toBe(before.generation + 1);
      expect(after.uid).not.toBe(before.uid);
      expect(after.creationOrder).toBeGreaterThan(before.creationOrder);
      expect(after).not.toHaveProperty('status');
      expect(after).not.toHaveProperty('graceStartedAt');
    });

    it('is older than what was made later, in one write and across processes', async () => {
      const { store, other } = world();
      const ids = Array.from({ length: 5 }, () => freshId());
      const floor = Date.now() * 1000 - 60_000_000;
      await write(store, ...ids.slice(0, 3).map((id) => put(id)));
      for (const id of ids.slice(3)) await write(other, put(id));
      const orders = await Promise.all(ids.map(async (id) => (await held(store, id)).creationOrder));
      expect(orders).toEqual([...new Set(orders)].sort((a, b) => a - b));
      expect(orders[0]).toBeGreaterThan(floor);
    });

    it('is younger than every copy held, however slow our clock, but for one from beyond a day', async () => {
      const { store } = world();
      const soon = (Date.now() + 3_600_000) * 1000;
      const absurd = Number.MAX_SAFE_INTEGER;
      await write(store, put(freshId(), {}, { copy: copyFacts({ creationOrder: soon }) }));
      await write(store, put(freshId(), {}, { copy: copyFacts({ creationOrder: absurd }) }));
      const made = await writeOne(store, put(freshId()));
      expect(made.creationOrder).toBeGreaterThan(soon);
      expect(made.creationOrder).toBeLessThan(soon + 60_000_000);
    });
  });
}
