import { RelistRequired } from '../../src/resource-store';
import { freshId, put, WatchReader, write, writeOne, type StoreFixture } from './store-fixture';

/** Guarantees 3 and 7: tombstones and incarnations end. Last in the suite: these tests begin a new incarnation. */
export function describeIncarnations(world: () => StoreFixture): void {
  describe('the past', () => {
    it('is too old once tombstones were purged, and only before them', async () => {
      const { store, other } = world();
      const [id, later] = [freshId(), freshId()];
      await write(store, put(id));
      const before = await store.head();
      await write(store, { type: 'delete', id, expect: 'any' });
      const after = await store.head();
      await write(store, put(later));
      const end = (await store.head()).revision;

      expect(await store.purgeTombstones(3_600_000)).toBe(0);
      const still = new WatchReader(other, before);
      await still.reach(end);
      expect(still.names()).toEqual([`-${id.name}`, later.name]);

      expect(await store.purgeTombstones(0)).toBeGreaterThan(0);
      expect((await store.snapshot()).tombstones).toEqual([]);
      await expect(new WatchReader(other, before).next()).rejects.toEqual(new RelistRequired('too-old'));
      expect(await other.compactionRevision()).toBe(after.revision);
      const fresh = new WatchReader(other, after);
      await fresh.reach(end);
      expect(fresh.names()).toEqual([later.name]);

      // A reader that watched all the time has seen the event and continues.
      await write(store, put(later, { n: 2 }));
      await still.reach(end + 1);
      expect(still.batches.at(-1)?.compactionRevision).toBe(after.revision);
      await Promise.all([still.close(), fresh.close()]);
    });

    it('of another incarnation, or the future, makes a reader list again', async () => {
      const { store } = world();
      const here = await store.head();
      await expect(new WatchReader(store, { ...here, incarnation: 'another' }).next()).rejects.toEqual(
        new RelistRequired('incarnation'),
      );
      await expect(new WatchReader(store, { ...here, revision: here.revision + 1 }).next()).rejects.toEqual(
        new RelistRequired('incarnation'),
      );
    });

    it('leaves the key of resume points as it was', async () => {
      const { store, other } = world();
      const key = await store.pointKey();
      expect(key.length).toBeGreaterThan(30);
      await store.newIncarnation();
      expect([await store.pointKey(), await other.pointKey()]).toEqual([key, key]);
    });

    it('ends for every reader when a new incarnation begins, also in the middle of a watch', async () => {
      const { store, other } = world();
      const made = await writeOne(store, put(freshId()));
      const copied = await writeOne(
        store,
        put(freshId(), {}, { copy: { ...made, uid: 'u', origin: { ...made.origin, incarnation: 'far' } } }),
      );
      const old = await store.head();
      const [near, far] = [new WatchReader(store, old), new WatchReader(other, old)];
      const waiting = Promise.allSettled([near.next(), far.next()]);
      const begun = await store.newIncarnation();
      expect(begun.incarnation).not.toBe(old.incarnation);
      expect(begun.revision).toBeGreaterThan(old.revision + 1000);
      expect(await other.head()).toEqual(begun);
      expect(await waiting).toEqual([
        { status: 'rejected', reason: new RelistRequired('incarnation') },
        { status: 'rejected', reason: new RelistRequired('incarnation') },
      ]);
      // A resource made here has the current incarnation; a copy has its origin's.
      expect((await store.get(made.id))?.origin.incarnation).toBe(begun.incarnation);
      expect((await store.get(copied.id))?.origin.incarnation).toBe('far');
      const { point } = await other.snapshot();
      expect(point).toEqual(begun);
    });
  });
}
