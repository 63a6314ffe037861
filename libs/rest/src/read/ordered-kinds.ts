import { compareText, identityKey, type Identity } from '@causeway/resources';
import { inSlices, SharedWork, SortedRuns } from '@causeway/runtime';
import type { IndexEvent, ResourceIndex } from '@causeway/store';

/** One place in the order of a kind's resources. */
export interface Place {
  readonly key: string;
  readonly id: Identity;
}

/** The part of an identity that lists are ordered by. */
export type OrderKey = Pick<Identity, 'mesh' | 'name' | 'zone' | 'namespace'>;

/** Order of lists: mesh, name, zone, namespace by code unit; total within a kind. */
export function compareInList(a: OrderKey, b: OrderKey): number {
  return (
    compareText(a.mesh, b.mesh) ||
    compareText(a.name, b.name) ||
    compareText(a.zone, b.zone) ||
    compareText(a.namespace, b.namespace)
  );
}

/** More than this that came since an order was made is not sorted in one piece. */
const MENDED_AT_ONCE = 5_000;

/** What came and went since the places of an order were looked at. */
class Since {
  readonly added = new Map<string, Place>();
  /** Of what stands among the places, what is there no more, or stands in `added`. */
  readonly replaced = new Set<string>();

  note(place: Place, isThere: boolean): void {
    this.replaced.add(place.key);
    if (isThere) this.added.set(place.key, place);
    else this.added.delete(place.key);
  }
}

interface Order {
  readonly places: readonly Place[];
  readonly since: Since;
}

/**
 * The resources of each kind in the order of lists. Sorting 100,000 on each request would cost more than the answer,
 * so an order is made on first use, in slices, and mended with what came and went since.
 */
export class OrderedKinds {
  private readonly orders = new Map<string, Order>();
  /** Of orders that are being made. */
  private readonly begun = new Map<string, Since>();
  private readonly making = new Map<string, SharedWork<void>>();

  constructor(private readonly index: ResourceIndex) {}

  /** Keeps the orders in step with the index until the returned function is called. */
  follow(): () => void {
    return this.index.subscribe((event) => this.note(event));
  }

  /**
   * Resolves when `of` has little to do; ask it at once then. Long sorting goes in slices, for as long as somebody waits
   * for it; rejects with the signal's reason when that aborts before.
   */
  async ready(kind: string, life: () => AbortSignal): Promise<void> {
    for (let order = this.orders.get(kind); !order || order.since.added.size > MENDED_AT_ONCE;) {
      await this.makingOf(kind).result(life());
      order = this.orders.get(kind);
    }
  }

  /** All places of a kind, sorted; in one piece where nobody waited for `ready`. */
  of(kind: string): readonly Place[] {
    const order = this.orders.get(kind);
    if (order?.since.replaced.size === 0) return order.places;
    const places = order ? mend(order) : [...this.index.ofKind(kind)].map(placeOf).sort(byOrder);
    this.orders.set(kind, { places, since: new Since() });
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
      this.orders.get(id.kind)?.since.note({ key, id }, after !== undefined);
      this.begun.get(id.kind)?.note({ key, id }, after !== undefined);
    }
  }

  private makingOf(kind: string): SharedWork<void> {
    const making = this.making.get(kind) ?? new SharedWork((signal) => this.make(kind, signal));
    this.making.set(kind, making);
    return making;
  }

  private async make(kind: string, signal: AbortSignal): Promise<void> {
    const since = new Since();
    this.begun.set(kind, since);
    const places: Place[] = [];
    try {
      await inSlices(this.inOrder(kind, places), signal);
      // Otherwise the index was read anew meanwhile.
      if (this.begun.get(kind) === since) this.orders.set(kind, { places, since });
    } finally {
      if (this.begun.get(kind) === since) this.begun.delete(kind);
    }
  }

  private *inOrder(kind: string, places: Place[]): Generator<unknown> {
    const runs = new SortedRuns(byOrder);
    for (const resource of this.index.ofKind(kind)) yield runs.add(placeOf(resource));
    for (const place of runs) yield places.push(place);
  }
}

function placeOf({ id }: { readonly id: Identity }): Place {
  return { key: identityKey(id), id };
}

function byOrder(a: Place, b: Place): number {
  return compareInList(a.id, b.id);
}

function mend({ places, since }: Order): readonly Place[] {
  const kept = places.filter((place) => !since.replaced.has(place.key));
  const added = [...since.added.values()].sort(byOrder);
  if (added.length === 0) return kept;
  const merged: Place[] = [];
  let next = 0;
  for (const place of kept) {
    for (let extra = added[next]; extra && byOrder(extra, place) < 0; extra = added[++next]) merged.push(extra);
    merged.push(place);
  }
  return merged.concat(added.slice(next));
}
