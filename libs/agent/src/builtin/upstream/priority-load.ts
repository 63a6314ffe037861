/** Number of hosts of a group, and of those that can serve. */
export interface HostCount {
  readonly total: number;
  readonly healthy: number;
}

/** Envoy's overprovisioning: a group keeps all of its traffic until fewer than 1/1.4 of its hosts can serve. */
const OVERPROVISIONING = 1.4;

/** Returns the health of a group, 0 to 1: which part of its traffic it can take. */
export function computeHealth({ total, healthy }: HostCount): number {
  return total === 0 ? 0 : Math.min(1, (OVERPROVISIONING * healthy) / total);
}

/**
 * Returns the share of each priority as Envoy computes it: the first takes what it can, the next ones the rest. The
 * shares add up to 1, or are all 0 if no host can serve. `panics`: too few hosts of a priority can serve, so the
 * unhealthy ones get traffic too.
 */
export function priorityLoad(
  priorities: readonly HostCount[],
  panicPercent: number,
): readonly { readonly share: number; readonly panics: boolean }[] {
  const able = priorities.map(computeHealth);
  const sum = Math.min(
    1,
    able.reduce((all, each) => all + each, 0),
  );
  const isPanic = priorities.map(
    ({ total, healthy }) => sum < 1 && total > 0 && (100 * healthy) / total < panicPercent,
  );
  if (sum === 0) {
    // All in panic, as Envoy does it: by the number of hosts.
    const hosts = priorities.reduce((all, { total }, i) => all + (isPanic[i] ? total : 0), 0);
    return priorities.map(({ total }, i) => ({ share: isPanic[i] ? total / hosts : 0, panics: isPanic[i] ?? false }));
  }
  let left = 1;
  return able.map((each, i) => {
    const share = Math.min(left, each / sum);
    left -= share;
    return { share, panics: isPanic[i] ?? false };
  });
}

/** The index that `random` (0 to 1) falls on, by shares that need not add up to 1; −1 where all are 0. */
export function chosenBy(shares: readonly number[], random: number): number {
  const sum = shares.reduce((all, share) => all + share, 0);
  if (sum === 0) return -1;
  let at = random * sum;
  for (const [i, share] of shares.entries()) {
    if (share > 0 && at < share) return i;
    at -= share;
  }
  return shares.findLastIndex((share) => share > 0);
}
