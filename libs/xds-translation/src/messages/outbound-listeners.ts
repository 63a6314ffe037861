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
import type { Destination } from '../model/destination';
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

/** The chain of redirected connections to addresses that no chain of their own takes. */
const ON_DEMAND = 'ondemand';
/** The filter state by which a connection chooses its cluster. */
const CHOSEN_CLUSTER = 'envoy.tcp_proxy.cluster';
/** A connection without a byte for so long is closed. */
const IDLE = toProtoDuration(3_600_000);
/**
 * Attempts of a connection before it fails. Envoy takes hosts in turn, whichever has just failed: while one of two is dead, one
 * connection of a thousand meets only that one.
 */
const CONNECT_ATTEMPTS = 10;
/** A request without a byte for so long ends. */
const STREAM_IDLE = toProtoDuration(1_800_000);

export function toProtoAddress({ address, port }: SocketAddress) {
  return { address: { $case: 'socketAddress' as const, value: toSocketAddress(address, port) } };
}

interface TcpOptions {
  /** The cluster is asked for where it is not there. */
  readonly onDemand?: boolean;
  /** The cluster's name, unless given. */
  readonly statPrefix?: string;
  /** The longest life of a connection, ms; without it, as long as it is used. */
  readonly maxAge?: number;
  /** Nothing is dialled before the handshake of the caller. */
  readonly afterHandshake?: boolean;
}

/** Otherwise everybody who connects makes a server accept a connection, whatever becomes of the handshake. */
export const AFTER_HANDSHAKE = {
  upstreamConnectMode: TcpProxy_UpstreamConnectMode.ON_DOWNSTREAM_TLS_HANDSHAKE,
  maxEarlyDataBytes: 0,
};

interface WeightedClusters {
  readonly $case: 'weightedClusters';
  readonly value: { clusters: { readonly name: string; readonly weight: number }[] };
}

/** Passes bytes on to a cluster, or to one of several by their weights; another of its hosts is tried where one does not answer. */
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
    // Until it is known that a host cannot be reached, the next attempt may go to the same one.
    backoffOptions: { baseInterval: toProtoDuration(25), maxInterval: toProtoDuration(250) },
    ...(maxAge !== undefined && { maxDownstreamConnectionDuration: toProtoDuration(maxAge) }),
    ...(afterHandshake && AFTER_HANDSHAKE),
    ...(onDemand && { onDemand: { odcdsConfig: FROM_ADS, timeout: toProtoDuration(15_000) } }),
  });
}

/** Chooses the cluster of a connection by Envoy's substitutions, such as `%REQUESTED_SERVER_NAME%`. */
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

/** Shares connections by weights; one whose cluster does not exist is closed. Without shares all are. */
export function sharingProxy({ name }: Destination, shares: readonly BackendShare[]) {
  if (shares.length === 0) return tcpProxy('none', { statPrefix: name });
  const clusters = shares.map(({ cluster, weight }) => ({ name: cluster, weight }));
  return tcpProxy({ $case: 'weightedClusters', value: { clusters } }, { statPrefix: name });
}

/**
 * The connection manager of a destination. It names its routes only, so a change of them drains no connection; nor does one of policies,
 * for all filters that they need are there, and do nothing until a route says so.
 */
export function httpFilter({ name }: Destination) {
  return packFilter('http', HttpConnectionManager, {
    statPrefix: name,
    routeSpecifier: { $case: 'rds', value: { configSource: FROM_ADS, routeConfigName: name } },
    httpFilters: [FAULTS, packFilter('router', Router, {})],
    normalizePath: true,
    streamIdleTimeout: STREAM_IDLE,
    upgradeConfigs: [{ upgradeType: 'websocket' }],
  });
}

/** Without counters of its own of each cluster. */
const FAULTS = packFilter(FAULT_FILTER, HTTPFault, { disableDownstreamClusterStats: true });

type PackedHttpFilter = ReturnType<typeof httpFilter>;

/** Capture `bind`: a listener at the service's own address, which must be local to the machine. */
export function boundListener(destination: Destination, filter: PackedHttpFilter): ListenerFields {
  const at = { address: destination.vip, port: destination.port };
  return outboundListener(outboundListenerName(at), at, filter);
}

/** A listener all of whose connections get this filter. */
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

/** A chain whose address belongs to no service that needs one (any more): connections are closed. */
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
 * Capture `redirect`: one listener for all addresses. Connections to `http` addresses get a filter chain each, which Envoy asks
 * for by name; the cluster of any other is asked for at its first connection.
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
 * The loopback listener that takes the first connection to an HTTP address that no chain took: it comes back with the address
 * that was dialled, when its chain is there. It has no chain for others, so nothing goes round twice.
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

/** First by the address that was dialled, then by the port; other connections get the chain `otherwise`, or are closed. */
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

/** A matcher that goes by the exact value of an input. */
export function exactly<M>(input: ReturnType<typeof packExtension>, entries: readonly (readonly [string, M])[]) {
  const treeType = { $case: 'exactMatchMap' as const, value: { map: Object.fromEntries(entries) } };
  return { $case: 'matcherTree' as const, value: { input, treeType } };
}

/** Takes the filter chain of this name. */
export function takeChain(name: string) {
  return { onMatch: { $case: 'action' as const, value: packExtension('chain', StringValue, { value: name }) } };
}

/**
 * Tries a request again, on another host, where no server has seen it. A request that a server may have begun is never repeated:
 * only its sender knows whether it may be.
 */
export const retryPolicy = {
  retryOn: 'connect-failure,refused-stream,reset-before-request',
  numRetries: 4,
  hostSelectionRetryMaxAttempts: 10,
  retryHostPredicate: [packFilter('envoy.retry_host_predicates.previous_hosts', PreviousHostsPredicate, {})],
  retryBackOff: { baseInterval: toProtoDuration(25), maxInterval: toProtoDuration(250) },
};

/** Where no route holds, all requests go to the destination; unless policies say otherwise without a limit of their duration. */
export function implicitRoute(
  { name, protocol }: Destination,
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

/** The routes of a destination, whatever the Host header says. A request that none matches is answered 404. */
export function toRouteConfiguration({ name }: Destination, routes: readonly RouteFields[]): RouteConfigurationFields {
  return {
    name,
    validateClusters: false,
    virtualHosts: [{ name, domains: ['*'], routes: [...routes] }],
  };
}
