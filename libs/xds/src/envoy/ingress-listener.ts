import {
  ConnectionLimit,
  ConsistentHashing,
  type FilterChain,
  type Listener,
  MatcherTree,
  NetworkLocalRateLimit,
  SourceIPInput,
  StringValue,
  TlsInspector,
  TrafficDirection,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import type { SocketAddress } from '../model/zone-entrance';
import { durationOf, packExtension, packFilter } from '../resources/any';
import { ingressListenerName } from './names';
import { addressOf, chooseCluster, tcpProxy } from './outbound-listeners';

type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };
type ChainFields = Parameters<typeof FilterChain.fromPartial>[0];

/** What one source address may take of a zone ingress. Addresses share a limit where their hash is the same: one of 64. */
export interface SourceLimits {
  /** Connections at one time. */
  readonly connections: number;
  /** New connections a second; four times as many at once. */
  readonly perSecond: number;
}

/** A source is often a whole network behind one address: all clients of another zone. */
export const DEFAULT_SOURCE_LIMITS: SourceLimits = { connections: 8_192, perSecond: 500 };

/** Groups of source addresses, by hash; a power of two. Envoy has no counters by address. */
const GROUPS = 64;
/** The prefix of the ingress's counters: all its chains count together. */
const COUNTERS = 'ingress';
/** A ClientHello that has not come after so long closes the connection, ms. */
const CLIENT_HELLO = 5_000;
/** A connection ends after so long, so that none outlives what allowed it by more, ms. */
const MOST_AGE = 3_600_000;

/**
 * The zone ingress: reads the server name and passes the bytes on, without a key of its own. What is not TLS, has no server
 * name or one that no service of this zone has, is closed and nothing is dialled.
 */
export function ingressListener(at: SocketAddress, limits: SourceLimits = DEFAULT_SOURCE_LIMITS): ListenerFields {
  const name = ingressListenerName(at);
  const tls = { onMatch: { $case: 'matcher' as const, value: byHash(0, GROUPS) } };
  const transport = packExtension('transport-protocol', TransportProtocolInput, {});
  return {
    name,
    address: addressOf(at),
    trafficDirection: TrafficDirection.INBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: durationOf(CLIENT_HELLO),
    filterChains: Array.from({ length: GROUPS }, (_, group) => chain(group, limits)),
    filterChainMatcher: MatcherTree.fromPartial({
      matcherType: {
        $case: 'matcherTree',
        value: { input: transport, treeType: { $case: 'exactMatchMap', value: { map: { tls } } } },
      },
    }),
  };
}

function chain(group: number, { connections, perSecond }: SourceLimits): ChainFields {
  const tokenBucket = {
    maxTokens: perSecond * 4,
    tokensPerFill: perSecond,
    fillInterval: durationOf(1_000),
  };
  return {
    name: `${group}`,
    filters: [
      packFilter('rate-limit', NetworkLocalRateLimit, { statPrefix: COUNTERS, tokenBucket }),
      packFilter('connection-limit', ConnectionLimit, { statPrefix: COUNTERS, maxConnections: connections }),
      chooseCluster('in:%REQUESTED_SERVER_NAME%'),
      tcpProxy('none', { statPrefix: COUNTERS, maxAge: MOST_AGE }),
    ],
  };
}

/** Leads a connection to the chain of its source's group, by halves: groups from `low` to below `high`. */
function byHash(low: number, high: number): Parameters<typeof MatcherTree.fromPartial>[0] {
  const middle = (low + high) / 2;
  const half = (from: number, to: number) =>
    to - from === 1
      ? { $case: 'action' as const, value: packExtension('chain', StringValue, { value: `${from}` }) }
      : { $case: 'matcher' as const, value: byHash(from, to) };
  const singlePredicate = {
    input: packExtension('source', SourceIPInput, {}),
    matcher: {
      $case: 'customMatch' as const,
      value: packExtension('hash', ConsistentHashing, { modulo: GROUPS, threshold: middle }),
    },
  };
  const upper = {
    predicate: { matchType: { $case: 'singlePredicate' as const, value: singlePredicate } },
    onMatch: { onMatch: half(middle, high) },
  };
  return {
    matcherType: { $case: 'matcherList', value: { matchers: [upper] } },
    onNoMatch: { onMatch: half(low, middle) },
  };
}
