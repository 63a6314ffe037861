import { compareIdentities, identityKey, type Resource } from '@causeway/resources';
import { ResourceIndex } from '../../src/resource-index';
import type { ResourceStore, StoreChange } from '../../src/resource-store';
import { freshId, held, put, WatchReader, write, type StoreFixture } from './store-fixture';

/** Guarantees 2 and 3: one order of revisions that a reader can trust, and a watch from any of them. */
export function describeWatching(world: () => StoreFixture): void {
  describe('a watch', () => {
    it('yields the changes since its revision, each resource once, deletions included', async () => {
      const { store, other } = world();
      const [a, b, c] = [freshId(), freshId(), freshId()];
      await write(store, put(a), put(b));
      const since = await store.head();
      await write(store, put(c));
      await write(store, put(c, { n: 2 }));
      await write(store, { type: 'delete', id: a, expect: 'any' });
      const watching = new WatchReader(other, since);
      await watching.reach((await store.head()).revision);
      expect(watching.names()).toEqual([c.name, `-${a.name}`]);
      const [first] = watching.batches.flatMap(({ changes }) => changes);
      expect(first).toEqual({ type: 'put', resource: await held(store, c) });
      expect(await watching.close()).toBe(true);
    });

    it('waits for new changes, of its own process and of others', async () => {
      const { store, other } = world();
      const [a, b] = [freshId(), freshId()];
      const watching = new WatchReader(store, await store.head());
      const first = watching.next();
      await write(other, put(a));
      await first;
      const second = watching.next();
      await write(store, put(b));
      await second;
      expect(watching.names()).toEqual([a.name, b.name]);
      await watching.close();
    });

    it('begins anywhere: from each revision exactly the later changes follow', async () => {
      const { store } = world();
      const begin = await store.head();
      const ids = [freshId(), freshId(), freshId()];
      for (const id of ids) await write(store, put(id));
      const end = (await store.head()).revision;
      for (let skipped = 0; skipped < ids.length; skipped++) {
        const watching = new WatchReader(store, { ...begin, revision: begin.revision + skipped });
        await watching.reach(end);
        expect(watching.names()).toEqual(ids.slice(skipped).map((id) => id.name));
        await watching.close();
      }
    });

    it('never shows a revision before everything up to it', async () => {
      const { store, other } = world();
      const begin = await store.head();
      const watching = new WatchReader(store, begin);
      const seen = new Map<string, number>();
      const acknowledged: { readonly name: string; readonly revision: number }[] = [];
      let writing = true;
      const writers = [store, other, store, other].map((one) => writeMany(one, acknowledged));
      const reading = (async () => {
        while (writing || (watching.batches.at(-1)?.revision ?? 0) < (await store.head()).revision) {
          const { revision, changes } = await watching.next();
          for (const change of changes) remember(seen, change);
          for (const ack of acknowledged) {
            if (ack.revision <= revision) expect(seen.get(ack.name)).toBeGreaterThanOrEqual(ack.revision);
          }
        }
      })();
      await Promise.all(writers);
      writing = false;
      await write(store, put(freshId()));
      await reading;
      const revisions = watching.batches.map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].sort((x, y) => x - y));
      expect(acknowledged).toHaveLength(4 * 25);
      await watching.close();
    });

    it('and a snapshot make an index equal to the store', async () => {
      const { store, other } = world();
      const index = new ResourceIndex();
      index.load(await store.snapshot());
      const watching = new WatchReader(other, index.point ?? (await store.head()));
      const ids = Array.from({ length: 30 }, () => freshId());
      await write(store, ...ids.map((id) => put(id)));
      for (const id of ids.slice(0, 10)) await write(other, { type: 'delete', id, expect: 'any' });
      await write(store, ...ids.slice(5, 15).map((id) => put(id, { again: true })));
      await watching.reach((await store.head()).revision);
      for (const batch of watching.batches) index.apply(batch);
      const { point, resources, tombstones } = await store.snapshot();
      expect(index.point).toEqual(point);
      expect(sorted(index.ofKind('Thing'))).toEqual(sorted(resources.filter((one) => one.id.kind === 'Thing')));
      expect(new Set([...index.tombstones()].map((one) => identityKey(one.id)))).toEqual(
        new Set(tombstones.map((one) => identityKey(one.id))),
      );
      await watching.close();
    });

    it('ends with its signal, also while it waits', async () => {
      const { store } = world();
      const watching = new WatchReader(store, await store.head());
      const waiting = watching.next();
      expect(await watching.close()).toBe(true);
      await expect(waiting).rejects.toThrow('ended');
    });
  });
}

async function writeMany(store: ResourceStore, done: { name: string; revision: number }[]): Promise<void> {
  const ids = Array.from({ length: 5 }, () => freshId());
  for (let n = 0; n < 25; n++) {
    const id = ids[n % ids.length] ?? freshId();
    const { results } = await store.write({ changes: [put(id, { n })], onRefusal: 'abort' });
    for (const result of results)
      if (result.type === 'written') done.push({ name: id.name, revision: result.revision });
  }
}

function remember(seen: Map<string, number>, change: StoreChange): void {
  const { id, revision } = change.type === 'put' ? change.resource : change.tombstone;
  seen.set(id.name, revision);
}

function sorted(resources: Iterable<Resource>): Resource[] {
  return [...resources].sort((a, b) => compareIdentities(a.id, b.id));
}
