import type { Resource } from '@causeway/resources';
import { yieldToEventLoop } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { matchesLabels } from './label-selector';
import type { PageRequest, Selection } from './list-query';
import { compareSortKeys, type SortedIndex, type SortKey, type ListEntry } from './sorted-index';

/** Resources that a search looks at in a turn of the event loop. */
const SCANNED_IN_A_TURN = 5_000;

/** One page of a list. */
export interface ListPage {
  /** How many resources the selection has in all. */
  readonly total: number;
  readonly resources: readonly Resource[];
  /** Whether something follows. */
  readonly more: boolean;
}

/** A few resources of a list; `last` is the place to go on behind, undefined at the end. */
export interface ListChunk {
  readonly resources: readonly Resource[];
  readonly last: SortKey | undefined;
}

/** What a list is of: a kind, in one mesh or (undefined) in all. */
export interface ListScope {
  readonly kind: string;
  readonly mesh: string | undefined;
  readonly selection: Selection;
}

/** True when `resource` is one that the selection is about. */
export function isSelected(resource: Resource, { name, namespace, zone, labels }: Selection): boolean {
  const { id } = resource;
  return (
    (name === undefined || id.name.includes(name)) &&
    (namespace === undefined || id.namespace === namespace) &&
    (zone === undefined || id.zone === zone) &&
    (labels.length === 0 || matchesLabels(resource, labels))
  );
}

/** Lists from the in-memory index: sorted by mesh, name, zone, namespace, so pages are stable. */
export class Lister {
  constructor(
    private readonly index: IndexReader,
    private readonly orders: SortedIndex,
  ) {}

  /** One page of what `of` selects; a long search goes in slices, and rejects when the signal aborts. */
  async page(of: ListScope, { size, start }: PageRequest, life: () => AbortSignal): Promise<ListPage> {
    const entries = await this.places(of, life);
    const from = start.type === 'offset' ? start.offset : start.place ? firstAfter(entries, start.place) : 0;
    const resources = entries.slice(from, from + size).flatMap((place) => this.index.byIdentityKey(place.key) ?? []);
    return { total: entries.length, resources, more: from + size < entries.length };
  }

  /** The next few of what `of` selects behind a place: looks at no more than `most` resources. */
  next(of: ListScope, after: SortKey | undefined, most: number): ListChunk {
    const all = this.orders.of(of.kind);
    const from = after ? firstAfter(all, after) : of.mesh === undefined ? 0 : firstOfMesh(all, of.mesh);
    const seen = all.slice(from, from + most).filter(({ id }) => of.mesh === undefined || id.mesh === of.mesh);
    const resources = seen.flatMap((place) => this.index.byIdentityKey(place.key) ?? []);
    const last = seen.length < most ? undefined : seen.at(-1)?.id;
    return { resources: resources.filter((resource) => isSelected(resource, of.selection)), last };
  }

  /** Resolves when `next` and what is listed of a kind need no long sort. */
  ready(kind: string, life: () => AbortSignal): Promise<void> {
    return this.orders.ready(kind, life);
  }

  private async places({ kind, mesh, selection }: ListScope, life: () => AbortSignal): Promise<readonly ListEntry[]> {
    await this.ready(kind, life);
    const all = this.orders.of(kind);
    const inMesh = mesh === undefined ? all : all.slice(firstOfMesh(all, mesh), firstAfterMesh(all, mesh));
    if (isEverything(selection)) return inMesh;
    const found: ListEntry[] = [];
    for (let from = 0; from < inMesh.length; from += SCANNED_IN_A_TURN) {
      if (from > 0) {
        await yieldToEventLoop();
        life().throwIfAborted();
      }
      for (const place of inMesh.slice(from, from + SCANNED_IN_A_TURN)) {
        const resource = this.index.byIdentityKey(place.key);
        if (resource && isSelected(resource, selection)) found.push(place);
      }
    }
    return found;
  }
}

function isEverything({ name, namespace, zone, labels }: Selection): boolean {
  return name === undefined && namespace === undefined && zone === undefined && labels.length === 0;
}

function firstOfMesh(places: readonly ListEntry[], mesh: string): number {
  return firstWhere(places, (place) => place.id.mesh >= mesh);
}

function firstAfterMesh(places: readonly ListEntry[], mesh: string): number {
  return firstWhere(places, (place) => place.id.mesh > mesh);
}

function firstAfter(places: readonly ListEntry[], key: SortKey): number {
  return firstWhere(places, (place) => compareSortKeys(place.id, key) > 0);
}

/** The first position that `isPast` holds for, in a list where it holds for all that follow. */
function firstWhere(places: readonly ListEntry[], isPast: (place: ListEntry) => boolean): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place && isPast(place)) high = middle;
    else low = middle + 1;
  }
  return low;
}
