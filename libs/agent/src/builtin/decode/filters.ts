import {
  ConnectionLimit,
  type Filter,
  type FilterChain,
  HttpConnectionManager,
  HttpLocalRateLimit,
  HttpRbac,
  NetworkLocalRateLimit,
  NetworkRbac,
  SetFilterState,
  TcpProxy,
  TcpProxy_UpstreamConnectMode,
} from '@causeway/proto-gen';
import { decodeCallerRule, decodeConnectionRule } from './callers';
import { decodeRouteConfiguration, type DecodedRoute, type WeightedCluster } from './routes';
import { asMessage, decodeDuration, readTypedConfig, UnsupportedConfig } from './unsupported-config';
import type { CallerRule } from './verified-caller';

/** Selection of the cluster of a connection. */
export type ClusterChoice =
  | { readonly type: 'fixed'; readonly cluster: string }
  /** Drawn by weight for each connection. */
  | { readonly type: 'weighted'; readonly clusters: readonly WeightedCluster[] }
  /** The cluster named by this prefix followed by the server name (SNI). */
  | { readonly type: 'by server name'; readonly prefix: string }
  /** The clusters of the route configuration with this name. */
  | { readonly type: 'by routes'; readonly routes: string };

/** Limits for each source address. */
export interface SourceLimit {
  readonly connections: number;
  readonly perSecond: number;
  /** Maximum number of new connections at once. */
  readonly burst: number;
}

/** Forwarding of an accepted connection. Times in ms. */
export interface Forwarding {
  readonly statPrefix: string;
  readonly choice: ClusterChoice;
  readonly idle: number;
  /** Maximum duration of a connection; undefined: unlimited. */
  readonly maxAge: number | undefined;
  /** Connect attempts, and the backoff between them. */
  readonly attempts: number;
  readonly pause: { readonly base: number; readonly cap: number };
  /** Access rule, and the prefix of its counters. */
  readonly access: { readonly statPrefix: string; readonly allows: CallerRule } | undefined;
  readonly limit: (SourceLimit & { readonly statPrefix: string }) | undefined;
  /** Configured HTTP features that this dataplane does not implement, as text; empty if it implements all. */
  readonly unsupported: readonly string[];
}

/** Envoy's defaults. */
const IDLE = 3_600_000;
const PAUSE = { base: 1_000, cap: 10_000 };
/** Connect attempts for an HTTP destination: this dataplane cannot retry requests as Envoy does. */
const HTTP_ATTEMPTS = 10;
const HTTP_PAUSE = { base: 25, cap: 250 };
/** Filter state that selects the cluster of a connection. */
const CHOSEN_CLUSTER = 'envoy.tcp_proxy.cluster';
const BY_SERVER_NAME = '%REQUESTED_SERVER_NAME%';

type HttpFilter = HttpConnectionManager['httpFilters'][number];
type ForwardingDraft = { -readonly [K in keyof Forwarding]?: Forwarding[K] } & { prefix?: string };

/** Decodes all filters of a chain. @throws UnsupportedConfig for an unknown filter */
export function decodeForwarding({ filters }: Pick<FilterChain, 'filters'>): Forwarding {
  const draft: ForwardingDraft = {};
  for (const filter of filters) addFilter(draft, filter);
  const {
    statPrefix,
    choice,
    idle = IDLE,
    maxAge,
    attempts = 1,
    pause = PAUSE,
    access,
    limit,
    unsupported = [],
  } = draft;
  if (statPrefix === undefined || !choice) throw new UnsupportedConfig('filters', 'no filter forwards connections');
  return { statPrefix, choice, idle, maxAge, attempts, pause, access, limit, unsupported };
}

function addFilter(draft: ForwardingDraft, filter: Filter): void {
  const config = readTypedConfig(filter);
  const access = asMessage(NetworkRbac, config);
  if (access) return addAccess(draft, access.statPrefix, decodeCallerRule(access));
  const state = asMessage(SetFilterState, config);
  if (state) return void (draft.prefix = serverNamePrefix(state));
  const rate = asMessage(NetworkLocalRateLimit, config);
  if (rate && rate.shareKey !== '') return addUnsupported(draft, CONNECTIONS_UNLIMITED);
  if (rate) return void (draft.limit = { ...readLimit(draft), ...readRate(rate) });
  const most = asMessage(ConnectionLimit, config);
  if (most) return void (draft.limit = { ...readLimit(draft), connections: most.maxConnections ?? Infinity });
  const tcp = asMessage(TcpProxy, config);
  if (tcp) return addTcp(draft, tcp);
  const http = asMessage(HttpConnectionManager, config);
  if (http) return addHttp(draft, http);
  throw new UnsupportedConfig(filter.name, `${config.typeUrl} is not known`);
}

/** For limits over all sources together, which a policy asks for; an ingress limits each source. */
const CONNECTIONS_UNLIMITED = 'the number of connections is not limited: this plane counts them by source only';

function addUnsupported(draft: ForwardingDraft, what: string): void {
  draft.unsupported = [...(draft.unsupported ?? []), what];
}

/** A caller must pass all access filters of a chain; they share the counters of the first. */
function addAccess(draft: ForwardingDraft, statPrefix: string, allows: CallerRule): void {
  const { access: before } = draft;
  draft.access = before
    ? { statPrefix: before.statPrefix, allows: (caller) => before.allows(caller) && allows(caller) }
    : { statPrefix, allows };
}

function readLimit({ limit }: ForwardingDraft): NonNullable<Forwarding['limit']> {
  return limit ?? { statPrefix: '', connections: Infinity, perSecond: Infinity, burst: Infinity };
}

