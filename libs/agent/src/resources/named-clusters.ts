import { isIP } from 'node:net';
import { Cluster, Cluster_DiscoveryType, ClusterLoadAssignment } from '@causeway/proto-gen';
import { encodeResource, FROM_ADS, RESOURCE_TYPES, type EncodedResource, type HostSource } from '@causeway/xds';

/** Before the name of a cluster: its endpoints at addresses, which the zone does not know. */
const RESOLVED = 'resolved:';

/** A cluster as a proxy gets it, without names, and its endpoints with them. */
interface NamedCluster {
  readonly cluster: EncodedResource;
  readonly endpoints: ClusterLoadAssignment;
  /** Names and addresses. */
  readonly hosts: readonly string[];
}

/** Whether a resource of endpoints is made by the agent from what its resolver says. */
export function isResolvedName(type: string, name: string): boolean {
  return type === RESOURCE_TYPES.endpoints && name.startsWith(RESOLVED);
}

/** The cluster of which `resolvedName` gives the endpoints. */
export function clusterOfResolved(name: string): string {
  return name.slice(RESOLVED.length);
}

export function resolvedName(cluster: string): string {
  return RESOLVED + cluster;
}

/**
 * Clusters with host names, as a zone sends them to agents, in the form that proxies of this machine get: they ask for endpoints, which are
 * addresses that this machine may dial. No proxy resolves a name itself, for nobody would check what it finds.
 */
export class NamedClusters {
  private readonly known = new WeakMap<EncodedResource, NamedCluster | 'none'>();

  constructor(private readonly hosts: Pick<HostSource, 'resolve'>) {}

  /** The cluster for proxies: the same where it has no names. */
  withoutNames(resource: EncodedResource): EncodedResource {
    return this.of(resource)?.cluster ?? resource;
  }

  /** The names and addresses of a cluster whose endpoints are made here; none for others. */
  hostsOf(resource: EncodedResource): readonly string[] {
    return this.of(resource)?.hosts ?? [];
  }

  /** The endpoints of a cluster; `pending` until each of its names was asked for once, undefined where it has none of its own. */
  endpointsOf(resource: EncodedResource): EncodedResource | 'pending' | undefined {
    const named = this.of(resource);
    if (!named) return undefined;
    if (named.hosts.some((host) => this.hosts.resolve(host).isPending === true)) return 'pending';
    const endpoints = named.endpoints.endpoints.map((locality) => ({
      ...locality,
      lbEndpoints: locality.lbEndpoints.flatMap((each) => this.atAddresses(each)),
    }));
    const fields = { ...named.endpoints, clusterName: resolvedName(resource.name), endpoints };
    const result = encodeResource(ClusterLoadAssignment, fields);
    return result.ok ? result.resource : undefined;
  }

  private atAddresses(each: LbEndpoint): readonly LbEndpoint[] {
    const host = hostOf(each);
    if (host === undefined || each.hostIdentifier?.$case !== 'endpoint') return [];
    const { value } = each.hostIdentifier;
    return this.hosts.resolve(host).addresses.flatMap((address) => {
      const at = value.address?.address;
      if (at?.$case !== 'socketAddress') return [];
      const socket = { address: { $case: at.$case, value: { ...at.value, address } } };
      const moved = { ...value, address: { ...value.address, ...socket } };
      return [{ ...each, hostIdentifier: { $case: 'endpoint' as const, value: moved } }];
    });
  }

  private of(resource: EncodedResource): NamedCluster | undefined {
    const known = this.known.get(resource) ?? read(resource) ?? 'none';
    this.known.set(resource, known);
    return known === 'none' ? undefined : known;
  }
}

type LbEndpoint = ClusterLoadAssignment['endpoints'][number]['lbEndpoints'][number];

/** Undefined where the cluster asks for its endpoints, or has none but those that it is given for good. */
function read({ type, name, bytes }: EncodedResource): NamedCluster | undefined {
  if (type !== RESOURCE_TYPES.cluster) return undefined;
  const cluster = Cluster.decode(bytes);
  const { clusterDiscoveryType: discovery, loadAssignment, dnsLookupFamily: _, respectDnsTtl: __, ...rest } = cluster;
  const { STRICT_DNS, LOGICAL_DNS, EDS } = Cluster_DiscoveryType;
  if (discovery?.$case !== 'type' || (discovery.value !== STRICT_DNS && discovery.value !== LOGICAL_DNS))
    return undefined;
  const endpoints = loadAssignment ?? ClusterLoadAssignment.fromPartial({ clusterName: name });
  const result = encodeResource(Cluster, {
    ...rest,
    clusterDiscoveryType: { $case: 'type', value: EDS },
    edsClusterConfig: { edsConfig: FROM_ADS, serviceName: resolvedName(name) },
  });
  if (!result.ok) return undefined;
  const hosts = endpoints.endpoints.flatMap(({ lbEndpoints }) => lbEndpoints.flatMap((each) => hostOf(each) ?? []));
  return { cluster: result.resource, endpoints, hosts: [...new Set(hosts)] };
}

function hostOf({ hostIdentifier }: LbEndpoint): string | undefined {
  const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
  return at?.$case === 'socketAddress' ? at.value.address : undefined;
}

/** Those of hosts that are names. */
export function namesAmong(hosts: readonly string[]): readonly string[] {
  return hosts.filter((host) => isIP(host) === 0);
}
