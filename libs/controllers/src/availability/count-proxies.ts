import {
  inboundsOf,
  type DataplaneResource,
  type DataplaneInbound,
  type ServiceResource,
} from '../matching/dataplane-selector';

/** What of a service's Dataplanes stands in its status. */
export type ProxyCount = {
  readonly total: number;
  /** Those with a ready inbound for every port of the service. */
  readonly healthy: number;
};

type CountedPort = NonNullable<ServiceResource['spec']['ports']>[number];

/** Counts the Dataplanes of a service with these ports (design.md §1; kuma-2.14.md §3). A service without ports is served by all. */
export function countProxies(ports: readonly CountedPort[], dataplanes: Iterable<DataplaneResource>): ProxyCount {
  let [total, healthy] = [0, 0];
  for (const dataplane of dataplanes) {
    const served = servedBy(dataplane);
    total += 1;
    if (ports.every(({ port, targetPort = port }) => served.has(targetPort))) healthy += 1;
  }
  return { total, healthy };
}

/** Only `state` says so: in Kuma 2.14 `health.ready: false` alone changes nothing (kuma-2.14.md §3). */
function isReady(inbound: DataplaneInbound): boolean {
  return (inbound.state ?? 'Ready') === 'Ready';
}

/** Ports and names of the ready inbounds: a target port is one of them; without one it is the service's own port. */
function servedBy(dataplane: DataplaneResource): ReadonlySet<number | string> {
  const served = new Set<number | string>();
  for (const inbound of inboundsOf(dataplane)) {
    if (!isReady(inbound)) continue;
    served.add(inbound.port);
    if (inbound.name !== undefined) served.add(inbound.name);
  }
  return served;
}

/** Whether a service counted so can be reached. */
export function stateOf({ healthy }: ProxyCount): 'Available' | 'Unavailable' {
  return healthy > 0 ? 'Available' : 'Unavailable';
}
