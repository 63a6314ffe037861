import { isDnsLabel, Label, type Identity, type SpecOf } from '@causeway/resources';
import type { MeshService } from '@causeway/kinds';
import { listInbounds, type DataplaneResource, type DataplaneInbound } from '@causeway/dataplanes';

/** The part of a MeshService's spec that its Dataplanes determine. */
export type GeneratedSpec = Required<Pick<SpecOf<typeof MeshService>, 'selector' | 'ports'>>;
type GeneratedPort = GeneratedSpec['ports'][number];

/** One service that one Dataplane wants to exist. */
interface ServiceCandidate {
  readonly id: Identity;
  readonly spec: GeneratedSpec;
}

/** The services that a Dataplane names: valid ones, and invalid names. */
export interface DataplaneServices {
  readonly candidates: readonly ServiceCandidate[];
  readonly unusable: readonly string[];
}

/**
 * Returns the services of a Dataplane (docs/design.md §4 services; docs/reference/kuma-2.14.md §2). The tag `kuma.io/service` of an inbound names the
 * service of that inbound. If no inbound has the tag, the label `kuma.io/workload` names one service for all of them. A service lives in the
 * namespace of its Dataplanes. Names are RFC 1035 labels, as in Kuma.
 */
export function readServices(dataplane: DataplaneResource): DataplaneServices {
  const inbounds = listInbounds(dataplane);
  const tagged = inbounds.some(isTagged);
  const named = inboundsByService(inbounds, tagged ? undefined : dataplane.labels[Label.workload]);
  const names = [...named.keys()];
  return {
    candidates: names.filter(isDnsLabel).map((name) => ({
      id: { ...dataplane.id, kind: 'MeshService', name },
      spec: { selector: toSelector(tagged, name), ports: toPorts(named.get(name) ?? []) },
    })),
    unusable: names.filter((name) => !isDnsLabel(name)),
  };
}

function inboundsByService(
  inbounds: readonly DataplaneInbound[],
  workload: string | undefined,
): ReadonlyMap<string, DataplaneInbound[]> {
  const named = new Map<string, DataplaneInbound[]>();
  for (const inbound of inbounds) {
    const name = workload ?? inbound.tags?.[Label.service];
    if (name === undefined || name === '') continue;
    const others = named.get(name);
    if (others) others.push(inbound);
    else named.set(name, [inbound]);
  }
  return named;
}

function isTagged(inbound: DataplaneInbound): boolean {
  return inbound.tags?.[Label.service] !== undefined;
}

function toSelector(tagged: boolean, name: string): GeneratedSpec['selector'] {
  return tagged
    ? { dataplaneTags: { [Label.service]: name } }
    : { dataplaneLabels: { matchLabels: { [Label.workload]: name } } };
}

/** Returns one port for each inbound, in order; a second inbound with the same port adds none. */
function toPorts(inbounds: readonly DataplaneInbound[]): GeneratedPort[] {
  const ports: GeneratedPort[] = [];
  const numbers = new Set<number>();
  const names = new Set<string>();
  for (const inbound of inbounds) {
    if (numbers.has(inbound.port)) continue;
    const wanted = inbound.name ?? '';
    const name = wanted === '' || names.has(wanted) ? String(inbound.port) : wanted;
    numbers.add(inbound.port);
    names.add(name);
    ports.push({ name, port: inbound.port, targetPort: inbound.port, appProtocol: readProtocol(inbound) });
  }
  return ports;
}

const PROTOCOLS = ['tcp', 'http', 'http2', 'grpc', 'kafka'] as const;

function readProtocol(inbound: DataplaneInbound): (typeof PROTOCOLS)[number] {
  const protocolName = (inbound.protocol ?? inbound.tags?.['kuma.io/protocol'] ?? 'tcp').toLowerCase();
  return PROTOCOLS.find((protocol) => protocol === protocolName) ?? 'tcp';
}
