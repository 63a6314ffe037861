import {
  isJsonObject,
  Unavailable,
  type Identity,
  type Registry,
  type Resource,
  type StorePoint,
} from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { ResourceIndex, ResourceStore } from '@causeway/store';
import type { RestLimits } from '../dependencies';
import { header, placeOf, queryOf, type Call } from '../http/call';
import type { Freshness } from '../read/freshness';
import { isSelected, type Lister, type ListOf } from '../read/lister';
import { readSelection } from '../read/list-query';
import { watchParameters } from '../read/read-parameters';
import { requireMesh } from '../read/require-mesh';
import type { ResourceTexts } from '../read/resource-text';
import { changesBetween, tooOld } from './catch-up';
import { parseEventId } from './event-frames';
import { PendingChanges, type Told } from './pending-changes';
import type { Sink } from './sink';
import { Watch, type Beginning } from './watch';

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

interface Wanted extends ListOf {
  readonly since: ReturnType<typeof parseEventId>;
}

/** True when a list is asked for as a stream of events. */
export function wantsWatch({ query }: Call): boolean {
  return isJsonObject(query) && query['watch'] === 'true';
}

/** Opens and keeps the watches of this server; bounded in number. */
export class Watches {
  private readonly open = new Set<Watch>();

  constructor(private readonly parts: WatchesParts) {}

  /**
   * Streams events to `sink` until the reader goes or `close`. Throws before anything is sent: 400 for a bad query,
   * 404 for kind or mesh, 410 when it has to list again, 503 when too many watch.
   */
  async serve(call: Call, sink: Sink): Promise<void> {
    const wanted = await this.read(call);
    if (this.open.size >= this.parts.limits.watches)
      throw new Unavailable(`${this.open.size} watches are open here, more are not taken`);
    const pending = new PendingChanges((resource) => fits(resource, wanted));
    const watch = new Watch(sink, pending, wanted.kind, this.parts);
    this.open.add(watch);
    const timer = this.parts.clock.after(this.parts.limits.watchTime, () => watch.end('closed'));
    const unsubscribe = this.parts.index.subscribe((event) => watch.note(event));
    try {
      const beginning = await this.beginning(wanted, sink.gone);
      sink.open(headersAt(beginning.point));
      if (call.method === 'HEAD') return sink.end(false);
      await watch.run(beginning);
    } finally {
      timer.cancel();
      unsubscribe();
      this.open.delete(watch);
    }
  }

  /** Ends all watches. */
  close(): void {
    for (const watch of this.open) watch.end('closed');
  }

  private async read(call: Call): Promise<Wanted> {
    const { kind, mesh } = placeOf(call, this.parts.registry, false);
    const query = queryOf(call, watchParameters(kind));
    query.flag('watch');
    const selection = readSelection(query);
    const text = header(call, 'last-event-id') ?? query.text('since');
    const since = text === undefined || text === '' ? undefined : parseEventId(text);
    if (text && !since) query.refuse('since', `must be a revision or the id of an event; got "${text}"`);
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

  private async beginning(wanted: Wanted, stop: AbortSignal): Promise<Beginning> {
    const { index, lister, store } = this.parts;
    const point = index.point ?? { incarnation: '', revision: 0 };
    const { since } = wanted;
    if (!since) return { told: allOf(lister, wanted), point };
    if (since.incarnation !== undefined && since.incarnation !== point.incarnation)
      throw tooOld('the store began a new life');
    if (since.revision >= point.revision) return { told: [], point };
    const past = {
      since: { incarnation: point.incarnation, revision: since.revision },
      until: point.revision,
      isWanted: (id: Identity) => id.kind === wanted.kind && (wanted.mesh === undefined || id.mesh === wanted.mesh),
      isSelected: (resource: Resource) => isSelected(resource, wanted.selection),
    };
    return { told: await changesBetween(store, past, stop), point };
  }
}

function fits(resource: Resource, { mesh, selection }: ListOf): boolean {
  return (mesh === undefined || resource.id.mesh === mesh) && isSelected(resource, selection);
}

function allOf(lister: Lister, of: ListOf): Told[] {
  const { resources } = lister.page(of, { size: Infinity, start: { type: 'offset', offset: 0 } });
  return resources.map((resource) => ({ type: 'put', resource }));
}

function headersAt(point: StorePoint): Record<string, string> {
  return {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'causeway-revision': String(point.revision),
  };
}
