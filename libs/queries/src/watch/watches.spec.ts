import { coreKinds } from '@causeway/kinds';
import { Unavailable, type Resource } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { ResourceIndex } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { ReadYourWrites } from '../list/read-your-writes';
import { Lister } from '../list/lister';
import { SortedIndex } from '../list/sorted-index';
import { ResourceJson } from '../list/resource-json';
import { BookmarkedEvents, EncodedPuts, encodeResumePoint, type EventEncoder, type WatchSink } from './watch-event';
import { DEFAULT_WATCH_LIMITS, Watches, type WatchLimits, type WatchRequest } from './watches';
import { meshesOf } from '../../../../test/support/meshes';

/** An encoder whose events a test can read: `event`, `id` and `data` on lines of their own. */
function textEncoder(): EventEncoder {
  const json = new ResourceJson(coreKinds);
  const text = (event: string, data: string, id = ''): string => `event: ${event}\n${id}data: ${data}\n\n`;
  const puts = new EncodedPuts((resource) => Buffer.from(text('put', json.listed(resource))));
  const bookmarks = new BookmarkedEvents((point) => text('bookmark', '{}', `id: ${encodeResumePoint(point)}\n`));
  return {
    put: (resource) => puts.of(resource),
    deleted: ({ name }) => text('delete', name),
    bookmark: (point) => bookmarks.of(point),
    bookmarked: (event, point) => bookmarks.behind(event, point),
    relist: text('relist', '{}'),
    heartbeat: ': heartbeat\n\n',
  };
}

/** One for all readers, as each transport has one. */
const encoder = textEncoder();

/** A reader that reads everything, or nothing. */
class Reader implements WatchSink {
  readonly encoder = encoder;
  readonly written: (string | Buffer)[] = [];
  ended: 'soft' | 'hard' | undefined;
  private readonly leaving = new AbortController();
  readonly gone = this.leaving.signal;

  constructor(private readonly reads: boolean) {}

  open(): void {}

  write(chunk: string | Buffer): boolean {
    this.written.push(chunk);
    return this.reads;
  }

  drained(): void {}

  end(hard: boolean): void {
    this.ended = hard ? 'hard' : 'soft';
  }

  leave(): void {
    this.leaving.abort();
  }

  get events(): string[] {
    return this.written.map((chunk) => /^event: (.*)$/m.exec(String(chunk).slice(0, 100))?.[1] ?? '');
  }
}

const MEGABYTE = 1_000_000;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function settled(turns = 50): Promise<void> {
  for (let i = 0; i < turns; i++) await turn();
}

function service(name: string, revision: number, size = 10): Resource {
  return {
    id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name },
    uid: name,
    labels: { filler: `${revision}-`.padEnd(size, 'x') },
    spec: {},
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    revision,
    freed: [],
    origin: { incarnation: 'i', revision, committedAt: 0 },
  };
}

const requestOf = (client = '127.0.0.1'): WatchRequest => ({
  scope: {
    kind: 'MeshService',
    mesh: undefined,
    selection: { name: undefined, namespace: undefined, zone: undefined, labels: [] },
  },
  client,
});

