import {
  DestinationIPInput,
  DestinationPortInput,
  HttpConnectionManager,
  HTTPFault,
  MatcherTree,
  OriginalDst,
  PreviousHostsPredicate,
  ProxyProtocol,
  type RouteConfiguration,
  Router,
  SetFilterState,
  StringValue,
  TcpProxy,
  TcpProxy_UpstreamConnectMode,
  TrafficDirection,
} from '@causeway/proto-gen';
import type { DestinationConfig } from '../model/destination';
import type { BackendShare } from '../routes/backend-shares';
import { headerFields } from '../routes/route-filters';
import {
  FAULT_FILTER,
  faultConfig,
  headerFilters,
  retryFields,
  timeFields,
  computeRuleTimes,
  type RulePolicies,
} from '../policies/rule-policies';
import type { SocketAddress } from '../model/ingress-endpoint';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import type { HashFields } from '../policies/hash-policies';
import { toSocketAddress } from './endpoints';
import {
  filterChainName,
  formatXdsName,
  OUTBOUND_LISTENER,
  outboundListenerName,
  REENTRY_LISTENER,
} from '../names/resource-names';
import { FROM_ADS } from './tls';
import type { ListenerFields, NamedChainFields, RouteFields } from '../model/message-fields';

type RouteConfigurationFields = Parameters<typeof RouteConfiguration.fromPartial>[0] & { readonly name: string };

/** The filter chain of redirected connections to addresses that have no chain of their own. */
const ON_DEMAND = 'ondemand';
/** The filter state that chooses the cluster of a connection. */
const CHOSEN_CLUSTER = 'envoy.tcp_proxy.cluster';
/** The idle timeout of connections. */
const IDLE = toProtoDuration(3_600_000);
/**
 * Maximum number of connect attempts. Envoy picks hosts in turn, including one that just failed: while one of two hosts is down, ten attempts all
 * meet the dead one in one connection of a thousand.
 */
const CONNECT_ATTEMPTS = 10;
/** The idle timeout of requests. */
const STREAM_IDLE = toProtoDuration(1_800_000);

export function toProtoAddress({ address, port }: SocketAddress) {
  return { address: { $case: 'socketAddress' as const, value: toSocketAddress(address, port) } };
}

interface TcpOptions {
  /** Whether the cluster is requested on demand where it is missing. */
  readonly onDemand?: boolean;
  /** Defaults to the name of the cluster. */
  readonly statPrefix?: string;
  /** The maximum age of a connection, ms; without it, unlimited. */
  readonly maxAge?: number;
  /** Whether the upstream is dialled only after the handshake with the caller. */
  readonly afterHandshake?: boolean;
}

/** Without it every connection makes a server accept a connection, even if the handshake then fails. */
export const AFTER_HANDSHAKE = {
  upstreamConnectMode: TcpProxy_UpstreamConnectMode.ON_DOWNSTREAM_TLS_HANDSHAKE,
  maxEarlyDataBytes: 0,
};

interface WeightedClusters {
  readonly $case: 'weightedClusters';
  readonly value: { clusters: { readonly name: string; readonly weight: number }[] };
}

/** Returns the TCP proxy filter to a cluster, or to several by weight; it tries another host when one does not answer. */
export function tcpProxy(cluster: string | WeightedClusters, options: TcpOptions = {}) {
  const to = typeof cluster === 'string' ? { $case: 'cluster' as const, value: cluster } : cluster;
  const {
    onDemand = false,
    statPrefix = to.$case === 'cluster' ? to.value : '',
    maxAge,
    afterHandshake = false,
  } = options;
  return packFilter('tcp-proxy', TcpProxy, {
    statPrefix,
    clusterSpecifier: to,
    idleTimeout: IDLE,
    maxConnectAttempts: CONNECT_ATTEMPTS,
    // Until Envoy has marked a host as unreachable, the next attempt may pick the same host.
    backoffOptions: { baseInterval: toProtoDuration(25), maxInterval: toProtoDuration(250) },
    ...(maxAge !== undefined && { maxDownstreamConnectionDuration: toProtoDuration(maxAge) }),
    ...(afterHandshake && AFTER_HANDSHAKE),
    ...(onDemand && { onDemand: { odcdsConfig: FROM_ADS, timeout: toProtoDuration(15_000) } }),
  });
}

