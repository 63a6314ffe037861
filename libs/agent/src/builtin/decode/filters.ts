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
import { callerRule, connectionRule } from './callers';
import { routePlan, type DecodedRoute, type WeightedCluster } from './routes';
import { asMessage, decodeDuration, readTypedConfig, UnsupportedConfig } from './unsupported-config';
import type { CallerRule } from './verified-caller';

/** Which cluster a connection goes to. */
export type ClusterChoice =
  | { readonly type: 'fixed'; readonly cluster: string }
  /** One of these by weight, drawn for each connection. */
  | { readonly type: 'weighted'; readonly clusters: readonly WeightedCluster[] }
  /** The cluster of this prefix and the server name that the client asks for. */
  | { readonly type: 'by server name'; readonly prefix: string }
  /** Those of the routes of this name. */
  | { readonly type: 'by routes'; readonly routes: string };

/** Limits for one source address. */
export interface SourceLimit {
  readonly connections: number;
  readonly perSecond: number;
  /** New connections at once. */
  readonly burst: number;
}

/** Forwarding of a connection that a filter chain accepts. Times in ms. */
export interface Forwarding {
  /** The prefix of its counters. */
  readonly statPrefix: string;
  readonly choice: ClusterChoice;
  readonly idle: number;
  /** The longest life of a connection; undefined: as long as it is used. */
  readonly maxAge: number | undefined;
  /** Attempts to connect, and the pauses between them. */
  readonly attempts: number;
  readonly pause: { readonly base: number; readonly cap: number };
  /** Access rule, and the prefix of its counters. */
  readonly access: { readonly statPrefix: string; readonly allows: CallerRule } | undefined;
  readonly limit: (SourceLimit & { readonly statPrefix: string }) | undefined;
  /**
   * HTTP features that this dataplane does not implement, for people; empty if it implements all that is configured.
   */
  readonly lost: readonly string[];
}

/** Presets of Envoy. */
const IDLE = 3_600_000;
const PAUSE = { base: 1_000, cap: 10_000 };
/** Attempts of a connection that a plane without HTTP makes for an HTTP destination: Envoy has those of its requests. */
const HTTP_ATTEMPTS = 10;
const HTTP_PAUSE = { base: 25, cap: 250 };
/** The filter state by which the cluster of a connection is chosen. */
const CHOSEN_CLUSTER = 'envoy.tcp_proxy.cluster';
const BY_SERVER_NAME = '%REQUESTED_SERVER_NAME%';

type HttpFilter = HttpConnectionManager['httpFilters'][number];
type ForwardingDraft = { -readonly [K in keyof Forwarding]?: Forwarding[K] } & { prefix?: string };

/** Decodes the filters of a chain together. @throws UnsupportedConfig for an unknown filter. */
export function decodeForwarding({ filters }: Pick<FilterChain, 'filters'>): Forwarding {
  const draft: ForwardingDraft = {};
  for (const filter of filters) addFilter(draft, filter);
  const { statPrefix, choice, idle = IDLE, maxAge, attempts = 1, pause = PAUSE, access, limit, lost = [] } = draft;
  if (statPrefix === undefined || !choice) throw new UnsupportedConfig('filters', 'none passes anything on');
  return { statPrefix, choice, idle, maxAge, attempts, pause, access, limit, lost };
}

function addFilter(draft: ForwardingDraft, filter: Filter): void {
  const config = readTypedConfig(filter);
  const access = asMessage(NetworkRbac, config);
  if (access) return addAccess(draft, access.statPrefix, callerRule(access));
  const state = asMessage(SetFilterState, config);
  if (state) return void (draft.prefix = serverNamePrefix(state));
  const rate = asMessage(NetworkLocalRateLimit, config);
  if (rate && rate.shareKey !== '') return lose(draft, LIMITED);
  if (rate) return void (draft.limit = { ...readLimit(draft), ...readRate(rate) });
  const most = asMessage(ConnectionLimit, config);
  if (most) return void (draft.limit = { ...readLimit(draft), connections: most.maxConnections ?? Infinity });
  const tcp = asMessage(TcpProxy, config);
  if (tcp) return addTcp(draft, tcp);
  const http = asMessage(HttpConnectionManager, config);
  if (http) return addHttp(draft, http);
  throw new UnsupportedConfig(filter.name, `${config.typeUrl} is not known`);
}

/** Of all sources together, as a policy asks; an ingress has limits of each source. */
const LIMITED = 'the number of connections is not limited: this plane counts them by source only';

function lose(draft: ForwardingDraft, what: string): void {
  draft.lost = [...(draft.lost ?? []), what];
}

/** All filters of a chain must let a caller pass; they count as the first. */
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
  if (tcp.onDemand) throw new UnsupportedConfig('onDemand', 'destinations are not asked for at their first use');
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

/** Its bytes are passed on: what the manager would do with requests is named. */
function addHttp(draft: ForwardingDraft, http: HttpConnectionManager): void {
  const { statPrefix, routeSpecifier, commonHttpProtocolOptions, httpFilters, setCurrentClientCertDetails } = http;
  const inline = routeSpecifier?.$case === 'routeConfig' ? routePlan(routeSpecifier.value) : undefined;
  const choice: ClusterChoice | undefined =
    routeSpecifier?.$case === 'rds'
      ? { type: 'by routes', routes: routeSpecifier.value.routeConfigName }
      : inline && inlineChoice(inline);
  if (!choice) throw new UnsupportedConfig('routeSpecifier', 'no route takes all requests');
  const maxAge = commonHttpProtocolOptions?.maxConnectionDuration;
  const access = httpFilters.flatMap(({ configType }) => {
    const rbac = configType?.$case === 'typedConfig' ? asMessage(HttpRbac, configType.value) : undefined;
    return rbac ? [connectionRule(rbac)] : [];
  });
  for (const { allows } of access) addAccess(draft, statPrefix, allows);
  Object.assign(draft, {
    statPrefix,
    choice,
    idle: decodeDuration(http.streamIdleTimeout, IDLE),
    maxAge: maxAge && decodeDuration(maxAge, Infinity),
    attempts: HTTP_ATTEMPTS,
    pause: HTTP_PAUSE,
    lost: [
      ...(draft.lost ?? []),
      ...(httpFilters.some(isRequestLimit) ? ['the number of requests is not limited'] : []),
      ...(inline?.lost === undefined ? [] : [inline.lost]),
      ...(access.some(({ isOfRequests }) => isOfRequests)
        ? [
            'who may make which requests: callers of which some requests are denied are refused, and so are those of which only some are allowed',
          ]
        : []),
      ...(setCurrentClientCertDetails ? ['x-forwarded-client-cert is passed on as the caller sends it'] : []),
    ],
  } satisfies ForwardingDraft);
}
