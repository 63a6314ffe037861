import type { PatchChange } from '@causeway/store';
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@causeway/resources';
import { instancesToReport } from '@causeway/sync';
import {
  listInbounds,
  type DataplaneInbound,
  type DataplaneResource,
  type ServiceResource,
} from '@causeway/dataplanes';
import { identitiesPart, serviceIdentities } from './workload-ids';

/** `status.dataplaneProxies` of a MeshService. */
export type ProxyCount = {
  readonly total: number;
  /** Dataplanes whose proxy is connected; absent if unknown. */
  readonly connected?: number;
  /** Dataplanes with a ready inbound for every port of the service. */
  readonly healthy: number;
};

type MeshServicePort = NonNullable<ServiceResource['spec']['ports']>[number];

/** Inputs of a plan besides the service and its Dataplanes. */
export interface AvailabilityFacts {
  /** SPIFFE ids of the Dataplanes, unsorted, possibly with duplicates. */
  readonly uris?: Iterable<string>;
  /** Reports whether the proxy of a Dataplane is connected; absent if unknown: the earlier count stays. */
  readonly isConnected?: (dataplane: DataplaneResource) => boolean;
  /** Whether the number of instances was sent to other zones recently, so that it is kept for now. */
  readonly keepsInstances?: boolean;
}

/** Plans the counts, the availability and the SPIFFE ids of a service; undefined if they are up to date. */
export function planAvailability(
  { id, revision, spec, status }: ServiceResource,
  dataplanes: Iterable<DataplaneResource>,
  { uris = [], isConnected, keepsInstances = false }: AvailabilityFacts = {},
): PatchChange | undefined {
  const all = [...dataplanes];
  const before = status?.['dataplaneProxies'];
  const connected = isConnected ? { connected: all.filter(isConnected).length } : connectedBefore(before);
  const count = { ...countProxies(spec.ports ?? [], all), ...connected };
  const { identities: known = [], instances: reported, ...rest } = spec;
  const identities = serviceIdentities(uris);
  const instances = instancesPart(keepsInstances ? reported : instancesToReport(reported, count.healthy));
  const wanted = { ...rest, state: toAvailabilityState(count), ...identitiesPart(identities), ...instances };
  const counted = jsonEqual(before, count);
  const isCounted = reported === instances['instances'];
  const stated = spec.state === wanted.state && jsonEqual(known, identities) && isCounted;
  if (counted && stated) return undefined;
  return {
    type: 'patch',
    id,
    expect: revision,
    ...(counted ? {} : { status: { ...status, dataplaneProxies: count } }),
    ...(stated ? {} : { spec: wanted }),
  };
}

/** Returns the part of a spec with the number of instances. */
export function instancesPart(instances: number | undefined): JsonObject {
  return instances === undefined ? {} : { instances };
}

/** A leader that does not know the proxies yet keeps the count. */
function connectedBefore(before: JsonValue | undefined): Pick<ProxyCount, 'connected'> {
  const connected = isJsonObject(before) ? before['connected'] : undefined;
  return typeof connected === 'number' ? { connected } : {};
}

/**
 * Counts the Dataplanes of a service with these ports (docs/design.md §1; docs/reference/kuma-2.14.md §3). Every Dataplane serves a service without
 * ports.
 */
export function countProxies(ports: readonly MeshServicePort[], dataplanes: Iterable<DataplaneResource>): ProxyCount {
  let [total, healthy] = [0, 0];
  for (const dataplane of dataplanes) {
    const served = servedBy(dataplane);
    total += 1;
    if (ports.every(({ port, targetPort = port }) => served.has(targetPort))) healthy += 1;
  }
  return { total, healthy };
}

/** Only `state` counts: in Kuma 2.14 `health.ready: false` alone changes nothing (docs/reference/kuma-2.14.md §3). */
function isReady(inbound: DataplaneInbound): boolean {
  return (inbound.state ?? 'Ready') === 'Ready';
}

/** Returns the ports and names of the ready inbounds: a target port is one of them; by default it is the service's own port. */
function servedBy(dataplane: DataplaneResource): ReadonlySet<number | string> {
  const served = new Set<number | string>();
  for (const inbound of listInbounds(dataplane)) {
    if (!isReady(inbound)) continue;
    served.add(inbound.port);
    if (inbound.name !== undefined) served.add(inbound.name);
  }
  return served;
}

/** Returns the availability for these counts. */
export function toAvailabilityState({ healthy }: ProxyCount): 'Available' | 'Unavailable' {
  return healthy > 0 ? 'Available' : 'Unavailable';
}
