/** Number of hosts of a priority, and of those that can serve. */
export interface HostCount {
  readonly total: number;
  readonly healthy: number;
}

/** Envoy's overprovisioning factor: a priority keeps all its traffic until fewer than 1/1.4 of its hosts can serve. */
const OVERPROVISIONING = 1.4;

/** Returns which share of its traffic a priority can take, 0 to 1. */
export function computeHealth({ total, healthy }: HostCount): number {
  return total === 0 ? 0 : Math.min(1, (OVERPROVISIONING * healthy) / total);
}

/**
 * Returns the share of each priority as Envoy computes it: the first takes what it can, the next ones the rest. The
 * shares add up to 1, or are all 0 if no host can serve. `panics`: too few hosts of a priority can serve, so unhealthy
 * ones get traffic too.
 */
export function computePriorityLoad(
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
    // If all priorities panic, Envoy distributes by the number of hosts.
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

/** Returns the index selected by `random` (in [0, 1)) in proportion to the shares; −1 if all are 0. */
export function pickIndex(shares: readonly number[], random: number): number {
  const sum = shares.reduce((all, share) => all + share, 0);
  if (sum === 0) return -1;
  let at = random * sum;
  for (const [i, share] of shares.entries()) {
    if (share > 0 && at < share) return i;
    at -= share;
  }
  return shares.findLastIndex((share) => share > 0);
}