describe('Watches', () => {
  let watches: Watches;
  let index: ResourceIndex;
  let revision: number;
  const readers: Reader[] = [];
  const serving: Promise<unknown>[] = [];

  const setUp = (resources: readonly Resource[] = [], limits: Partial<WatchLimits> = {}): void => {
    const [clock, store] = [new FakeClock(), new MemoryStore(new MemoryDisk())];
    index = new ResourceIndex();
    const sources = { index, meshes: meshesOf(index), store, clock, limits: { ...DEFAULT_WATCH_LIMITS, ...limits } };
    const sorted = new SortedIndex(index);
    sorted.follow();
    watches = new Watches({
      ...sources,
      lister: new Lister(index, sorted),
      readYourWrites: new ReadYourWrites(index, store, { clock, timeout: 1 }),
    });
    revision = resources.length + 1;
    index.load({ point: { incarnation: 'i', revision }, resources, tombstones: [] });
  };
  const watch = async (reads: boolean, client?: string): Promise<Reader> => {
    const reader = new Reader(reads);
    readers.push(reader);
    const served = watches.serve(requestOf(client), reader);
    serving.push(served.catch(() => undefined));
    await Promise.race([served, turn()]);
    return reader;
  };
  const change = (name: string, size = 10): void =>
    index.apply({ revision: ++revision, changes: [{ type: 'put', resource: service(name, revision, size) }] });
  /** Returns the bytes in memory for all unread watches: each buffer counts once, however many hold it. */
  const inMemory = (): number => {
    const stuck = readers.filter(({ ended }) => ended === undefined).flatMap(({ written }) => written.slice(-1));
    return [...new Set(stuck)].reduce((sum, chunk) => sum + chunk.length, 0);
  };
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.leave();
    await Promise.all(serving.splice(0));
    expect(watches.metrics()).toMatchObject({ open: 0, bytes: 0 });
  });

  it('give 400 readers of a change one buffer, and forget it when they go', async () => {
    setUp();
    for (let i = 0; i < 400; i++) await watch(true);
    await settled();
    change('big', MEGABYTE);
    await settled(500);
    const buffers = readers.map(({ written }) => written.find((chunk) => Buffer.isBuffer(chunk)));
    expect([new Set(buffers).size, buffers[0]?.length]).toEqual([1, expect.any(Number)]);
    expect(watches.metrics()).toMatchObject({ open: 400, bytes: 0 });
  });

  it('hold no more than their bound for 400 that never read, whatever version each is stuck at', async () => {
    const bound = 20 * MEGABYTE;
    setUp([], { allWatchBytes: bound });
    const reader = await watch(true);
    let most = 0;
    for (let i = 0; i < 400; i++) {
      await watch(false);
      if (i % 4 === 0) change('big', MEGABYTE);
      await turn();
      most = Math.max(most, watches.metrics().bytes);
      expect(inMemory()).toBeLessThanOrEqual(bound + 2 * MEGABYTE);
    }
    await settled();
    expect([most > bound / 2, most <= bound]).toEqual([true, true]);
    expect(watches.metrics().ended.memory).toBeGreaterThan(200);
    expect(reader.events.filter((event) => event === 'put')).toHaveLength(100);
    expect(reader.ended).toBeUndefined();
  });

  it('hold nothing of the content of what a reader has not asked for yet', async () => {
    setUp(Array.from({ length: 50 }, (_, i) => service(`s${i}`, i, MEGABYTE)));
    for (let i = 0; i < 20; i++) await watch(false);
    await settled();
    for (let i = 0; i < 50; i++) change(`s${i}`, MEGABYTE);
    await settled();
    expect(readers.map(({ written }) => written.length)).toEqual(readers.map(() => 1));
    expect(watches.metrics().bytes).toBeLessThan(2 * MEGABYTE);
  });

  it('send relist to a reader that lags behind too many bytes of changes', async () => {
    setUp([], { watchBytes: 2_000 });
    const reader = await watch(true);
    await turn();
    const changes = Array.from({ length: 20 }, (_, i) => ({
      type: 'put' as const,
      resource: service(`s${i}`, revision + 1),
    }));
    index.apply({ revision: ++revision, changes });
    await settled();
    expect([reader.events.at(-1), watches.metrics().ended.backlog]).toEqual(['relist', 1]);
  });

  it('send the deletion of a resource that is deleted while its list is sent', async () => {
    setUp(Array.from({ length: 1_200 }, (_, i) => service(`s${i}`, i)));
    const reader = await watch(true);
    const { id } = service('s999', 1);
    index.apply({
      revision: ++revision,
      changes: [{ type: 'delete', tombstone: { id, revision, deletedAt: 0, freed: [] } }],
    });
    await settled();
    expect(reader.events.filter((event) => event === 'put').length).toBeGreaterThanOrEqual(1_199);
    expect(reader.events.slice(-2)).toEqual(['delete', 'bookmark']);
  });

  it('are bounded for each client', async () => {
    setUp([], { watchesPerClient: 2 });
    await watch(true, '10.0.0.1');
    const second = await watch(true, '10.0.0.1');
    await watch(true, '10.0.0.2');
    const refused = new Reader(true);
    await expect(watches.serve(requestOf('10.0.0.1'), refused)).rejects.toThrow(Unavailable);
    second.leave();
    await settled();
    await watch(true, '10.0.0.1');
    expect(watches.metrics().open).toBe(3);
  });
});
