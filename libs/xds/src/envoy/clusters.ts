import {
  type Cluster,
  Cluster_DiscoveryType,
  HttpProtocolOptions,
  ProxyProtocolConfig_Version,
  ProxyProtocolUpstreamTransport,
  RawBuffer,
  SubjectAltNameMatcher_SanType,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import { isIP } from 'node:net';
import { isPlaintextOnly, type Destination } from '../model/destination';
import type { SocketAddress } from '../model/zone-entrance';
import { durationOf, packFilter } from '../resources/any';
import type { Inbound } from './inbound';
import { endpoint, localityOf } from './endpoints';
import { entranceEndpointsName, localEndpointsName } from './names';
import { FROM_ADS, upstreamTls } from './tls';

type ClusterFields = Parameters<typeof Cluster.fromPartial>[0] & { readonly name: string };

const CONNECT_TIMEOUT = durationOf(5_000);
/**
 * After so long a connection to another zone takes no new request, and ends with its last: an ingress passes connections on, so
 * only new ones reach an ingress or an instance that came later.
 */
const CROSS_ZONE_AGE = durationOf(15 * 60_000);
/** As good as none: Envoy’s own bounds of 1,024 connections and 3 retries would refuse traffic that the server could take. */
const NO_BREAKER = 1_000_000;
const circuitBreakers = {
  thresholds: [
    { maxConnections: NO_BREAKER, maxPendingRequests: NO_BREAKER, maxRequests: NO_BREAKER, maxRetries: NO_BREAKER },
  ],
};
const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Protocols whose connections have a connection manager: their requests follow routes. */
export function isHttp({ protocol }: Pick<Destination, 'protocol'>): boolean {
  return protocol === 'http' || isHttp2({ protocol });
}

function isHttp2({ protocol }: Pick<Destination, 'protocol'>): boolean {
  return protocol === 'http2' || protocol === 'grpc';
}

/**
 * The cluster of a destination under this name. A destination of one other zone has the endpoints of that zone's entrance;
 * otherwise it has its own. Without known identities nobody is believed, so at most endpoints that are spoken to in plaintext count.
 */
export function destinationCluster(name: string, destination: Destination): ClusterFields {
  if (destination.external) return externalCluster(name, destination);
  const { sni, identities, remote, local } = destination;
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
    ...eds(endpointsNameOf(destination)),
    ...(!isPlaintext && { transportSocket: tls }),
    ...(!isPlaintext &&
      matches.length > 0 && {
        transportSocketMatches: [...matches, { name: 'tls', match: {}, transportSocket: tls }],
      }),
    typedExtensionProtocolOptions: httpOptions(destination),
    ...(destination.local.length > 0 && { outlierDetection: unreachableEndpoints }),
    ...(destination.service.kind === 'MeshMultiZoneService' && { commonLbConfig: weightedLocalities }),
  };
}

/** The name of the endpoints of a destination that is no external one. */
export function endpointsNameOf({ name, service, local, remote }: Destination): string {
  const [first, second] = remote;
  const shared = service.kind === 'MeshService' && local.length === 0 && first !== undefined && second === undefined;
  return shared ? entranceEndpointsName(service.mesh, first.zone) : name;
}

const PLAINTEXT = packFilter('raw', RawBuffer, {});
/**
 * No traffic to unhealthy endpoints however few are healthy: it fails over to other zones, or fails at once. An endpoint that
 * cannot be reached, or is so no more, counts at once: by default Envoy collects such changes for a second.
 */
const noPanic = { healthyPanicThreshold: { value: 0 }, updateMergeWindow: durationOf(0) };
/** The zones of a MeshMultiZoneService share its traffic by their instances. */
const weightedLocalities = {
  ...noPanic,
  localityConfigSpecifier: { $case: 'localityWeightedLbConfig' as const, value: {} },
};

