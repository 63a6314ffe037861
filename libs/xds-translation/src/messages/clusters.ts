import {
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  HttpProtocolOptions,
  ProxyProtocolConfig_Version,
  ProxyProtocolUpstreamTransport,
  RawBuffer,
} from '@causeway/proto-gen';
import { hasNames, isPlaintextOnly, type Destination } from '../model/destination';
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
 * After so long a connection to another zone, or to an egress, takes no new request, and ends with its last: an ingress passes
 * connections on, so only new ones reach an ingress or an instance that came later.
 */
const CROSS_ZONE_AGE = toProtoDuration(15 * 60_000);
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Protocols whose connections have a connection manager: their requests follow routes. */
export function isHttp({ protocol }: Pick<Destination, 'protocol'>): boolean {
  return protocol === 'http' || isHttp2({ protocol });
}

function isHttp2({ protocol }: Pick<Destination, 'protocol'>): boolean {
  return protocol === 'http2' || protocol === 'grpc';
}

interface ClusterOptions {
  readonly zone: string;
  /** The rules of policies for the destination. */
  readonly rules?: BackendRules;
  /** The file of the authorities that the proxies' machine believes; undefined where it is not known. */
  readonly systemAuthorities?: string | undefined;
  /** The cluster holds host names, for an agent that resolves them; else it asks for endpoints, which are addresses. */
  readonly withNames?: boolean;
}

/**
 * The cluster of a destination under this name. A destination of one other zone has the endpoints of that zone's ingress endpoint;
 * otherwise it has its own. Without known identities nobody is believed, so at most endpoints that are spoken to in plaintext count.
 */