/** Returns the filter that chooses the cluster of a connection by Envoy's substitutions, such as `%REQUESTED_SERVER_NAME%`. */
export function chooseCluster(format: string) {
  const inlineString = { $case: 'inlineString' as const, value: format };
  return packFilter('choose-cluster', SetFilterState, {
    onNewConnection: [
      {
        key: { $case: 'objectKey', value: CHOSEN_CLUSTER },
        value: {
          $case: 'formatString',
          value: { format: { $case: 'textFormatSource', value: { specifier: inlineString } } },
        },
      },
    ],
  });
}

/** Returns the filter that shares connections by weight; a connection whose cluster does not exist is closed. Without shares all are closed. */
export function sharingProxy({ name }: Pick<DestinationConfig, 'name'>, shares: readonly BackendShare[]) {
  if (shares.length === 0) return tcpProxy('none', { statPrefix: name });
  const clusters = shares.map(({ cluster, weight }) => ({ name: cluster, weight }));
  return tcpProxy({ $case: 'weightedClusters', value: { clusters } }, { statPrefix: name });
}

/**
 * Returns the connection manager of a destination. It refers to its routes by name, so a change of routes drains no connection; nor does a change of
 * policies, because all filters are always present and inactive until a route configures them.
 */
export function httpFilter({ name }: Pick<DestinationConfig, 'name'>) {
  return packFilter('http', HttpConnectionManager, {
    statPrefix: name,
    routeSpecifier: { $case: 'rds', value: { configSource: FROM_ADS, routeConfigName: name } },
    httpFilters: [FAULTS, packFilter('router', Router, {})],
    normalizePath: true,
    streamIdleTimeout: STREAM_IDLE,
    upgradeConfigs: [{ upgradeType: 'websocket' }],
  });
}

/** The fault filter, without counters for each cluster. */
const FAULTS = packFilter(FAULT_FILTER, HTTPFault, { disableDownstreamClusterStats: true });

type PackedHttpFilter = ReturnType<typeof httpFilter>;

/** Returns the listener of capture `bind`, at the service's own address, which must be local to the host. */
export function boundListener(destination: DestinationConfig, filter: PackedHttpFilter): ListenerFields {
  const at = { address: destination.vip, port: destination.port };
  return outboundListener(outboundListenerName(at), at, filter);
}

/** Returns a listener that gives all its connections this filter. */
export function outboundListener(name: string, at: SocketAddress, filter: PackedHttpFilter): ListenerFields {
  return {
    name,
    address: toProtoAddress(at),
    trafficDirection: TrafficDirection.OUTBOUND,
    filterChains: [{ filters: [filter] }],
  };
}

/** The filter chain of a destination in the redirect listener. */
export function destinationChain(name: string, filter: PackedHttpFilter): NamedChainFields {
  return { name, filters: [filter] };
}

/** Returns a chain that closes connections: its address belongs to no service that needs a chain (any more). */
export function closedChain(name: string): NamedChainFields {
  return { name, filters: [tcpProxy('none')] };
}

/** Returns the addresses of the listeners of capture `redirect`. */
export function redirectSockets({ at, reentry, ipv6 }: RedirectPlaces): readonly SocketAddress[] {
  return [at, reentry, ...(ipv6 ? [{ address: '::1', port: at.port }] : [])];
}

interface RedirectPlaces {
  readonly at: SocketAddress;
  readonly reentry: SocketAddress;
  readonly ipv6?: boolean;
}

/**
 * Returns the listener of capture `redirect`, which takes all addresses. Each HTTP address has a filter chain, which Envoy requests by name; the
 * cluster of any other address is requested at its first connection.
 */
export function redirectListener(
  { at, ipv6 }: Omit<RedirectPlaces, 'reentry'>,
  http: readonly SocketAddress[],
): ListenerFields {
  return {
    name: OUTBOUND_LISTENER,
    address: toProtoAddress(at),
    ...(ipv6 && { additionalAddresses: [{ address: toProtoAddress({ address: '::1', port: at.port }) }] }),
    trafficDirection: TrafficDirection.OUTBOUND,
    listenerFilters: [packFilter('original-dst', OriginalDst, {})],
    filterChains: [
      {
        name: ON_DEMAND,
        filters: [
          chooseCluster(formatXdsName('vip', '%DOWNSTREAM_LOCAL_ADDRESS%')),
          tcpProxy('none', { onDemand: true, statPrefix: 'outbound' }),
        ],
      },
    ],
    ...chainsByAddress(http, ON_DEMAND),
  };
}