function readRate({ tokenBucket, statPrefix }: NetworkLocalRateLimit) {
  const each = decodeDuration(tokenBucket?.fillInterval, 1_000);
  const perSecond = ((tokenBucket?.tokensPerFill ?? 1) * 1_000) / each;
  return { statPrefix, perSecond, burst: tokenBucket?.maxTokens ?? 1 };
}

function serverNamePrefix({ onNewConnection }: SetFilterState): string {
  const [chosen, more] = onNewConnection;
  const format = chosen?.value?.value.format;
  const source = format?.$case === 'textFormatSource' ? format.value.specifier : undefined;
  const text = source?.$case === 'inlineString' ? source.value : '';
  const prefix = text.slice(0, -BY_SERVER_NAME.length);
  const isKnown = text === prefix + BY_SERVER_NAME && !prefix.includes('%');
  if (more || chosen?.key?.value !== CHOSEN_CLUSTER || !isKnown)
    throw new UnsupportedConfig('onNewConnection', `${text} is not known`);
  return prefix;
}

function addTcp(draft: ForwardingDraft, tcp: TcpProxy): void {
  const { clusterSpecifier, statPrefix, maxConnectAttempts, backoffOptions } = tcp;
  const { prefix } = draft;
  const choice = prefix === undefined ? tcpChoice(clusterSpecifier) : { type: 'by server name' as const, prefix };
  if (tcp.onDemand) throw new UnsupportedConfig('onDemand', 'on-demand discovery of clusters is not supported');
  const { IMMEDIATE, ON_DOWNSTREAM_TLS_HANDSHAKE } = TcpProxy_UpstreamConnectMode;
  if (![IMMEDIATE, ON_DOWNSTREAM_TLS_HANDSHAKE].includes(tcp.upstreamConnectMode))
    throw new UnsupportedConfig('upstreamConnectMode', 'is not known');
  Object.assign(draft, {
    statPrefix,
    choice,
    idle: decodeDuration(tcp.idleTimeout, IDLE),
    maxAge: tcp.maxDownstreamConnectionDuration && decodeDuration(tcp.maxDownstreamConnectionDuration, Infinity),
    attempts: maxConnectAttempts ?? 1,
    pause: {
      base: decodeDuration(backoffOptions?.baseInterval, PAUSE.base),
      cap: decodeDuration(backoffOptions?.maxInterval, PAUSE.cap),
    },
  } satisfies ForwardingDraft);
}

function tcpChoice(specifier: TcpProxy['clusterSpecifier']): ClusterChoice {
  if (specifier?.$case === 'cluster') return { type: 'fixed', cluster: specifier.value };
  if (specifier?.$case !== 'weightedClusters') throw new UnsupportedConfig('clusterSpecifier', 'names no cluster');
  return {
    type: 'weighted',
    clusters: specifier.value.clusters.map(({ name, weight }) => ({ cluster: name, weight })),
  };
}

function inlineChoice({ clusters }: DecodedRoute): ClusterChoice | undefined {
  const [only, ...others] = clusters;
  if (!only) return undefined;
  return others.length === 0 ? { type: 'fixed', cluster: only.cluster } : { type: 'weighted', clusters };
}

function isRequestLimit({ configType }: HttpFilter): boolean {
  return configType?.$case === 'typedConfig' && asMessage(HttpLocalRateLimit, configType.value) !== undefined;
}

/** For every service of HTTP over TLS: the zone always asks for the header. */
const CALLER_HEADER_PASSED = 'x-forwarded-client-cert is passed on as the caller sends it';

/** Returns whether a feature is lacked by this mode at every service of HTTP, and not one that a policy or route asks for. */
export function isInherentLack(what: string): boolean {
  return what === CALLER_HEADER_PASSED;
}

/** Forwards the bytes of HTTP connections; features that act on requests are listed as unsupported. */
function addHttp(draft: ForwardingDraft, http: HttpConnectionManager): void {
  const { statPrefix, routeSpecifier, commonHttpProtocolOptions, httpFilters, setCurrentClientCertDetails } = http;
  const inline = routeSpecifier?.$case === 'routeConfig' ? decodeRouteConfiguration(routeSpecifier.value) : undefined;
  const choice: ClusterChoice | undefined =
    routeSpecifier?.$case === 'rds'
      ? { type: 'by routes', routes: routeSpecifier.value.routeConfigName }
      : inline && inlineChoice(inline);
  if (!choice) throw new UnsupportedConfig('routeSpecifier', 'no route takes all requests');
  const maxAge = commonHttpProtocolOptions?.maxConnectionDuration;
  const access = httpFilters.flatMap(({ configType }) => {
    const rbac = configType?.$case === 'typedConfig' ? asMessage(HttpRbac, configType.value) : undefined;
    return rbac ? [decodeConnectionRule(rbac)] : [];
  });
  for (const { allows } of access) addAccess(draft, statPrefix, allows);
  Object.assign(draft, {
    statPrefix,
    choice,
    idle: decodeDuration(http.streamIdleTimeout, IDLE),
    maxAge: maxAge && decodeDuration(maxAge, Infinity),
    attempts: HTTP_ATTEMPTS,
    pause: HTTP_PAUSE,
    unsupported: [
      ...(draft.unsupported ?? []),
      ...(httpFilters.some(isRequestLimit) ? ['the number of requests is not limited'] : []),
      ...(inline?.unsupported === undefined ? [] : [inline.unsupported]),
      ...(access.some(({ dependsOnRequest }) => dependsOnRequest)
        ? [
            'who may make which requests: callers of which some requests are denied are refused, and so are those of which only some are allowed',
          ]
        : []),
      ...(setCurrentClientCertDetails ? [CALLER_HEADER_PASSED] : []),
    ],
  } satisfies ForwardingDraft);
}
