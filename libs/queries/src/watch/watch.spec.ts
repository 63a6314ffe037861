import { coreKinds } from '@causeway/kinds';
import { identityKey, type Resource } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import type { IndexChange } from '@causeway/store';
import { ResourceJson } from '../list/resource-json';
import { Watch } from './watch';
import { WatchMemory, WritePacer } from './watch-budget';
import { BookmarkedEvents, EncodedPuts, encodeResumePoint, type EventEncoder, type WatchSink } from './watch-event';

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

/** A reader whose appetite the test decides. */
class FakeSink implements WatchSink {
  readonly encoder = textEncoder();
  readonly written: string[] = [];
  ended: 'soft' | 'hard' | undefined;
  hungry = true;
  private readonly leaving = new AbortController();
  readonly gone = this.leaving.signal;
  private waiting: (() => void)[] = [];

  open(): void {}

  write(chunk: string | Buffer): boolean {
    this.written.push(String(chunk));
    return this.hungry;
  }

  drained(callback: () => void): void {
    this.waiting.push(callback);
  }

  end(hard: boolean): void {
    this.ended = hard ? 'hard' : 'soft';
  }

  eat(): void {
    for (const callback of this.waiting.splice(0)) callback();
  }

  leave(): void {
    this.leaving.abort();
  }
}

const BOUNDS = { heartbeat: 1_000, stall: 5_000, backlog: 3, watchBytes: 10_000 };

function service(name: string, revision = 1): Resource {
  const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name };
  const origin = { incarnation: 'i', revision, committedAt: 0 };
  return {
    id,
    uid: name,
    labels: {},
    spec: {},
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    revision,
    origin,
    freed: [],
  };
}

function change(name: string, revision: number): IndexChange {
  const after = service(name, revision);
  return { key: identityKey(after.id), id: after.id, before: undefined, after };
}

function setUp(): { sink: FakeSink; clock: FakeClock; watch: Watch; tell: (...changes: IndexChange[]) => void } {
  const sink = new FakeSink();
  const clock = new FakeClock();
  const held = new Map<string, Resource>();
  const shared = {
    clock,
    bounds: BOUNDS,
    memory: new WatchMemory(1_000_000, () => undefined),
    pacer: new WritePacer(),
    resourceAt: (key: string) => held.get(key),
  };
  const watch = new Watch(sink, { kind: 'MeshService', isSelected: () => true }, shared);
  let revision = 1;
  const tell = (...changes: IndexChange[]): void => {
    for (const { key, after } of changes) if (after) held.set(key, after);
    watch.record({ point: { incarnation: 'i', revision: ++revision }, reloaded: false, changes });
  };
  return { sink, clock, watch, tell };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const AT_ONE = { point: { incarnation: 'i', revision: 1 } };

describe('Watch', () => {
  it('drops a reader that takes nothing for the stall time', async () => {
    const { sink, clock, watch, tell } = setUp();
    sink.hungry = false;
    const running = watch.run(AT_ONE);
    clock.advance(BOUNDS.stall - 1);
    expect(sink.ended).toBeUndefined();
    tell(change('a', 2));
    clock.advance(1);
    await running;
    expect([sink.ended, sink.written.length]).toEqual(['hard', 1]);
  });

  it('keeps the latest of each resource for a reader that is slow, and nothing else', async () => {
    const { sink, watch, tell } = setUp();
    sink.hungry = false;
    const running = watch.run(AT_ONE);
    for (let i = 2; i < 1_000; i++) tell(change('a', i), change('b', i));
    sink.hungry = true;
    sink.eat();
    await turn();
    expect(sink.written.filter((text) => text.startsWith('event: put'))).toHaveLength(2);
    watch.end('closed');
    await running;
  });

  it('sends relist to a reader with too long a backlog', async () => {
    const { sink, watch, tell } = setUp();
    const running = watch.run(AT_ONE);
    tell(...['a', 'b', 'c', 'd'].map((name) => change(name, 2)));
    await running;
    expect([sink.ended, sink.written.at(-1)]).toEqual(['soft', 'event: relist\ndata: {}\n\n']);
  });

  it('sends relist when the index was reloaded', async () => {
    const { sink, watch } = setUp();
    const running = watch.run(AT_ONE);
    watch.record({ point: { incarnation: 'j', revision: 1 }, reloaded: true, changes: [] });
    await running;
    expect(sink.written.at(-1)).toContain('event: relist');
  });

  it('gives an id only behind all changes of a revision', async () => {
    const { sink, watch, tell } = setUp();
    const running = watch.run(AT_ONE);
    await turn();
    tell(change('a', 2), change('b', 2));
    await turn();
    expect(sink.written.map((text) => /^id: (.*)$/m.exec(text)?.[1])).toEqual(['i.1', undefined, undefined, 'i.2']);
    sink.leave();
    await running;
  });

  it('sends a change and its bookmark as one event to each that waits for it', async () => {
    const [one, other] = [setUp(), setUp()];
    const running = [one, other].map(({ watch }) => watch.run(AT_ONE));
    await turn();
    const [event] = [change('a', 2)];
    for (const { tell } of [one, other]) tell(event);
    await turn();
    const sent = 'event: put\ndata: {"type":"MeshService"';
    for (const { sink } of [one, other]) {
      expect(sink.written).toHaveLength(2);
      expect(sink.written[1]).toContain(sent);
      expect(sink.written[1]).toMatch(/event: bookmark\nid: i\.2\ndata: {}\n\n$/);
      sink.leave();
    }
    await Promise.all(running);
  });

  it('drops a reader that does not take the change it waited for, and goes on when it does', async () => {
    const { sink, clock, watch, tell } = setUp();
    const running = watch.run(AT_ONE);
    await turn();
    sink.hungry = false;
    tell(change('a', 2));
    await turn();
    tell(change('b', 3));
    sink.eat();
    await turn();
    expect(sink.written).toHaveLength(3);
    clock.advance(BOUNDS.stall);
    await running;
    expect([watch.slowReason, sink.ended]).toEqual(['stall', 'hard']);
    expect(clock.pending).toBe(0);
  });

  it('ends with the error of an encoder that fails', async () => {
    const { sink, watch, tell } = setUp();
    const running = watch.run(AT_ONE);
    await turn();
    sink.encoder.bookmarked = () => {
      throw new Error('cannot be encoded');
    };
    tell(change('a', 2));
    await expect(running).rejects.toThrow('cannot be encoded');
  });

  it('sends no heartbeat until the reader was sent nothing for its time', async () => {
    const { sink, clock, watch, tell } = setUp();
    const running = watch.run(AT_ONE);
    await turn();
    clock.advance(BOUNDS.heartbeat / 2);
    tell(change('a', 2));
    await turn();
    clock.advance(BOUNDS.heartbeat / 2);
    await turn();
    expect(sink.written).toHaveLength(2);
    clock.advance(BOUNDS.heartbeat / 2);
    await turn();
    expect(sink.written.at(-1)).toBe(': heartbeat\n\n');
    sink.leave();
    await running;
    expect(clock.pending).toBe(0);
  });

  it('sends a heartbeat after silence, and leaves no timer behind', async () => {
    const { sink, clock, watch } = setUp();
    const running = watch.run(AT_ONE);
    await turn();
    clock.advance(BOUNDS.heartbeat);
    await turn();
    expect(sink.written.at(-1)).toBe(': heartbeat\n\n');
    sink.leave();
    await running;
    expect(clock.pending).toBe(0);
  });
});
