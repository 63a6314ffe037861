import { compareText, identityKey, type Identity } from '@causeway/resources';
import { inSlices, SingleFlight, SortedRuns } from '@causeway/runtime';
import type { IndexEvent, IndexReader } from '@causeway/store';

/** One place in the order of a kind's resources. */
export interface ListEntry {
  readonly key: string;
  readonly id: Identity;
}

/** The part of an identity that lists are ordered by. */
export type SortKey = Pick<Identity, 'mesh' | 'name' | 'zone' | 'namespace'>;

/** Order of lists: mesh, name, zone, namespace by code unit; total within a kind. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  return (
    compareText(a.mesh, b.mesh) ||
    compareText(a.name, b.name) ||
    compareText(a.zone, b.zone) ||
    compareText(a.namespace, b.namespace)
  );
}

/** More than this that came since an order was made is not sorted in one piece. */
const MERGED_AT_ONCE = 5_000;

/** What came and went since the places of an order were looked at. */
class Delta {
  readonly added = new Map<string, ListEntry>();
  /** Of what stands among the places, what is there no more, or stands in `added`. */
  readonly replaced = new Set<string>();

  note(place: ListEntry, isThere: boolean): void {
    this.replaced.add(place.key);
    if (isThere) this.added.set(place.key, place);
    else this.added.delete(place.key);
  }
}

interface SortedEntries {
  readonly entries: readonly ListEntry[];
  readonly delta: Delta;
}

/**
 * The resources of each kind in the order of lists. Sorting 100,000 on each request would cost more than the answer,
 * so an order is made on first use, in slices, and mended with what came and went since.
 */
export class SortedIndex {
  private readonly orders = new Map<string, SortedEntries>();
  /** Of orders that are being made. */
  private readonly begun = new Map<string, Delta>();
  private readonly making = new Map<string, SingleFlight<void>>();

  constructor(private readonly index: IndexReader) {}

  /** Keeps the orders in step with the index until the returned function is called. */
  follow(): () => void {
    return this.index.subscribe((event) => this.note(event));
  }

  /**
   * Resolves when `of` has little to do; ask it at once then. Long sorting goes in slices, for as long as somebody waits
   * for it; rejects with the signal's reason when that aborts before.
   */
  async ready(kind: string, life: () => AbortSignal): Promise<void> {
    for (let order = this.orders.get(kind); !order || order.delta.added.size > MERGED_AT_ONCE;) {
      await this.makingOf(kind).result(life());
      order = this.orders.get(kind);
    }
  }

  /** All places of a kind, sorted; in one piece where nobody waited for `ready`. */
  of(kind: string): readonly ListEntry[] {
    const order = this.orders.get(kind);
    if (order?.delta.replaced.size === 0) return order.entries;
    const places = order ? mergeDelta(order) : [...this.index.ofKind(kind)].map(entryOf).sort(compareEntries);
    this.orders.set(kind, { entries: places, delta: new Delta() });
    return places;
  }

  private note(event: IndexEvent): void {
    if (event.reloaded) {
      this.orders.clear();
      this.begun.clear();
      return;
    }
    for (const { key, id, before, after } of event.changes) {
      if ((before === undefined) === (after === undefined)) continue;
      this.orders.get(id.kind)?.delta.note({ key, id }, after !== undefined);
      this.begun.get(id.kind)?.note({ key, id }, after !== undefined);
    }
  }

  private makingOf(kind: string): SingleFlight<void> {
    const making = this.making.get(kind) ?? new SingleFlight((signal) => this.make(kind, signal));
    this.making.set(kind, making);
    return making;
  }

  private async make(kind: string, signal: AbortSignal): Promise<void> {
    const since = new Delta();
    this.begun.set(kind, since);
    const places: ListEntry[] = [];
    try {
      await inSlices(this.inOrder(kind, places), signal);
      // Otherwise the index was read anew meanwhile.
      if (this.begun.get(kind) === since) this.orders.set(kind, { entries: places, delta: since });
    } finally {
      if (this.begun.get(kind) === since) this.begun.delete(kind);
    }
  }

  private *inOrder(kind: string, places: ListEntry[]): Generator<unknown> {
    const runs = new SortedRuns(compareEntries);
    for (const resource of this.index.ofKind(kind)) yield runs.add(entryOf(resource));
    for (const place of runs) yield places.push(place);
  }
}

function entryOf({ id }: { readonly id: Identity }): ListEntry {
  return { key: identityKey(id), id };
}

function compareEntries(a: ListEntry, b: ListEntry): number {
  return compareSortKeys(a.id, b.id);
}

function mergeDelta({ entries: places, delta: since }: SortedEntries): readonly ListEntry[] {
  const kept = places.filter((place) => !since.replaced.has(place.key));
  const added = [...since.added.values()].sort(compareEntries);
  if (added.length === 0) return kept;
  const merged: ListEntry[] = [];
  let next = 0;
  for (const place of kept) {
    for (let extra = added[next]; extra && compareEntries(extra, place) < 0; extra = added[++next]) merged.push(extra);
    merged.push(place);
  }
  return merged.concat(added.slice(next));
}
