import {
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  HttpProtocolOptions,
  ProxyProtocolConfig_Version,
  ProxyProtocolUpstreamTransport,
  RawBuffer,
} from '@causeway/proto-gen';
import { hasNames, isPlaintextOnly, type DestinationUpstream } from '../model/destination';
import type { ExternalTarget } from '../model/external-target';
import type { EgressWay } from '../model/zone-egress';
import type { SocketAddress } from '../model/ingress-endpoint';
import { toProtoDuration, packFilter } from '@causeway/xds-server';
import { externalEndpoints, externalSockets, namedExternalEndpoints, needsSystemAuthorities } from './external-sockets';
import type { Inbound } from '../dataplane/inbound';
import { endpoint, namedEndpoints, namedLocalEndpoints } from './endpoints';
import {
  balancing,
  circuitBreakers,
  ejection,
  NO_RULES,
  unreachableEndpoints,
  type BackendRules,
} from '../policies/cluster-rules';
import { isExcluded, sharesByZone, type LocalitySpec } from '../policies/locality-rule';
import { EGRESS_ENDPOINTS, ingressEndpointsName, localEndpointsName } from '../names/resource-names';
import { FROM_ADS, upstreamTls } from './tls';
import type { ClusterFields } from '../model/message-fields';

const CONNECT_TIMEOUT = toProtoDuration(5_000);
/**
 * The maximum age of connections to other zones or to an egress: after it a connection takes no new request, and it ends with its last one. An
 * ingress passes whole connections through, so only new connections reach an ingress or instance that was added later.
 */
const CROSS_ZONE_AGE = toProtoDuration(15 * 60_000);
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Reports whether connections of a destination's protocol pass a connection manager, so that requests follow routes. */
export function isHttp({ protocol }: Pick<DestinationUpstream, 'protocol'>): boolean {
  return protocol === 'http' || isHttp2({ protocol });
}

function isHttp2({ protocol }: Pick<DestinationUpstream, 'protocol'>): boolean {
  return protocol === 'http2' || protocol === 'grpc';
}

interface ClusterOptions {
  readonly zone: string;
  /** The rules of policies for the destination. */
  readonly rules?: BackendRules;
  /** The file of the system authorities of the proxies' host; undefined where it is not known. */
  readonly systemAuthorities?: string | undefined;
  /** Whether the cluster contains host names, for an agent that resolves them; otherwise endpoints are requested by EDS and are addresses. */
  readonly withNames?: boolean;
}

/**
 * Returns the cluster of a destination under this name. A destination that one other zone alone serves uses the endpoints of that zone's ingress; any
 * other uses its own endpoints. Without known identities no server is trusted, so only plaintext endpoints are used.
 */
export function destinationCluster(
  name: string,
  destination: DestinationUpstream,
  { zone, systemAuthorities, rules = NO_RULES, withNames = false }: ClusterOptions,
): ClusterFields {
  if (destination.egress) return throughEgress(name, destination, destination.egress, rules);
  if (destination.external)
    return externalCluster(name, destination, destination.external, { systemAuthorities, rules, withNames });
  const { sni, identities, remote } = destination;
  const locality = rules.balancing?.locality;
  const local = [...destination.local, ...destination.localNames];
  const hasPlaintext = local.some(({ plaintext }) => plaintext);
  if (identities.length === 0 && !hasPlaintext) return emptyCluster(name);
  const usual = remote.length === 1 && local.length === 0 ? remote[0]?.sni : undefined;
  const [main, other] = usual === 'hash' || sni.kri === '' ? [sni.hash, ''] : [sni.kri, sni.hash];
  // A destination without a server name can be reached in this zone only, where no server name is read.
  const mixed = usual === undefined && remote.some((zone) => zone.sni === 'hash') && other !== '';
  const tls = upstreamTls(main, identities);
  // Envoy waits for the certificates that a cluster names: where no endpoint uses TLS there may be none.
  const isPlaintext = isPlaintextOnly(destination);
  const matches = [
    ...(hasPlaintext ? [{ name: 'plaintext', match: { tls: 'off' }, transportSocket: PLAINTEXT }] : []),
    ...(mixed ? [{ name: 'hash', match: { sni: 'hash' }, transportSocket: upstreamTls(other, identities) }] : []),
  ];
  return {
    name,
    ...(withNames && hasNames(destination)
      ? resolved(namedEndpoints(name, destination, zone, locality), rules)
      : eds(formatEndpointsName(destination, locality), rules)),
    ...(!isPlaintext && { transportSocket: tls }),
    ...(!isPlaintext &&
      matches.length > 0 && {
        transportSocketMatches: [...matches, { name: 'tls', match: {}, transportSocket: tls }],
      }),
    typedExtensionProtocolOptions: httpOptions(destination),
    ...toOutlierDetection(destination, rules),
    ...((destination.service.kind === 'MeshMultiZoneService' || sharesByZone(locality)) && {
      commonLbConfig: weightedLocalities,
    }),
  };
}

