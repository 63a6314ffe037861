import { compareText, identityKey, type Identity } from '@causeway/resources';
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

interface Order {
  readonly places: readonly Place[];
  readonly added: Map<string, Place>;
  readonly removed: Set<string>;
}

/**
 * The resources of each kind in the order of lists. Sorting 100,000 on each request would cost more than the answer,
 * so an order is made on first use and mended with what came and went since.
 */
export class OrderedKinds {
  private readonly orders = new Map<string, Order>();

  constructor(private readonly index: ResourceIndex) {}

  /** Keeps the orders in step with the index until the returned function is called. */
  follow(): () => void {
    return this.index.subscribe((event) => this.note(event));
  }

  /** All places of a kind, sorted. */
  of(kind: string): readonly Place[] {
    const order = this.orders.get(kind);
    if (order && order.added.size === 0 && order.removed.size === 0) return order.places;
    const places = order ? mend(order) : this.sorted(kind);
    this.orders.set(kind, { places, added: new Map(), removed: new Set() });
    return places;
  }

  private note(event: IndexEvent): void {
    if (event.reloaded) return this.orders.clear();
    for (const { key, id, before, after } of event.changes) {
      const order = this.orders.get(id.kind);
      if (!order || (before === undefined) === (after === undefined)) continue;
      if (after) order.added.set(key, { key, id });
      // One that was added and removed between two reads stands only in `added`.
      else if (!order.added.delete(key)) order.removed.add(key);
    }
  }

  private sorted(kind: string): readonly Place[] {
    return [...this.index.ofKind(kind)].map(({ id }) => ({ key: identityKey(id), id })).sort(byOrder);
  }
}

function byOrder(a: Place, b: Place): number {
  return compareInList(a.id, b.id);
}

function mend(order: Order): readonly Place[] {
  const kept = order.removed.size > 0 ? order.places.filter((place) => !order.removed.has(place.key)) : order.places;
  const added = [...order.added.values()].sort(byOrder);
  if (added.length === 0) return kept;
  const merged: Place[] = [];
  let next = 0;
  for (const place of kept) {
    for (let extra = added[next]; extra && byOrder(extra, place) < 0; extra = added[++next]) merged.push(extra);
    merged.push(place);
  }
  return merged.concat(added.slice(next));
}
