import { inboundsOf, type DataplaneResource, type Inbound, type ServiceResource } from '../matching/dataplane-match';

/** What of a service's Dataplanes stands in its status. */
export type ProxyCount = {
  readonly total: number;
  /** Those with a ready inbound for every port of the service. */
  readonly healthy: number;
};

type Port = NonNullable<ServiceResource['spec']['ports']>[number];

/** Counts the Dataplanes of a service with these ports (design.md §1; kuma-2.14.md §3). A service without ports is served by all. */
export function countProxies(ports: readonly Port[], dataplanes: Iterable<DataplaneResource>): ProxyCount {
  let [total, healthy] = [0, 0];
  for (const dataplane of dataplanes) {
    const inbounds = inboundsOf(dataplane);
    total += 1;
    if (ports.every((port) => inbounds.some((inbound) => isReady(inbound) && serves(inbound, port)))) healthy += 1;
  }
  return { total, healthy };
}

/** Only `state` says so: in Kuma 2.14 `health.ready: false` alone changes nothing (kuma-2.14.md §3). */
function isReady(inbound: Inbound): boolean {
  return (inbound.state ?? 'Ready') === 'Ready';
}

/** A target port is an inbound's port or name; without one it is the service's own port. */
function serves(inbound: Inbound, { port, targetPort = port }: Port): boolean {
  return typeof targetPort === 'number' ? inbound.port === targetPort : inbound.name === targetPort;
}

/** Whether a service counted so can be reached. */
export function stateOf({ healthy }: ProxyCount): 'Available' | 'Unavailable' {
  return healthy > 0 ? 'Available' : 'Unavailable';
}
