import type { Resource } from '@causeway/resources';

/** The hostname of the n-th service of a made-up zone. */
export function hostnameOf(n: number): string {
  return `service-${n}.default.svc.east.mesh.local`;
}

/** The n-th service of a made-up zone: an address and one hostname. */
export function serviceOf(n: number): Resource {
  const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: `service-${n}` };
  const address = {
    hostname: hostnameOf(n),
    status: 'Available',
    origin: { kind: 'HostnameGenerator', name: 'synced-universal-mesh-service' },
  };
  return {
    id,
    uid: `uid-${n}`,
    labels: {},
    spec: { ports: [{ port: 80, name: 'http', appProtocol: 'http' }] },
    status: { vip: { ip: addressOf(n), type: 'Kuma' }, addresses: [address] },
    generation: 1,
    creationOrder: n + 1,
    createdAt: 0,
    modifiedAt: 0,
    revision: n + 1,
    origin: { incarnation: 'bench', revision: n + 1, committedAt: 0 },
    freed: [],
  };
}

/** The VIP of the n-th service. */
export function addressOf(n: number): string {
  return `241.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}
