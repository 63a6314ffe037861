import { isJsonObject, Unavailable, type Registry, type Resource, type StorePoint } from '@causeway/resources';
import { yieldToEventLoop, type Clock } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { RestLimits } from '../rest-dependencies';
import { header, kindInPath, queryOf, type RestRequest } from '../http/rest-request';
import { truncated } from '../http/truncated';
import { Gate } from '../http/gate';
import type { Freshness } from '../read/freshness';
import { isSelected, type Lister, type ListScope } from '../read/lister';
import { readSelection } from '../read/list-query';
import type { SortKey } from '../read/sorted-index';
import { watchParameters } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import type { ResourceJson } from '../read/resource-json';
import { replayChanges, watchExpired } from './replay';
import { EventFrames, parseEventId } from './event-frames';
import type { WatchSink } from './sink';
import { Watch, type WatchStart, type SlowReason, type WatchParts } from './watch';
import { WatchMemory } from './watch-memory';
import { WritePacer } from './write-pacer';

/** What watches work with. */
export interface WatchesParts {
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly store: ResourceStore;
  readonly lister: Lister;
  readonly texts: ResourceJson;
  readonly freshness: Freshness;
  readonly clock: Clock;
  readonly limits: RestLimits;
}

/** What the watches of a server come to. */
export interface WatchMetrics {
  readonly open: number;
  /** Bytes held for readers that have not taken them. */
  readonly bytes: number;
  /** Readers that were ended because they were too slow, by why. */
  readonly ended: Readonly<Record<SlowReason, number>>;
}

interface WatchRequest extends ListScope {
  readonly since: ReturnType<typeof parseEventId>;
}

/** Resources that the beginning of a watch looks at in a turn of the event loop. */
const LIST_CHUNK = 500;

/** Readers that ask the store for the past at once: each costs a stream of it. */
const REPLAY_LIMITS = { most: 4, waiting: 1_000 } as const;

/** True when a list is asked for as a stream of events. */
export function wantsWatch({ query }: RestRequest): boolean {
  return isJsonObject(query) && query['watch'] === 'true';
}

/** Opens and keeps the watches of this server; bounded in number, also for each client, and in bytes. */
export class Watches {
  private readonly open = new Set<Watch>();
  private readonly clients = new Map<string, number>();
  private readonly ended: Record<SlowReason, number> = { stall: 0, backlog: 0, memory: 0 };
  private readonly memory: WatchMemory;
  private readonly replaying = new Gate(REPLAY_LIMITS);
  private readonly watchParts: WatchParts;

  constructor(private readonly parts: WatchesParts) {
    const { clock, limits, index, texts } = parts;
    this.memory = new WatchMemory(limits.allWatchBytes, () => this.shedSlowest());
    this.watchParts = {
      ...{ clock, limits, memory: this.memory, pace: new WritePacer(), frames: new EventFrames(texts) },
      resourceAt: (key) => index.byIdentityKey(key),
    };
  }

  /** What is open and held now. */
  metrics(): WatchMetrics {
    return { open: this.open.size, bytes: this.memory.bytes, ended: { ...this.ended } };
  }

