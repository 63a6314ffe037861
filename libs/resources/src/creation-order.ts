/** How long a new resource may be on its way over an open stream before its claimed order is doubted, µs. */
const TRANSIT = 5_000_000;

/** Where the claimed creation order of a copy meets what its receiver knows; all orders are µs since 1970, 0 = unknown. */
export interface OrderClaim {
  /** What the zone says. */
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

/** The later of two creation orders. */
export function laterOrder(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.max(a, b);
}

/** Negative where `a` was made before `b`; an unknown order, 0, comes last. */
export function compareOrders(a: number, b: number): number {
  return Number(a === 0) - Number(b === 0) || a - b;
}
