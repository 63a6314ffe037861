import { laterOrder } from '@causeway/resources';

/** Maximum transit time of a new resource over an open stream before its claimed order is doubted, µs. */
const TRANSIT = 5_000_000;

/** Claimed creation order of a copy, and the orders that its receiver knows; all are µs since 1970, 0 = unknown. */
export interface OrderClaim {
  /** Order that the zone claims. */
  readonly claimed: number;
  /** The order of the copy or tombstone with this identity; undefined if there is none. */
  readonly held: number | undefined;
  /** The last moment at which the zone's whole state was held; undefined: until this change. */
  readonly moment: number | undefined;
  /** The newest order among resources of other zones. */
  readonly others: number;
  /** The newest order of all. */
  readonly newest: number;
  readonly now: number;
}

/**
 * Returns the creation order that counts (docs/adr/0012-the-order-that-counts.md): the larger of the zone's claim and the last moment at which its
 * whole state was held without the resource. For an identity that is held, or was until its tombstone was purged, the order never decreases. A zone
 * can only make its resources younger; 0 stays 0 and ranks last.
 *
 * A resource on an open stream was in transit: its claim counts if it is at most 5 s old and younger than all held resources of others, which
 * therefore lose nothing by it.
 */
export function countedOrder({ claimed, held, moment, others, newest, now }: OrderClaim): number {
  if (claimed === 0) return 0;
  if (held !== undefined) return laterOrder(claimed, held);
  if (moment !== undefined) return Math.max(claimed, moment);
  return claimed > others && claimed >= now - TRANSIT ? claimed : Math.max(claimed, now + 1, newest + 1);
}
