import { Conflict } from '@causeway/resources';
import { RefusedWrite } from '../../src/refused-write';
import type { ResourceStore } from '../../src/resource-store';
import { freshId, held, put, refusals, write, writeOne, type StoreFixture } from './store-fixture';

/** Guarantee 1: a write names the revision that it read. */
export function describeConcurrency(world: () => StoreFixture): void {
  describe('optimistic concurrency', () => {
    it('refuses a stale write with Conflict and changes nothing', async () => {
      const { store, other } = world();
      const id = freshId();
      const first = await writeOne(store, put(id, { n: 1 }));
      const second = await writeOne(other, put(id, { n: 2 }, { expect: first.revision }));
      const before = await store.head();

      const stale = [
        put(id, { n: 3 }, { expect: first.revision }),
        { type: 'patch', id, expect: first.revision, status: { ready: true } },
        { type: 'delete', id, expect: first.revision },
      ] as const;
      for (const change of stale) {
        const refused = await write(store, change).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(Conflict);
        expect(refused).toBeInstanceOf(RefusedWrite);
        expect(String(refused)).toContain(`${id.name}: is at revision ${second.revision}, not ${first.revision}`);
      }
      expect(await store.head()).toEqual(before);
      expect(await held(store, id)).toEqual(second);
    });

    it('knows what is there and what is not', async () => {
      const { store } = world();
      const [there, gone, never] = [freshId(), freshId(), freshId()];
      await write(store, put(there), put(gone));
      const { revision } = await held(store, gone);
      await write(store, { type: 'delete', id: gone, expect: revision });

      expect(await refusals(store, put(there, {}, { expect: 'absent' }))).toEqual(['exists']);
      expect(await refusals(store, put(gone, {}, { expect: revision }))).toEqual(['conflict']);
      for (const id of [gone, never]) {
        expect(
          await refusals(
            store,
            { type: 'patch', id, expect: 'any', status: {} },
            { type: 'delete', id, expect: 'any' },
          ),
        ).toEqual(['absent', 'absent']);
      }
      expect(await refusals(store, { type: 'delete', id: gone, expect: revision })).toEqual(['absent']);
    });

    it('lets one of many writers win', async () => {
      const { store, other } = world();
      const id = freshId();
      const tries = await Promise.allSettled(
        Array.from({ length: 12 }, (_, n) => write(n % 2 ? store : other, put(id, { n }, { expect: 'absent' }))),
      );
      expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1);
      expect((await held(store, id)).generation).toBe(1);
    });

    it('loses no update where writers try again', async () => {
      const { store, other } = world();
      const id = freshId();
      await write(store, put(id, { n: 0 }));
      await Promise.all(Array.from({ length: 16 }, (_, n) => increment(n % 2 ? store : other, id)));
      expect((await held(other, id)).spec).toEqual({ n: 16 });
    });
  });
}

async function increment(store: ResourceStore, id: ReturnType<typeof freshId>): Promise<void> {
  for (;;) {
    const { spec, revision } = await held(store, id);
    try {
      await write(store, put(id, { n: Number(spec['n']) + 1 }, { expect: revision }));
      return;
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
}
