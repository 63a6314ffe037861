import { Cluster, Cluster_DiscoveryType, HttpProtocolOptions, type OutlierDetection } from '@causeway/proto-gen';
import { decodeLocalities, readTextValues, type EndpointLocality } from './endpoints';
import { decodeClientTls, type ClientTls } from './tls-settings';
import { asMessage, decodeDuration, UnsupportedConfig } from './unsupported-config';

/** Rule that excludes an unreachable endpoint for some time. Times in ms. */
export interface EjectionRule {
  /** Failures to connect, one after the other. */
  readonly failures: number;
  /** Interval at which ended ejections are looked for. */
  readonly interval: number;
  /** The first ejection; the n-th lasts n times as long. */
  readonly base: number;
  readonly maxDuration: number;
  /** Maximum share of excluded endpoints, in percent; one is always allowed. */
  readonly maxPercent: number;
}

/** By which transport an endpoint is spoken to, by its metadata. */
interface TransportChoice {
  readonly match: Readonly<Record<string, string>>;
  readonly transport: ClientTls | 'plaintext';
}

/** A cluster, decoded. */
export interface DecodedCluster {
  readonly name: string;
  /** Its endpoints, or the name of the resource that has them. */
  readonly endpoints: { readonly name: string } | { readonly localities: readonly EndpointLocality[] };
  /** Addresses may be host names, which are resolved again and again. */
  readonly isResolved: boolean;
  /** The first that an endpoint's metadata match; the last matches each. */
  readonly transports: readonly TransportChoice[];
  /** Timeout of an attempt, including its handshake, ms. */
  readonly connectTimeout: number;
  readonly maxConnections: number;
  /** Below so many percent of healthy endpoints the unhealthy ones count too. */
  readonly panicPercent: number;
  readonly isWeighted: boolean;
  readonly ejection: EjectionRule | undefined;
  /** Connections end with the ejection of their endpoint. */
  readonly closesOnFailure: boolean;
  /** Which HTTP is spoken; undefined where it is bytes. */
  readonly http: 1 | 2 | undefined;
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
/** Presets of Envoy. */
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
