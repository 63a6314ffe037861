import { Cluster, Cluster_DiscoveryType, HttpProtocolOptions, type OutlierDetection } from '@causeway/proto-gen';
import { decodeLocalities, readTextValues, type EndpointLocality } from './endpoints';
import { decodeClientTls, type ClientTls } from './tls-settings';
import { asMessage, decodeDuration, UnsupportedConfig } from './unsupported-config';

/** Outlier detection: when and for how long an unreachable endpoint is ejected. Times in ms. */
export interface EjectionRule {
  /** Consecutive connect failures. */
  readonly failures: number;
  /** Interval at which the ejection count of a host decreases. */
  readonly interval: number;
  /** Duration of the first ejection; the n-th lasts n times as long. */
  readonly base: number;
  readonly maxDuration: number;
  /** Maximum share of ejected endpoints, in percent; one endpoint may always be ejected. */
  readonly maxPercent: number;
}

/** Transport socket for endpoints whose metadata match. */
interface TransportChoice {
  readonly match: Readonly<Record<string, string>>;
  readonly transport: ClientTls | 'plaintext';
}

/** Decoded cluster. */
export interface DecodedCluster {
  readonly name: string;
  /** Inline endpoints, or the name of the endpoints resource. */
  readonly endpoints: { readonly name: string } | { readonly localities: readonly EndpointLocality[] };
  /** Addresses may be host names, which are resolved periodically (STRICT_DNS). */
  readonly isResolved: boolean;
  /** Transport sockets: the first whose match fits an endpoint's metadata is used; the last fits every endpoint. */
  readonly transports: readonly TransportChoice[];
  /** Timeout of one attempt, including its TLS handshake, ms. */
  readonly connectTimeout: number;
  readonly maxConnections: number;
  /** Panic threshold: below this percentage of healthy endpoints, unhealthy ones get traffic too. */
  readonly panicPercent: number;
  readonly isWeighted: boolean;
  readonly ejection: EjectionRule | undefined;
  /** Open connections are closed when their endpoint is ejected. */
  readonly closesOnFailure: boolean;
  /** HTTP version of the upstream; undefined if it is plain TCP. */
  readonly http: 1 | 2 | undefined;
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
/** Envoy's defaults. */
const PRESET = { connectTimeout: 5_000, maxConnections: 1_024, panicPercent: 50 };

/** @throws UnsupportedConfig */
export function decodeCluster(bytes: Uint8Array): DecodedCluster {
  const cluster = Cluster.decode(bytes);
  const { name, commonLbConfig, circuitBreakers } = cluster;
  return {
    name,
    ...readEndpointSource(cluster),
    transports: readTransports(cluster),
    connectTimeout: decodeDuration(cluster.connectTimeout, PRESET.connectTimeout),
    maxConnections: circuitBreakers?.thresholds[0]?.maxConnections ?? PRESET.maxConnections,
    panicPercent: commonLbConfig?.healthyPanicThreshold?.value ?? PRESET.panicPercent,
    isWeighted: commonLbConfig?.localityConfigSpecifier?.$case === 'localityWeightedLbConfig',
    ejection: cluster.outlierDetection && readOutlierDetection(cluster.outlierDetection),
    closesOnFailure: cluster.closeConnectionsOnHostHealthFailure,
    http: readHttpVersion(cluster),
  };
}

function readEndpointSource({ name, clusterDiscoveryType, edsClusterConfig, loadAssignment }: Cluster) {
  const type = clusterDiscoveryType?.$case === 'type' ? clusterDiscoveryType.value : undefined;
  const { EDS, STATIC, STRICT_DNS } = Cluster_DiscoveryType;
  if (type === EDS) return { endpoints: { name: edsClusterConfig?.serviceName || name }, isResolved: false };
  if (type !== STATIC && type !== STRICT_DNS)
    throw new UnsupportedConfig('type', 'is neither EDS, STATIC nor STRICT_DNS');
  const localities = loadAssignment ? decodeLocalities(loadAssignment) : [];
  return { endpoints: { localities }, isResolved: type === STRICT_DNS };
}

function readTransports({ transportSocket, transportSocketMatches }: Cluster): readonly TransportChoice[] {
  const matches = transportSocketMatches.map(({ match, transportSocket }) => ({
    match: readTextValues(match),
    transport: decodeClientTls(transportSocket),
  }));
  return [...matches, { match: {}, transport: decodeClientTls(transportSocket) }];
}

function readOutlierDetection(rule: OutlierDetection): EjectionRule {
  return {
    failures: rule.consecutiveLocalOriginFailure ?? 5,
    interval: decodeDuration(rule.interval, 10_000),
    base: decodeDuration(rule.baseEjectionTime, 30_000),
    maxDuration: decodeDuration(rule.maxEjectionTime, 300_000),
    maxPercent: rule.maxEjectionPercent ?? 10,
  };
}

function readHttpVersion({ typedExtensionProtocolOptions }: Cluster): 1 | 2 | undefined {
  const options = asMessage(HttpProtocolOptions, typedExtensionProtocolOptions[HTTP_OPTIONS]);
  const upstream = options?.upstreamProtocolOptions;
  if (upstream?.$case !== 'explicitHttpConfig') return undefined;
  return upstream.value.protocolConfig?.$case === 'http2ProtocolOptions' ? 2 : 1;
}
