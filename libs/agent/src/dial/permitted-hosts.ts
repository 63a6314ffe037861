import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { ApiVersion, Cluster, Cluster_DiscoveryType, ClusterLoadAssignment, ConfigSource } from '@causeway/proto-gen';
import { encodeMessage, RESOURCE_TYPES, type EncodedResource, type MessageCodec } from '@causeway/xds-server';
import { isDialled, type DialFacts } from './dial-facts';
import { readSocketAddress, formatAddress } from './resource-rules';

const { cluster, endpoints } = RESOURCE_TYPES;
/** The name of the endpoints of a cluster whose hosts have names. */
const RESOLVED = 'resolved:';

type LocalityEndpoints = ClusterLoadAssignment['endpoints'][number];
type PermittedHost = LocalityEndpoints['lbEndpoints'][number];

/** Host names to addresses, as they are known now. */
export type AddressLookup = (host: string) => readonly string[];

/** A resource as a plane gets it, and what it was left out of it. */
export interface PermittedHosts {
  readonly resource: EncodedResource;
  /** `host:port`, with the address where the host is a name; not sorted. */
  readonly dropped: readonly string[];
}

/** The endpoints that a cluster with this name gets when its hosts are resolved. */
export function resolvedEndpointsName(clusterName: string): string {
  return RESOLVED + clusterName;
}

/** The cluster of endpoints named by `resolvedEndpointsName`; undefined for other endpoints. */
export function clusterOfResolved(endpointsName: string): string | undefined {
  return endpointsName.startsWith(RESOLVED) ? endpointsName.slice(RESOLVED.length) : undefined;
}

/**
 * A cluster or its endpoints without the hosts that this machine does not dial; one without any stays, and is empty. A cluster whose hosts
 * have names gets endpoints of its own (`resolvedEndpoints`): the plane resolves nothing itself. Other resources are as they are.
 */
export function permittedHosts(resource: EncodedResource, facts: DialFacts): PermittedHosts {
  if (resource.type === endpoints) {
    const found = ClusterLoadAssignment.decode(resource.bytes);
    const { assignment, dropped } = permittedAssignment(found, facts);
    return dropped.length === 0
      ? { resource, dropped }
      : { resource: encoded(resource, ClusterLoadAssignment, assignment), dropped };
  }
  const found = resource.type === cluster ? Cluster.decode(resource.bytes) : undefined;
  if (!found?.loadAssignment) return { resource, dropped: [] };
  if (hostNamesIn(found).length > 0) {
    const plain = { ...found, clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS } };
    const { loadAssignment: _, ...others } = { ...plain, dnsRefreshRate: undefined, respectDnsTtl: false };
    const serviceName = resolvedEndpointsName(found.name);
    const edsClusterConfig = { edsConfig: FROM_AGENT, serviceName };
    const made = encoded(resource, Cluster, { ...others, edsClusterConfig });
    return { resource: { ...made, endpointsName: serviceName }, dropped: [] };
  }
  const { assignment, dropped } = permittedAssignment(found.loadAssignment, facts);
  if (dropped.length === 0) return { resource, dropped };
  return { resource: encoded(resource, Cluster, { ...found, loadAssignment: assignment }), dropped };
}

/** The endpoints of a cluster whose hosts have names: each address that is dialled of each name. Undefined for other clusters. */
export function resolvedEndpoints(
  resource: EncodedResource,
  facts: DialFacts,
  addresses: AddressLookup,
): PermittedHosts | undefined {
  const found = Cluster.decode(resource.bytes);
  if (!found.loadAssignment || hostNamesIn(found).length === 0) return undefined;
  const expanded = found.loadAssignment.endpoints.map((locality) => ({
    ...locality,
    lbEndpoints: locality.lbEndpoints.flatMap((host) => withAddresses(host, addresses)),
  }));
  const { assignment, dropped } = permittedAssignment({ ...found.loadAssignment, endpoints: expanded }, facts);
  const clusterName = resolvedEndpointsName(found.name);
  const base = { ...resource, type: endpoints, name: clusterName };
  return { resource: encoded(base, ClusterLoadAssignment, { ...assignment, clusterName }), dropped };
}

/** The names among the hosts of a cluster that resolves them. */
export function hostNamesIn({ clusterDiscoveryType: discovery, loadAssignment }: Cluster): readonly string[] {
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

/** Priorities have no gap afterwards: gRPC refuses one. */
function permittedAssignment(assignment: ClusterLoadAssignment, facts: DialFacts) {
  const dropped: string[] = [];
  const left = assignment.endpoints.map((locality) => ({
    ...locality,
    lbEndpoints: locality.lbEndpoints.filter((host) => {
      const socket = findSocket(host);
      const at = socket && readSocketAddress(socket);
      if (at && isDialled(facts, at)) return true;
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

/** Another content of a resource, with another version. */
function encoded<T, P>(base: EncodedResource, type: MessageCodec<T, P>, message: P): EncodedResource {
  const { type: of, name, endpointsName } = base;
  const bytes = encodeMessage(type, message);
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { type: of, name, version, bytes, ...(endpointsName !== undefined && { endpointsName }) };
}
