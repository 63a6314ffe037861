import { asDataplane, listInbounds, selectedDataplanes } from '@causeway/dataplanes';
import { Dataplane, MeshService, servicePorts } from '@causeway/kinds';
import { identityKey, isJsonArray, isJsonObject, type Identity, type Resource } from '@causeway/resources';
import type { IsReady } from '@causeway/routing';
import type { IndexReader } from '@causeway/store';

/** Maximum number of MeshServices read per MeshMultiZoneService. */
const MAX_MEMBERS = 4_096;

/**
 * Returns whether a service has a ready endpoint, as far as this control plane knows: by inbounds if it has the service's Dataplanes,
 * otherwise by the report of the service's zone. Each service is looked up once; that costs one pass over the Dataplanes.
 */
export function readiness(index: IndexReader): IsReady {
  const known = new Map<string, boolean>();
  const ofService = (service: Resource | undefined, port: number): boolean => {
    if (!service) return false;
    const key = `${identityKey(service.id)} ${port}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const ready = isReady(service, port);
    known.set(key, ready);
    return ready;
  };
  const isReady = (service: Resource, port: number): boolean => {
    if (service.id.kind === 'MeshMultiZoneService')
      return listMembers(service).some((id) => ofService(index.get(id), port));
    if (!MeshService.is(service)) return false;
    const target = servicePorts(service).find(({ number }) => number === port)?.target;
    if (target === undefined) return false;
    let hasDataplanes = false;
    for (const selected of selectedDataplanes(service, index.ofKind(Dataplane.name))) {
      const dataplane = asDataplane(selected);
      if (!dataplane) continue;
      hasDataplanes = true;
      const inbounds = listInbounds(dataplane).filter((inbound) => inbound.port === target || inbound.name === target);
      if (inbounds.some(({ state = 'Ready' }) => state === 'Ready')) return true;
    }
    // Only the other zone has its Dataplanes.
    return !hasDataplanes && service.spec.state === 'Available';
  };
  return (id, port) => ofService(index.get(id), port);
}

function listMembers({ id, status }: Resource): readonly Identity[] {
  const members = status?.['meshServices'];
  if (!isJsonArray(members)) return [];
  return members.slice(0, MAX_MEMBERS).flatMap((member) => {
    if (!isJsonObject(member)) return [];
    const { name, namespace, zone } = member;
    if (typeof name !== 'string') return [];
    const text = (value: unknown): string => (typeof value === 'string' ? value : '');
    return [{ kind: 'MeshService', mesh: id.mesh, zone: text(zone), namespace: text(namespace), name }];
  });
}

/** Returns the Dataplane of a mesh with an inbound at an address; undefined if there is none. One pass over the Dataplanes. */
export function dataplaneAt(
  index: IndexReader,
  mesh: string,
  { address, port }: { readonly address: string; readonly port: number },
): Identity | undefined {
  for (const resource of index.ofKind(Dataplane.name)) {
    const dataplane = resource.id.mesh === mesh ? asDataplane(resource) : undefined;
    if (!dataplane) continue;
    const { networking } = dataplane.spec;
    const found = listInbounds(dataplane).some(
      (inbound) => inbound.port === port && (inbound.address ?? networking.address) === address,
    );
    if (found) return dataplane.id;
  }
  return undefined;
}
