import { laterOrder } from '@causeway/resources';

/** Maximum transit time of a new resource over an open stream before its claimed order is doubted, µs. */
const TRANSIT = 5_000_000;

/** Claimed creation order of a copy, and the orders that its receiver knows; all are µs since 1970, 0 = unknown. */
export interface OrderClaim {
  /** Order that the zone claims. */
  readonly claimed: number;
  /** Of the copy or tombstone that is held under this identity; undefined where there is none. */
  readonly held: number | undefined;
  /** The last moment at which the zone's whole state was held; undefined: until this change. */
  readonly moment: number | undefined;
  /** The newest order that is held of what is not this zone's. */
  readonly others: number;
  /** The newest order that is held. */
  readonly newest: number;
  readonly now: number;
}

/**
 * The creation order that counts (docs/adr/0012-the-order-that-counts.md): the larger of what a zone claims and the last
 * moment at which its whole state was held without the resource. Of an identity that is held, or was until its tombstone
 * went, it never falls. A zone can only make its resources younger; 0 stays 0 and ranks last.
 *
 * What comes over an open stream was on its way: its claim counts where it is at most 5 s old and younger than everything
 * of others that is held, which therefore loses nothing by it.
 */
export function countedOrder({ claimed, held, moment, others, newest, now }: OrderClaim): number {
  if (claimed === 0) return 0;
  if (held !== undefined) return laterOrder(claimed, held);
  if (moment !== undefined) return Math.max(claimed, moment);
  return claimed > others && claimed >= now - TRANSIT ? claimed : Math.max(claimed, now + 1, newest + 1);
}
