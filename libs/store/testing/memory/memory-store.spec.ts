import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from './memory-disk';
import { MemoryStore } from './memory-store';

const id = { kind: 'Thing', mesh: 'default', zone: '', namespace: '', name: 'a' };
const put = { type: 'put', id, expect: 'any', labels: {}, spec: { n: 1 } } as const;

function numberedIds(): () => string {
  let made = 0;
  return () => `id-${++made}`;
}

describe('MemoryStore', () => {
  it('is deterministic: time and ids are injected', async () => {
    const store = new MemoryStore(new MemoryDisk({ clock: new FakeClock(5), newId: numberedIds() }));
    await store.write({ changes: [put], onRefusal: 'abort' });
    expect(await store.get(id)).toEqual({
      id,
      uid: 'id-2',
      labels: {},
      spec: { n: 1 },
      generation: 1,
      creationOrder: 5001,
      createdAt: 5,
      modifiedAt: 5,
      revision: 1,
      origin: { incarnation: 'id-1', revision: 1, committedAt: 5 },
      freed: [],
    });
  });

  it('keeps its disk when a handle closes', async () => {
    const disk = new MemoryDisk();
    const first = new MemoryStore(disk);
    await first.write({ changes: [put], onRefusal: 'abort' });
    await first.close();
    await expect(first.get(id)).rejects.toThrow('closed');
    expect((await new MemoryStore(disk).get(id))?.spec).toEqual({ n: 1 });
  });

  it('throws while away, and its watches continue afterwards', async () => {
    const disk = new MemoryDisk();
    const [near, far] = [new MemoryStore(disk), new MemoryStore(disk)];
    const watch = far.watch(await far.head(), new AbortController().signal)[Symbol.asyncIterator]();
    far.setAway(true);
    await expect(far.head()).rejects.toThrow('away');
    const next = watch.next();
    await near.write({ changes: [put], onRefusal: 'abort' });
    far.setAway(false);
    expect((await next).value.revision).toBe(1);
    await far.close();
    expect((await watch.next()).done).toBe(true);
  });

  it('restores a backup as a new incarnation', async () => {
    const store = new MemoryStore();
    await store.write({ changes: [put], onRefusal: 'abort' });
    const backup = store.disk.save();
    const before = await store.head();
    await store.write({ changes: [{ ...put, spec: { n: 2 } }], onRefusal: 'abort' });
    store.disk.restore(backup);
    expect((await store.get(id))?.spec).toEqual({ n: 1 });
    const after = await store.head();
    expect(after.revision).toBeGreaterThan(before.revision);
    expect(after.incarnation).not.toBe(before.incarnation);
  });
});
