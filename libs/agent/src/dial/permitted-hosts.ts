import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { ApiVersion, Cluster, Cluster_DiscoveryType, ClusterLoadAssignment, ConfigSource } from '@causeway/proto-gen';
import { encodeMessage, RESOURCE_TYPES, type EncodedResource, type MessageCodec } from '@causeway/xds-server';
import { mayDialAddress, type DialFacts } from './dial-facts';
import { readSocketAddress, formatAddress } from './resource-rules';

const { cluster, endpoints } = RESOURCE_TYPES;
/** Prefix in the endpoint names of clusters with host names. */
const RESOLVED = 'resolved:';

type LocalityEndpoints = ClusterLoadAssignment['endpoints'][number];
type PermittedHost = LocalityEndpoints['lbEndpoints'][number];

/** Returns the addresses of a host name, as last resolved. */
export type AddressLookup = (host: string) => readonly string[];

/** Resource as a dataplane gets it, and the hosts removed from it. */
export interface PermittedHosts {
  readonly resource: EncodedResource;
  /** `host:port`, with the address of a host name; not sorted. */
  readonly dropped: readonly string[];
}

/** Returns the endpoints name of a cluster with host names. */
export function formatResolvedEndpointsName(clusterName: string): string {
  return RESOLVED + clusterName;
}

/** Returns the cluster of such an endpoints name; undefined for other endpoints. */
export function parseResolvedEndpointsName(endpointsName: string): string | undefined {
  return endpointsName.startsWith(RESOLVED) ? endpointsName.slice(RESOLVED.length) : undefined;
}

/**
 * Removes hosts that this machine may not dial from a cluster or its endpoints. A cluster with host names refers to
 * separate endpoints (`buildResolvedEndpoints`). Other resources are unchanged.
 */
export function removeForbiddenHosts(resource: EncodedResource, facts: DialFacts): PermittedHosts {
  if (resource.type === endpoints) {
    const found = ClusterLoadAssignment.decode(resource.bytes);
    const { assignment, dropped } = filterAssignment(found, facts);
    return dropped.length === 0
      ? { resource, dropped }
      : { resource: encodeResource(resource, ClusterLoadAssignment, assignment), dropped };
  }
  const found = resource.type === cluster ? Cluster.decode(resource.bytes) : undefined;
  if (!found?.loadAssignment) return { resource, dropped: [] };
  if (listHostNames(found).length > 0) {
    const plain = { ...found, clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS } };
    const { loadAssignment: _, ...others } = { ...plain, dnsRefreshRate: undefined, respectDnsTtl: false };
    const serviceName = formatResolvedEndpointsName(found.name);
    const edsClusterConfig = { edsConfig: FROM_AGENT, serviceName };
    const made = encodeResource(resource, Cluster, { ...others, edsClusterConfig });
    return { resource: { ...made, endpointsName: serviceName }, dropped: [] };
  }
  const { assignment, dropped } = filterAssignment(found.loadAssignment, facts);
  if (dropped.length === 0) return { resource, dropped };
  return { resource: encodeResource(resource, Cluster, { ...found, loadAssignment: assignment }), dropped };
}

/** Builds endpoints with all permitted addresses of a cluster's host names; undefined if it has none. */
export function buildResolvedEndpoints(
  resource: EncodedResource,
  facts: DialFacts,
  addresses: AddressLookup,
): PermittedHosts | undefined {
  const found = Cluster.decode(resource.bytes);
  if (!found.loadAssignment || listHostNames(found).length === 0) return undefined;
  const expanded = found.loadAssignment.endpoints.map((locality) => ({
    ...locality,
    lbEndpoints: locality.lbEndpoints.flatMap((host) => withAddresses(host, addresses)),
  }));
  const { assignment, dropped } = filterAssignment({ ...found.loadAssignment, endpoints: expanded }, facts);
  const clusterName = formatResolvedEndpointsName(found.name);
  const base = { ...resource, type: endpoints, name: clusterName };
  return { resource: encodeResource(base, ClusterLoadAssignment, { ...assignment, clusterName }), dropped };
}

/** Returns the host names of a cluster that resolves them. */
export function listHostNames({ clusterDiscoveryType: discovery, loadAssignment }: Cluster): readonly string[] {
  const isResolved = discovery?.$case === 'type' && discovery.value === Cluster_DiscoveryType.STRICT_DNS;
  if (!isResolved || !loadAssignment) return [];
  const hosts = loadAssignment.endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map((one) => findSocket(one)?.address ?? ''),
  );
  return [...new Set(hosts)].filter((host) => host !== '' && isIP(host) === 0);
}

/** The endpoints come from the same source as the cluster. */
const FROM_AGENT = ConfigSource.fromPartial({
  configSourceSpecifier: { $case: 'ads', value: {} },
  resourceApiVersion: ApiVersion.V3,
});

/** Closes gaps between priorities: gRPC rejects them. */
function filterAssignment(assignment: ClusterLoadAssignment, facts: DialFacts) {
  const dropped: string[] = [];
  const left = assignment.endpoints.map((locality) => ({
    ...locality,
    lbEndpoints: locality.lbEndpoints.filter((host) => {
      const socket = findSocket(host);
      const at = socket && readSocketAddress(socket);
      if (at && mayDialAddress(facts, at)) return true;
      dropped.push(formatLabel(host));
      return false;
    }),
  }));
  if (dropped.length === 0) return { assignment: { ...assignment, endpoints: left }, dropped };
  const kept = left.filter(
    ({ lbEndpoints }, i) => lbEndpoints.length > 0 || assignment.endpoints[i]?.lbEndpoints.length === 0,
  );
  const priorities = [...new Set(kept.map(({ priority }) => priority))].sort((a, b) => a - b);
  const placed = kept.map((locality) => ({ ...locality, priority: priorities.indexOf(locality.priority) }));
  return { assignment: { ...assignment, endpoints: placed }, dropped };
}

function withAddresses(host: PermittedHost, addresses: AddressLookup): readonly PermittedHost[] {
  const { hostIdentifier } = host;
  const socket = findSocket(host);
  if (hostIdentifier?.$case !== 'endpoint' || !socket) return [];
  if (isIP(socket.address) !== 0) return [host];
  return addresses(socket.address).map((address) => {
    const value = {
      ...hostIdentifier.value,
      hostname: socket.address,
      address: toProtoAddress({ ...socket, address }),
    };
    return { ...host, hostIdentifier: { $case: 'endpoint' as const, value } };
  });
}

function toProtoAddress(value: NonNullable<ReturnType<typeof findSocket>>) {
  return { address: { $case: 'socketAddress' as const, value } };
}

function findSocket({ hostIdentifier }: PermittedHost) {
  const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
  return at?.$case === 'socketAddress' ? at.value : undefined;
}

function formatLabel(host: PermittedHost): string {
  const socket = findSocket(host);
  const name = host.hostIdentifier?.$case === 'endpoint' ? host.hostIdentifier.value.hostname : '';
  const place = formatAddress(socket && readSocketAddress(socket));
  return name === '' ? place : `${place} (${name})`;
}

/** Encodes changed content, with a new version. */
function encodeResource<T, P>(base: EncodedResource, type: MessageCodec<T, P>, message: P): EncodedResource {
  const { type: of, name, endpointsName } = base;
  const bytes = encodeMessage(type, message);
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { type: of, name, version, bytes, ...(endpointsName !== undefined && { endpointsName }) };
}