/**
 * An endpoint that cannot be reached twice in a row gets nothing for 2 s, and longer each time, up to 10 s: of the three attempts of a
 * connection the third goes elsewhere. What servers answer never counts. Only where there are endpoints of this zone: behind the
 * address of another zone's ingress stand many servers, and one of them that is gone would take them all away.
 */
const unreachableEndpoints = {
  splitExternalLocalOriginErrors: true,
  consecutiveLocalOriginFailure: 2,
  interval: durationOf(1_000),
  baseEjectionTime: durationOf(2_000),
  maxEjectionTime: durationOf(10_000),
  maxEjectionPercent: 100,
  enforcingConsecutive5xx: 0,
  enforcingSuccessRate: 0,
  enforcingLocalOriginSuccessRate: 0,
};

function eds(serviceName: string) {
  return {
    clusterDiscoveryType: { $case: 'type' as const, value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: FROM_ADS, serviceName },
    connectTimeout: CONNECT_TIMEOUT,
    circuitBreakers,
    commonLbConfig: noPanic,
    closeConnectionsOnHostHealthFailure: true,
  };
}

/** Servers are spoken to as their port says: HTTP/2 for http2 and grpc. */
function httpOptions(destination: Pick<Destination, 'protocol'> & Partial<Pick<Destination, 'remote'>>) {
  if (!isHttp(destination)) return {};
  const { remote = [] } = destination;
  const protocolConfig =
    destination.protocol === 'http'
      ? { $case: 'httpProtocolOptions' as const, value: {} }
      : { $case: 'http2ProtocolOptions' as const, value: {} };
  const upstreamProtocolOptions = { $case: 'explicitHttpConfig' as const, value: { protocolConfig } };
  const { configType } = packFilter('http', HttpProtocolOptions, {
    upstreamProtocolOptions,
    ...(remote.length > 0 && { commonHttpProtocolOptions: { maxConnectionDuration: CROSS_ZONE_AGE } }),
  });
  return { [HTTP_OPTIONS]: configType.value };
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
    circuitBreakers,
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
export function ingressCluster(name: string, destination: Destination): ClusterFields {
  return { name, ...eds(localEndpointsName(destination.name)) };
}

function externalCluster(name: string, destination: Destination): ClusterFields {
  const { endpoints = [], tls } = destination.external ?? {};
  const [first] = endpoints;
  if (!first) return emptyCluster(name);
  const priorities = [...new Set(endpoints.map(({ priority }) => priority))].sort((a, b) => a - b);
  const isStatic = endpoints.every(({ host }) => isIP(host) !== 0);
  const type = isStatic ? Cluster_DiscoveryType.STATIC : Cluster_DiscoveryType.STRICT_DNS;
  return {
    name,
    clusterDiscoveryType: { $case: 'type', value: type },
    connectTimeout: CONNECT_TIMEOUT,
    circuitBreakers,
    loadAssignment: {
      clusterName: name,
      endpoints: priorities.map((priority, i) => ({
        ...localityOf('', i),
        lbEndpoints: endpoints
          .filter((each) => each.priority === priority)
          .map(({ host, port }) => endpoint({ address: host, port })),
      })),
    },
    typedExtensionProtocolOptions: httpOptions(destination),
    ...(tls && { transportSocket: externalTls(tls.serverName || first.host, tls.authority) }),
  };
}

/** TLS towards a server outside the mesh, whose certificate must name `host`. */
function externalTls(host: string, authority: string) {
  const isAddress = isIP(host) !== 0;
  const sanType = isAddress ? SubjectAltNameMatcher_SanType.IP_ADDRESS : SubjectAltNameMatcher_SanType.DNS;
  const value = {
    trustedCa: { specifier: { $case: 'inlineString' as const, value: authority } },
    matchTypedSubjectAltNames: [{ sanType, matcher: { matchPattern: { $case: 'exact' as const, value: host } } }],
  };
  return packFilter('tls', UpstreamTlsContext, {
    sni: isAddress ? '' : host,
    commonTlsContext: { validationContextType: { $case: 'validationContext', value } },
  });
}