/**
 * Ejection needs endpoints in this zone, because behind the address of another zone's ingress stand many servers. It also needs a second endpoint
 * that can serve, so that a service with one new instance is not ejected.
 */
function toOutlierDetection({ local, localNames, remote }: DestinationUpstream, rules: BackendRules) {
  const here = local.length + localNames.length;
  const usual = here > 0 && here + remote.length > 1 ? unreachableEndpoints : undefined;
  const all = here === 0 ? 'ingresses' : remote.length === 0 ? 'instances' : 'instances and ingresses';
  const outlierDetection = ejection(rules, all, usual);
  return outlierDetection && { outlierDetection };
}

/**
 * Returns the EDS name of a destination inside the mesh: the endpoints of the ingress of the only zone that serves it, which all services of that
 * zone share, unless a policy excludes the zone.
 */
function formatEndpointsName({ name, service, local, remote }: DestinationUpstream, locality?: LocalitySpec): string {
  const [first, second] = remote;
  const isOnly = service.kind === 'MeshService' && local.length === 0 && first !== undefined && second === undefined;
  return isOnly && !isExcluded(first.zone, locality) ? ingressEndpointsName(service.mesh, first.zone) : name;
}

const PLAINTEXT = packFilter('raw', RawBuffer, {});
/**
 * Disables the panic threshold: no traffic goes to unhealthy endpoints however few are healthy; it fails over to other zones, or fails at once.
 * Changes of endpoint health apply at once; by default Envoy collects them for a second.
 */
const noPanic = { healthyPanicThreshold: { value: 0 }, updateMergeWindow: toProtoDuration(0) };
/** The zones of a MeshMultiZoneService share its traffic in proportion to their instances. */
const weightedLocalities = {
  ...noPanic,
  localityConfigSpecifier: { $case: 'localityWeightedLbConfig' as const, value: {} },
};

/** At least one egress is never ejected: if all were unreachable a moment ago, connections should still be tried. */
const unreachableEgresses = { ...unreachableEndpoints, maxEjectionPercent: 99 };

function eds(serviceName: string, rules: BackendRules) {
  return {
    clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: FROM_ADS, serviceName },
    connectTimeout: CONNECT_TIMEOUT,
    circuitBreakers: circuitBreakers(rules),
    ...balancing(rules),
    commonLbConfig: noPanic,
    closeConnectionsOnHostHealthFailure: true,
  };
}

/** Returns a cluster with inline endpoints, some of them host names. Only agents get it; they send addresses to their Envoys. */
function resolved(loadAssignment: ReturnType<typeof namedEndpoints>, rules: BackendRules) {
  return {
    clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.STRICT_DNS },
    dnsLookupFamily: Cluster_DnsLookupFamily.V4_PREFERRED,
    respectDnsTtl: true,
    loadAssignment,
    connectTimeout: CONNECT_TIMEOUT,
    circuitBreakers: circuitBreakers(rules),
    ...balancing(rules),
    commonLbConfig: noPanic,
  };
}

/**
 * Returns the protocol options of a destination's servers: HTTP/2 for http2 and grpc. Requests that routes send to a TCP port keep their HTTP
 * version.
 */
function httpOptions(
  destination: Pick<DestinationUpstream, 'protocol'> & Partial<Pick<DestinationUpstream, 'remote' | 'egress'>>,
) {
  const upstreamProtocolOptions = upstreamHttp(destination);
  if (!upstreamProtocolOptions) return {};
  const { remote = [], egress } = destination;
  const { configType } = packFilter('http', HttpProtocolOptions, {
    upstreamProtocolOptions,
    ...((remote.length > 0 || egress) && { commonHttpProtocolOptions: { maxConnectionDuration: CROSS_ZONE_AGE } }),
  });
  return { [HTTP_OPTIONS]: configType.value };
}

function upstreamHttp({ protocol }: Pick<DestinationUpstream, 'protocol'>) {
  const options = { httpProtocolOptions: {}, http2ProtocolOptions: {} };
  if (protocol === 'tcp') return { $case: 'useDownstreamProtocolConfig' as const, value: options };
  if (!isHttp({ protocol })) return undefined;
  const protocolConfig =
    protocol === 'http'
      ? { $case: 'httpProtocolOptions' as const, value: {} }
      : { $case: 'http2ProtocolOptions' as const, value: {} };
  return { $case: 'explicitHttpConfig' as const, value: { protocolConfig } };
}

/** Returns a cluster without endpoints: connections are refused at once. If the cluster were missing, they would hang. */
export function emptyCluster(name: string): ClusterFields {
  return staticCluster(name, []);
}

