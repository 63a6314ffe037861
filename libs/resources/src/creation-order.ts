/** Returns the later of two creation orders. */
export function laterOrder(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.max(a, b);
}

/** Negative if `a` was created before `b`; an unknown order, 0, comes last. */
export function compareOrders(a: number, b: number): number {
  return Number(a === 0) - Number(b === 0) || a - b;
}
