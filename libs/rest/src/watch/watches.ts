import { isJsonObject, Unavailable, type Registry, type Resource, type StorePoint } from '@causeway/resources';
import { nextTurn, type Clock } from '@causeway/runtime';
import type { ResourceIndex, ResourceStore } from '@causeway/store';
import type { RestLimits } from '../dependencies';
import { header, placeOf, queryOf, type Call } from '../http/call';
import { clipped } from '../http/clipped';
import { Gate } from '../http/gate';
import type { Freshness } from '../read/freshness';
import { isSelected, type Lister, type ListOf } from '../read/lister';
import { readSelection } from '../read/list-query';
import type { OrderKey } from '../read/ordered-kinds';
import { watchParameters } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import type { ResourceTexts } from '../read/resource-text';
import { changesBetween, tooOld } from './catch-up';
import { EventFrames, parseEventId } from './event-frames';
import type { Sink } from './sink';
import { Watch, type Beginning, type Slowness, type WatchParts } from './watch';
import { WatchMemory } from './watch-memory';
import { WritePace } from './write-pace';

/** What watches work with. */
export interface WatchesParts {
  readonly registry: Registry;
  readonly index: ResourceIndex;
  readonly store: ResourceStore;
  readonly lister: Lister;
  readonly texts: ResourceTexts;
  readonly freshness: Freshness;
  readonly clock: Clock;
  readonly limits: RestLimits;
}

/** What the watches of a server come to. */
export interface WatchFigures {
  readonly open: number;
  /** Bytes held for readers that have not taken them. */
  readonly bytes: number;
  /** Readers that were ended because they were too slow, by why. */
  readonly ended: Readonly<Record<Slowness, number>>;
}

interface Wanted extends ListOf {
  readonly since: ReturnType<typeof parseEventId>;
}

/** Resources that the beginning of a watch looks at in a turn of the event loop. */
const STRETCH = 500;

/** Readers that ask the store for the past at once: each costs a stream of it. */
const CATCHING_UP = { most: 4, waiting: 1_000 } as const;

/** True when a list is asked for as a stream of events. */
export function wantsWatch({ query }: Call): boolean {
  return isJsonObject(query) && query['watch'] === 'true';
}

/** Opens and keeps the watches of this server; bounded in number, also for each client, and in bytes. */
export class Watches {
  private readonly open = new Set<Watch>();
  private readonly clients = new Map<string, number>();
  private readonly ended: Record<Slowness, number> = { stall: 0, backlog: 0, memory: 0 };
  private readonly memory: WatchMemory;
  private readonly catchingUp = new Gate(CATCHING_UP);
  private readonly watchParts: WatchParts;

  constructor(private readonly parts: WatchesParts) {
    const { clock, limits, index, texts } = parts;
    this.memory = new WatchMemory(limits.allWatchBytes, () => this.shed());
    this.watchParts = {
      ...{ clock, limits, memory: this.memory, pace: new WritePace(), frames: new EventFrames(texts) },
      resourceAt: (key) => index.byIdentityKey(key),
    };
  }

  /** What is open and held now. */
  figures(): WatchFigures {
    return { open: this.open.size, bytes: this.memory.bytes, ended: { ...this.ended } };
  }

  /**
   * Streams events to `sink` until the reader goes or `close`. Throws before anything is sent: 400 for a bad query,
   * 404 for kind or mesh, 410 when it has to list again, 503 when too many watch.
   */
  async serve(call: Call, sink: Sink): Promise<void> {
    const wanted = await this.read(call);
    const leave = this.enter(call.socket.remoteAddress ?? '');
    const watch = new Watch(sink, { kind: wanted.kind, isSelected: (one) => fits(one, wanted) }, this.watchParts);
    this.open.add(watch);
    const timer = this.parts.clock.after(this.parts.limits.watchTime, () => watch.end('closed'));
    const unsubscribe = this.parts.index.subscribe((event) => watch.note(event));
    try {
      const beginning = await this.beginning(wanted, watch, sink.gone);
      sink.open(headersAt(beginning.point));
      if (call.method === 'HEAD') return sink.end(false);
      await watch.run(beginning);
    } finally {
      timer.cancel();
      unsubscribe();
      watch.end('closed');
      this.open.delete(watch);
      if (watch.slow !== undefined) this.ended[watch.slow]++;
      leave();
    }
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.open) watch.end('closed');
  }

  /** Counts a client's watch until the returned function is called. */
  private enter(client: string): () => void {
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
  private shed(): void {
    const slowest = [...this.open].sort((a, b) => b.bytes - a.bytes || a.stuckSince - b.stuckSince);
    for (const watch of slowest) {
      if (this.memory.bytes <= this.memory.most || watch.bytes === 0) return;
      watch.giveUp('memory');
    }
  }

  private async read(call: Call): Promise<Wanted> {
    const { kind, mesh } = placeOf(call, this.parts.registry, false);
    const query = queryOf(call, watchParameters(kind));
    query.flag('watch');
    const selection = readSelection(query);
    const text = header(call, 'last-event-id') ?? query.text('since');
    const since = text === undefined || text === '' ? undefined : parseEventId(text);
    if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${clipped(text)}"`);
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
    if ((await this.parts.store.head()).revision < revision) throw tooOld('the store never was at that revision');
    await this.parts.freshness.wait(revision);
  }

  private async beginning(wanted: Wanted, watch: Watch, stop: AbortSignal): Promise<Beginning> {
    const { index, lister } = this.parts;
    const point = index.point ?? { incarnation: '', revision: 0 };
    const { since } = wanted;
    if (!since) {
      await lister.ready(wanted.kind, () => stop);
      return { first: allOf(lister, wanted), point };
    }
    if (since.incarnation !== undefined && since.incarnation !== point.incarnation)
      throw tooOld('the store began a new life');
    if (since.revision < point.revision) await this.catchUp(wanted, { since: since.revision, point }, watch, stop);
    return { point };
  }

  private async catchUp(
    { kind, mesh }: Wanted,
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
      if (!watch.past(id)) throw tooOld('more changed since then than is told one by one');
    };
    await this.catchingUp.run(() => changesBetween(this.parts.store, past, note, stop), stop);
  }
}

function fits(resource: Resource, { mesh, selection }: ListOf): boolean {
  return (mesh === undefined || resource.id.mesh === mesh) && isSelected(resource, selection);
}

/** All of a list as it stands when its turn comes, a few at a time: nothing of it is held for readers that are slow. */
async function* allOf(lister: Lister, of: ListOf): AsyncGenerator<Resource> {
  let after: OrderKey | undefined;
  do {
    const { resources, last } = lister.next(of, after, STRETCH);
    yield* resources;
    after = last;
    if (after) await nextTurn();
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