function staticCluster(name: string, at: readonly SocketAddress[]): ClusterFields {
  return {
    name,
    clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
    connectTimeout: CONNECT_TIMEOUT,
    circuitBreakers: circuitBreakers(NO_RULES),
    loadAssignment: {
      clusterName: name,
      endpoints: at.length === 0 ? [] : [{ lbEndpoints: at.map((to) => endpoint(to)) }],
    },
  };
}

/** Returns the cluster of the process behind an inbound: plaintext, on its own host. */
export function processCluster({ process, protocol, clusterName }: Inbound): ClusterFields {
  return { ...staticCluster(clusterName, [process]), typedExtensionProtocolOptions: httpOptions({ protocol }) };
}

/** Returns the cluster that sends the first connection to an HTTP address back into the same Envoy, with its original destination address. */
export function reentryCluster(name: string, listener: SocketAddress): ClusterFields {
  return {
    ...staticCluster(name, [listener]),
    transportSocket: packFilter('proxy-protocol', ProxyProtocolUpstreamTransport, {
      config: { version: ProxyProtocolConfig_Version.V2 },
      transportSocket: PLAINTEXT,
    }),
  };
}

/** Returns the cluster of a server name at the zone ingress: the destination's endpoints in this zone, with bytes passed unchanged. */
export function ingressCluster(
  name: string,
  destination: DestinationUpstream,
  { zone, withNames = false }: Pick<ClusterOptions, 'zone' | 'withNames'>,
): ClusterFields {
  if (withNames && destination.localNames.length > 0)
    return { name, ...resolved(namedLocalEndpoints(name, destination, zone), NO_RULES) };
  return { name, ...eds(localEndpointsName(destination.name), NO_RULES) };
}

/**
 * Returns the cluster of a service outside the mesh for proxies of a zone with an egress: mesh TLS to the egress, never around it. With several
 * egresses, an unreachable one is ejected for a while.
 */
function throughEgress(
  name: string,
  destination: DestinationUpstream,
  { serverName, identity }: EgressWay,
  { breaker }: BackendRules,
): ClusterFields {
  return {
    name,
    // The egress chooses the endpoint of the service.
    ...eds(EGRESS_ENDPOINTS, { ...(breaker && { breaker }) }),
    transportSocket: upstreamTls(serverName, identity === '' ? [] : [identity]),
    typedExtensionProtocolOptions: httpOptions(destination),
    outlierDetection: unreachableEgresses,
  };
}

/**
 * Returns the egress's cluster of a service outside the mesh: bytes as the client's proxy sends them, wrapped in the TLS that the service requires.
 * An HTTP server learns the HTTP version by ALPN.
 */
export function leavingCluster(
  name: string,
  destination: DestinationUpstream,
  { systemAuthorities }: Pick<ClusterOptions, 'systemAuthorities'>,
): ClusterFields {
  const { external, protocol } = destination;
  if (!external) return emptyCluster(name);
  const alpn = isHttp2({ protocol }) ? ['h2'] : protocol === 'http' ? ['http/1.1'] : [];
  const options = { systemAuthorities, rules: NO_RULES, withNames: false };
  const made = externalCluster(name, destination, external, options);
  const { typedExtensionProtocolOptions: _, edsClusterConfig, ...cluster } = made;
  // A policy may give a service another cluster: with inline endpoints no connection waits for EDS.
  const held = edsClusterConfig && {
    clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.STATIC },
    loadAssignment: externalEndpoints(name, destination),
  };
  return { ...cluster, ...held, ...(cluster.transportSocket && externalSockets(external, systemAuthorities, alpn)) };
}

/** Traffic never leaves unprotected: if a server must be verified and cannot be, the cluster has no endpoints. */
function externalCluster(
  name: string,
  destination: DestinationUpstream,
  external: ExternalTarget,
  { systemAuthorities, rules, withNames }: Required<Omit<ClusterOptions, 'zone'>>,
): ClusterFields {
  const outlierDetection = ejection(
    rules,
    'instances',
    external.endpoints.length > 1 ? unreachableEndpoints : undefined,
  );
  if (external.endpoints.length === 0) return emptyCluster(name);
  if (systemAuthorities === undefined && needsSystemAuthorities(destination)) return emptyCluster(name);
  return {
    name,
    ...(withNames
      ? resolved({ clusterName: name, endpoints: namedExternalEndpoints(external) }, rules)
      : // Connections stay open when the addresses of a name change.
        { ...eds(destination.name, rules), closeConnectionsOnHostHealthFailure: false }),
    ...(outlierDetection && { outlierDetection }),
    typedExtensionProtocolOptions: httpOptions(destination),
    ...externalSockets(external, systemAuthorities),
  };
}
