import type { WeightedCluster } from './routes';

/**
 * The cluster at a place among the shares; `at` from 0 to below 1, drawn anew for each connection. Exact: a share is its weight of
 * the sum. Undefined where all weights are 0. Linear in the parts.
 */
export function clusterAt(parts: readonly WeightedCluster[], at: number): string | undefined {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let left = at * total;
  const found = parts.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found?.cluster;
}