  /**
   * Streams events to `sink` until the reader goes or `close`. Throws before anything is sent: 400 for a bad query,
   * 404 for kind or mesh, 410 when it has to list again, 503 when too many watch.
   */
  async serve(call: RestRequest, sink: WatchSink): Promise<void> {
    const wanted = await this.read(call);
    const leave = this.admitClient(call.socket.remoteAddress ?? '');
    const watch = new Watch(sink, { kind: wanted.kind, isSelected: (one) => isInScope(one, wanted) }, this.watchParts);
    this.open.add(watch);
    const timer = this.parts.clock.after(this.parts.limits.watchTime, () => watch.end('closed'));
    const unsubscribe = this.parts.index.subscribe((event) => watch.note(event));
    try {
      const start = await this.beginning(wanted, watch, sink.gone);
      sink.open(headersAt(start.point));
      if (call.method === 'HEAD') return sink.end(false);
      await watch.run(start);
    } finally {
      timer.cancel();
      unsubscribe();
      watch.end('closed');
      this.open.delete(watch);
      if (watch.slowReason !== undefined) this.ended[watch.slowReason]++;
      leave();
    }
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.open) watch.end('closed');
  }

  /** Counts a client's watch until the returned function is called. */
  private admitClient(client: string): () => void {
    const { watches, watchesPerClient } = this.parts.limits;
    const own = this.clients.get(client) ?? 0;
    if (this.open.size >= watches) throw new Unavailable(`${this.open.size} watches are open here, more are not taken`);
    if (own >= watchesPerClient)
      throw new Unavailable(`${own} watches are open here from this address, more are not taken`);
    this.clients.set(client, own + 1);
    return () => {
      const left = (this.clients.get(client) ?? 1) - 1;
      if (left > 0) this.clients.set(client, left);
      else this.clients.delete(client);
    };
  }

  /** Ends the slowest readers, who hold most, and of equals who stand still longest, until little enough is held. */
  private shedSlowest(): void {
    const slowest = [...this.open].sort((a, b) => b.bytes - a.bytes || a.stuckSince - b.stuckSince);
    for (const watch of slowest) {
      if (this.memory.bytes <= this.memory.limit || watch.bytes === 0) return;
      watch.endSlow('memory');
    }
  }

  private async read(call: RestRequest): Promise<WatchRequest> {
    const { kind, mesh } = kindInPath(call, this.parts.registry, false);
    const query = queryOf(call, watchParameters(kind));
    query.flag('watch');
    const selection = readSelection(query);
    const text = header(call, 'last-event-id') ?? query.text('since');
    const since = text === undefined || text === '' ? undefined : parseEventId(text);
    if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${truncated(text)}"`);
    const minRevision = query.integer('minRevision', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) ?? 0;
    query.check();
    await this.parts.freshness.wait(minRevision);
    if (since) await this.waitFor(since.revision);
    if (mesh !== undefined) requireMesh(this.parts.index, mesh);
    return { kind: kind.name, mesh, selection, since };
  }

  /** A point that no store of this life has reached is of another one. */
  private async waitFor(revision: number): Promise<void> {
    if (revision <= this.parts.freshness.revision()) return;
    if ((await this.parts.store.head()).revision < revision) throw watchExpired('the store never was at that revision');
    await this.parts.freshness.wait(revision);
  }

  private async beginning(wanted: WatchRequest, watch: Watch, stop: AbortSignal): Promise<WatchStart> {
    const { index, lister } = this.parts;
    const point = index.point ?? { incarnation: '', revision: 0 };
    const { since } = wanted;
    if (!since) {
      await lister.ready(wanted.kind, () => stop);
      return { first: listAll(lister, wanted), point };
    }
    if (since.incarnation !== undefined && since.incarnation !== point.incarnation)
      throw watchExpired('the store began a new life');
    if (since.revision < point.revision) await this.replay(wanted, { since: since.revision, point }, watch, stop);
    return { point };
  }

  private async replay(
    { kind, mesh }: WatchRequest,
    { since, point }: { readonly since: number; readonly point: StorePoint },
    watch: Watch,
    stop: AbortSignal,
  ): Promise<void> {
    const past = {
      since: { incarnation: point.incarnation, revision: since },
      until: point.revision,
      isWanted: (id: Resource['id']) => id.kind === kind && (mesh === undefined || id.mesh === mesh),
    };
    const note = (id: Resource['id']): void => {
      if (!watch.noteReplayed(id)) throw watchExpired('more changed since then than is told one by one');
    };
    await this.replaying.run(() => replayChanges(this.parts.store, past, note, stop), stop);
  }
}

function isInScope(resource: Resource, { mesh, selection }: ListScope): boolean {
  return (mesh === undefined || resource.id.mesh === mesh) && isSelected(resource, selection);
}

/** All of a list as it stands when its turn comes, a few at a time: nothing of it is held for readers that are slow. */
async function* listAll(lister: Lister, of: ListScope): AsyncGenerator<Resource> {
  let after: SortKey | undefined;
  do {
    const { resources, last } = lister.next(of, after, LIST_CHUNK);
    yield* resources;
    after = last;
    if (after) await yieldToEventLoop();
  } while (after);
}

function headersAt(point: StorePoint): Record<string, string> {
  return {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'causeway-revision': String(point.revision),
  };
}
