import { type ClusterLoadAssignment, HealthStatus } from '@causeway/proto-gen';
import { localAddresses, type DestinationUpstream, type LocalEndpoint, type RemoteZone } from '../model/destination';
import type { SocketAddress, ZoneIngressEndpoint } from '../model/ingress-endpoint';
import { computeLocality, type LocalitySpec } from '../policies/locality-rule';
import { EGRESS_ENDPOINTS, ingressEndpointsName, localEndpointsName } from '../names/resource-names';

/** The key of the endpoint metadata by which Envoy chooses one of several transport sockets. */
const SOCKET_MATCH = 'envoy.transport_socket_match';

type Endpoints = Parameters<typeof ClusterLoadAssignment.fromPartial>[0] & { readonly clusterName: string };

/** The transport socket of an endpoint that does not use the cluster's default. */
type SocketMatch = { readonly tls: 'off' } | { readonly sni: 'hash' } | { readonly host: string };

export function toMetadata(match: SocketMatch) {
  return { metadata: { filterMetadata: { [SOCKET_MATCH]: { ...match } } } };
}

/** Returns an endpoint at an address. An endpoint that is not ready is included as unhealthy, so that its traffic can fail over. */
export function endpoint({ address, port }: SocketAddress, ready = true) {
  return {
    hostIdentifier: {
      $case: 'endpoint' as const,
      value: { address: { address: { $case: 'socketAddress' as const, value: toSocketAddress(address, port) } } },
    },
    healthStatus: ready ? HealthStatus.UNKNOWN : HealthStatus.UNHEALTHY,
  };
}

export function toSocketAddress(address: string, port: number) {
  return { address, portSpecifier: { $case: 'portValue' as const, value: port } };
}

export function toLocality(zone: string, priority: number) {
  return { ...(zone !== '' && { locality: { zone } }), priority };
}

/** Returns an empty endpoint list for a name that is requested and does not exist. */
export function noEndpoints(clusterName: string): Endpoints {
  return { clusterName };
}

/** The ingress endpoint of a zone, shared by all its services. */
export function ingressEndpoints(
  mesh: string,
  zone: string,
  ingressEndpoint: ZoneIngressEndpoint | undefined,
): Endpoints {
  const clusterName = ingressEndpointsName(mesh, zone);
  if (!ingressEndpoint) return noEndpoints(clusterName);
  return {
    clusterName,
    endpoints: [{ ...toLocality(zone, 0), lbEndpoints: ingressEndpoint.addresses.map((at) => endpoint(at)) }],
  };
}

/** The egress of the zone, shared by all services outside the mesh. */
export function egressEndpoints(addresses: readonly SocketAddress[]): Endpoints {
  if (addresses.length === 0) return noEndpoints(EGRESS_ENDPOINTS);
  return { clusterName: EGRESS_ENDPOINTS, endpoints: [{ lbEndpoints: addresses.map((at) => endpoint(at)) }] };
}

/** The endpoints of a destination in this zone only. */
export function localEndpoints(destination: DestinationUpstream, zone: string): Endpoints {
  const local = localAddresses(destination);
  return {
    clusterName: localEndpointsName(destination.name),
    endpoints: local.length === 0 ? [] : [localLocality(local, zone)],
  };
}

/** The endpoints of a destination in this zone, with their host names. */
export function namedLocalEndpoints(clusterName: string, destination: DestinationUpstream, zone: string): Endpoints {
  return { clusterName, endpoints: [localLocality([...destination.local, ...destination.localNames], zone)] };
}

/**
 * Returns all endpoints of a destination, ranked by zone: by default this zone, then other zones, then depreferred zones. Priorities have no gap,
 * because gRPC refuses gaps.
 */
export function destinationEndpoints(
  destination: DestinationUpstream,
  zone: string,
  findIngressEndpoint: (mesh: string, zone: string) => ZoneIngressEndpoint | undefined,
  locality?: LocalitySpec,
): Endpoints {
  const { name, service, remote } = destination;
  const local = localAddresses(destination);
  const listAddresses = (each: RemoteZone) => findIngressEndpoint(service.mesh, each.zone)?.addresses ?? [];
  return { clusterName: name, endpoints: ranked({ local, zone, remote, listAddresses, locality }) };
}

/** Returns the same as `destinationEndpoints`, with host names in place of their addresses. */
export function namedEndpoints(
  clusterName: string,
  { local, localNames, remote }: DestinationUpstream,
  zone: string,
  locality?: LocalitySpec,
): Endpoints {
  const listAddresses = (each: RemoteZone) => each.at ?? [];
  return {
    clusterName,
    endpoints: ranked({ local: [...local, ...localNames], zone, remote, listAddresses, locality }),
  };
}

interface Ranked {
  readonly local: readonly LocalEndpoint[];
  readonly zone: string;
  readonly remote: readonly RemoteZone[];
  readonly listAddresses: (each: RemoteZone) => readonly SocketAddress[];
  readonly locality: LocalitySpec | undefined;
}

function ranked({ local, zone, remote, listAddresses, locality }: Ranked) {
  const zones = [
    { zone, isLocal: true, depreferred: false, instances: local.length, lbEndpoints: toLocalEndpoints(local) },
    ...remote.map((each) => ({ ...each, isLocal: false, lbEndpoints: toRemoteEndpoints(each, listAddresses(each)) })),
  ];
  const placed = zones
    .map((each) => ({ ...each, ...computeLocality(each, locality) }))
    .filter(({ lbEndpoints, weight }) => lbEndpoints.length > 0 && weight > 0);
  const ranks = [...new Set(placed.map(({ rank }) => rank))].sort((a, b) => a - b);
  return ranks.flatMap((wanted, priority) =>
    placed
      .filter(({ rank }) => rank === wanted)
      .map(({ zone: of, weight, lbEndpoints }) => ({
        ...toLocality(of, priority),
        loadBalancingWeight: weight,
        lbEndpoints,
      })),
  );
}

function localLocality(local: readonly LocalEndpoint[], zone: string) {
  return { ...toLocality(zone, 0), loadBalancingWeight: local.length, lbEndpoints: toLocalEndpoints(local) };
}

function toLocalEndpoints(local: readonly LocalEndpoint[]) {
  return local.map((each) => ({
    ...endpoint(each, each.ready),
    ...(each.plaintext && toMetadata({ tls: 'off' })),
  }));
}

function toRemoteEndpoints({ sni }: RemoteZone, addresses: readonly SocketAddress[]) {
  return addresses.map((at) => ({ ...endpoint(at), ...(sni === 'hash' && toMetadata({ sni })) }));
}