/**
 * Returns the loopback listener that takes the first connection to an HTTP address without a chain: the connection re-enters with its original
 * address once its chain is there. It has no other chain, so nothing loops twice.
 */
export function reentryListener(at: SocketAddress, http: readonly SocketAddress[]): ListenerFields {
  return {
    name: REENTRY_LISTENER,
    address: toProtoAddress(at),
    trafficDirection: TrafficDirection.OUTBOUND,
    listenerFilters: [packFilter('proxy-protocol', ProxyProtocol, {})],
    ...(http.length === 0
      ? { filterChains: [{ name: 'none', filters: [tcpProxy('none')] }] }
      : chainsByAddress(http, undefined)),
  };
}

/** Matches by the original address, then by the port; other connections get the chain `otherwise`, or are closed. */
function chainsByAddress(http: readonly SocketAddress[], otherwise: string | undefined) {
  if (http.length === 0) return {};
  const byAddress = new Map<string, SocketAddress[]>();
  for (const at of http) byAddress.set(at.address, [...(byAddress.get(at.address) ?? []), at]);
  const noMatch = otherwise !== undefined && { onNoMatch: takeChain(otherwise) };
  const addresses = [...byAddress].map(([address, ports]) => {
    const chains = ports.map((at) => [`${at.port}`, takeChain(filterChainName(at))] as const);
    const matcher = { matcherType: exactly(packExtension('port', DestinationPortInput, {}), chains), ...noMatch };
    return [address, { onMatch: { $case: 'matcher' as const, value: matcher } }] as const;
  });
  return {
    fcdsConfig: { configSource: FROM_ADS },
    filterChainMatcher: MatcherTree.fromPartial({
      matcherType: exactly(packExtension('ip', DestinationIPInput, {}), addresses),
      ...noMatch,
    }),
  };
}

/** Returns a matcher on the exact value of an input. */
export function exactly<M>(input: ReturnType<typeof packExtension>, entries: readonly (readonly [string, M])[]) {
  const treeType = { $case: 'exactMatchMap' as const, value: { map: Object.fromEntries(entries) } };
  return { $case: 'matcherTree' as const, value: { input, treeType } };
}

/** Returns the action that takes the filter chain of this name. */
export function takeChain(name: string) {
  return { onMatch: { $case: 'action' as const, value: packExtension('chain', StringValue, { value: name }) } };
}

/**
 * Retries a request on another host if no server has seen it. A request that a server may have begun is never retried: only its sender knows whether
 * that is safe.
 */
export const retryPolicy = {
  retryOn: 'connect-failure,refused-stream,reset-before-request',
  numRetries: 4,
  hostSelectionRetryMaxAttempts: 10,
  retryHostPredicate: [packFilter('envoy.retry_host_predicates.previous_hosts', PreviousHostsPredicate, {})],
  retryBackOff: { baseInterval: toProtoDuration(25), maxInterval: toProtoDuration(250) },
};

/** Returns the implicit route: all requests go to the destination, without a timeout unless policies set one. */
export function implicitRoute(
  { name, protocol }: DestinationConfig,
  policies: RulePolicies,
  hashPolicy: HashFields[],
): RouteFields {
  const clusterSpecifier = { $case: 'cluster' as const, value: name };
  const times = computeRuleTimes(undefined, policies);
  const repeated = retryFields(retryPolicy, times.attempt, policies.retry);
  return {
    match: { pathSpecifier: { $case: 'prefix', value: '/' } },
    ...headerFields(headerFilters(policies.headers)),
    ...faultConfig(policies.fault, protocol === 'grpc'),
    action: {
      $case: 'route',
      value: { clusterSpecifier, hashPolicy, ...timeFields(times), retryPolicy: repeated },
    },
  };
}

/** Returns the route configuration of a destination for any Host header. A request that no route matches is answered with 404. */
export function toRouteConfiguration(
  { name }: DestinationConfig,
  routes: readonly RouteFields[],
): RouteConfigurationFields {
  return {
    name,
    validateClusters: false,
    virtualHosts: [{ name, domains: ['*'], routes: [...routes] }],
  };
}