export function destinationCluster(
  name: string,
  destination: Destination,
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
  // A destination that no server name stands for is reached in this zone only, where none is read.
  const mixed = usual === undefined && remote.some((zone) => zone.sni === 'hash') && other !== '';
  const tls = upstreamTls(main, identities);
  // A cluster that names certificates waits for them: where nobody speaks TLS there may be none.
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
 * Only where there are endpoints of this zone, for behind the address of another zone's ingress stand many servers, and where another
 * endpoint can serve: a service that has just begun is not kept away.
 */
function toOutlierDetection({ local, localNames, remote }: Destination, rules: BackendRules) {
  const here = local.length + localNames.length;
  const usual = here > 0 && here + remote.length > 1 ? unreachableEndpoints : undefined;
  const all = here === 0 ? 'ingresses' : remote.length === 0 ? 'instances' : 'instances and ingresses';
  const outlierDetection = ejection(rules, all, usual);
  return outlierDetection && { outlierDetection };
}

/**
 * The name of the endpoints of a destination that is no external one: that of the ingress endpoint of the only zone that serves it, which all
 * services of the zone share, unless a policy wants nothing sent there.
 */
function formatEndpointsName({ name, service, local, remote }: Destination, locality?: LocalitySpec): string {
  const [first, second] = remote;
  const isOnly = service.kind === 'MeshService' && local.length === 0 && first !== undefined && second === undefined;
  return isOnly && !isExcluded(first.zone, locality) ? ingressEndpointsName(service.mesh, first.zone) : name;
}

const PLAINTEXT = packFilter('raw', RawBuffer, {});
/**
 * No traffic to unhealthy endpoints however few are healthy: it fails over to other zones, or fails at once. An endpoint that
 * cannot be reached, or is so no more, counts at once: by default Envoy collects such changes for a second.
 */
const noPanic = { healthyPanicThreshold: { value: 0 }, updateMergeWindow: toProtoDuration(0) };
/** The zones of a MeshMultiZoneService share its traffic by their instances. */
const weightedLocalities = {
  ...noPanic,
  localityConfigSpecifier: { $case: 'localityWeightedLbConfig' as const, value: {} },
};

/** Of egresses one is always left: that one was away is no reason to wait for it. */
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

/** A cluster that holds its endpoints, some of them with host names. Only agents get it, which hand their Envoys addresses. */
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

/** Servers are spoken to as their port says: HTTP/2 for http2 and grpc. Requests that routes send to a port of bytes stay what they are. */
function httpOptions(destination: Pick<Destination, 'protocol'> & Partial<Pick<Destination, 'remote' | 'egress'>>) {
  const upstreamProtocolOptions = upstreamHttp(destination);
  if (!upstreamProtocolOptions) return {};
  const { remote = [], egress } = destination;
  const { configType } = packFilter('http', HttpProtocolOptions, {
    upstreamProtocolOptions,
    ...((remote.length > 0 || egress) && { commonHttpProtocolOptions: { maxConnectionDuration: CROSS_ZONE_AGE } }),
  });
  return { [HTTP_OPTIONS]: configType.value };
}

function upstreamHttp({ protocol }: Pick<Destination, 'protocol'>) {
  const options = { httpProtocolOptions: {}, http2ProtocolOptions: {} };
  if (protocol === 'tcp') return { $case: 'useDownstreamProtocolConfig' as const, value: options };
  if (!isHttp({ protocol })) return undefined;
  const protocolConfig =
    protocol === 'http'
      ? { $case: 'httpProtocolOptions' as const, value: {} }
      : { $case: 'http2ProtocolOptions' as const, value: {} };
  return { $case: 'explicitHttpConfig' as const, value: { protocolConfig } };
}

/** A cluster without endpoints: connections are refused at once, where a missing cluster would let them hang. */
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

/** The process behind an inbound, in plain on its own machine. */
export function processCluster({ process, protocol, clusterName }: Inbound): ClusterFields {
  return { ...staticCluster(clusterName, [process]), typedExtensionProtocolOptions: httpOptions({ protocol }) };
}

/** Leads the first connection to an HTTP address back into the same Envoy, with the address that was dialled. */
export function reentryCluster(name: string, listener: SocketAddress): ClusterFields {
  return {
    ...staticCluster(name, [listener]),
    transportSocket: packFilter('proxy-protocol', ProxyProtocolUpstreamTransport, {
      config: { version: ProxyProtocolConfig_Version.V2 },
      transportSocket: PLAINTEXT,
    }),
  };
}

/** A server name at the zone ingress: the destination's endpoints in this zone, bytes as they are. */
export function ingressCluster(
  name: string,
  destination: Destination,
  { zone, withNames = false }: Pick<ClusterOptions, 'zone' | 'withNames'>,
): ClusterFields {
  if (withNames && destination.localNames.length > 0)
    return { name, ...resolved(namedLocalEndpoints(name, destination, zone), NO_RULES) };
  return { name, ...eds(localEndpointsName(destination.name), NO_RULES) };
}

/**
 * A service outside the mesh as the proxies of a zone with an egress reach it: by TLS of the mesh, to the egress and nowhere else. With
 * several egresses, one that cannot be reached is left for a while.
 */
function throughEgress(
  name: string,
  destination: Destination,
  { serverName, identity }: EgressWay,
  { breaker }: BackendRules,
): ClusterFields {
  return {
    name,
    // Which of its endpoints a service is reached at is chosen by the egress.
    ...eds(EGRESS_ENDPOINTS, { ...(breaker && { breaker }) }),
    transportSocket: upstreamTls(serverName, identity === '' ? [] : [identity]),
    typedExtensionProtocolOptions: httpOptions(destination),
    outlierDetection: unreachableEgresses,
  };
}

/**
 * A service outside the mesh at the egress: bytes as the client's proxy sends them, in the TLS that the service asks for. An HTTP server
 * learns by ALPN which HTTP they are.
 */
export function leavingCluster(
  name: string,
  destination: Destination,
  { systemAuthorities }: Pick<ClusterOptions, 'systemAuthorities'>,
): ClusterFields {
  const { external, protocol } = destination;
  if (!external) return emptyCluster(name);
  const alpn = isHttp2({ protocol }) ? ['h2'] : protocol === 'http' ? ['http/1.1'] : [];
  const options = { systemAuthorities, rules: NO_RULES, withNames: false };
  const made = externalCluster(name, destination, external, options);
  const { typedExtensionProtocolOptions: _, edsClusterConfig, ...cluster } = made;
  // A policy gives a service another cluster: with its endpoints in it no connection waits for them.
  const held = edsClusterConfig && {
    clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.STATIC },
    loadAssignment: externalEndpoints(name, destination),
  };
  return { ...cluster, ...held, ...(cluster.transportSocket && externalSockets(external, systemAuthorities, alpn)) };
}

/** Nothing goes out unprotected: without the means to check a server that must be checked there are no endpoints. */
function externalCluster(
  name: string,
  destination: Destination,
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
      : // Connections stay where the addresses of a name change.
        { ...eds(destination.name, rules), closeConnectionsOnHostHealthFailure: false }),
    ...(outlierDetection && { outlierDetection }),
    typedExtensionProtocolOptions: httpOptions(destination),
    ...externalSockets(external, systemAuthorities),
  };
}
