import type { RouteDestination, WeightedBackend } from '@causeway/routing';

/** A cluster of a destination with its weight: its instances. */
export interface ClusterPart {
  readonly cluster: string;
  readonly instances: number;
}

/** Returns the clusters of a destination: one for each of its services; none if it is unknown. */
export type ClustersOf = (destination: RouteDestination) => readonly ClusterPart[];

/** A weighted share of requests or connections. */
export interface BackendShare {
  /** `INVALID` if the backend has no cluster. */
  readonly cluster: string;
  readonly weight: number;
  readonly backend: WeightedBackend;
}

/** The name of no cluster: requests to it are refused. */
export const INVALID = 'invalid';
/** The limit of Envoy and gRPC for the sum of weights. */
const MAX_WEIGHT = 2 ** 32 - 1;
const NOWHERE: readonly ClusterPart[] = [{ cluster: INVALID, instances: 1 }];

/**
 * Returns shares with exact integer weights: their sum is the total. A backend without a cluster keeps its weight. Services of one destination share
 * its weight by their instances. Linear in the backends.
 */
export function backendShares(backends: readonly WeightedBackend[], listClusters: ClustersOf): readonly BackendShare[] {
  const found = backends.map((backend) => {
    const parts = backend.to.ok ? served(listClusters(backend.to.destination)) : NOWHERE;
    return { backend, parts, instances: parts.reduce((sum, part) => sum + part.instances, 0) };
  });
  const common = found.reduce((product, { instances }) => smallestMultiple(product, instances), 1);
  const total = backends.reduce((sum, { weight }) => sum + weight, 0);
  const scale = total * common <= MAX_WEIGHT ? common : MAX_WEIGHT / total / 2;
  return found.flatMap(({ backend, parts, instances }) =>
    parts.map((part) => ({
      backend,
      cluster: part.cluster,
      weight: Math.max(1, Math.round((backend.weight * part.instances * scale) / instances)),
    })),
  );
}

/** Returns the services that have instances; all services if none has any. */
function served(parts: readonly ClusterPart[]): readonly ClusterPart[] {
  const ready = parts.filter(({ instances }) => instances > 0);
  const [only, ...others] = ready;
  if (only && others.length === 0) return [{ ...only, instances: 1 }];
  if (ready.length > 0) return ready;
  return parts.length > 0 ? parts.map((part) => ({ ...part, instances: 1 })) : NOWHERE;
}

function smallestMultiple(a: number, b: number): number {
  const divisor = (x: number, y: number): number => (y === 0 ? x : divisor(y, x % y));
  return (a / divisor(a, b)) * b;
}
