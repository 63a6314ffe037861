import { MatcherTree, TlsInspector, TrafficDirection, TransportProtocolInput } from '@causeway/proto-gen';
import type { SocketAddress } from '../model/ingress-endpoint';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import { ingressListenerName } from '../names/resource-names';
import { toProtoAddress, chooseCluster, exactly, tcpProxy } from './outbound-listeners';
import { bySourceGroup, DEFAULT_SOURCE_LIMITS, limitFilters, type SourceLimitSettings } from './source-limits';
import type { ChainFields, ListenerFields } from '../model/message-fields';

/** The number of groups of source addresses, by hash. */
const GROUPS = 64;
/** The stat prefix of the ingress: all its chains share counters. */
const COUNTERS = 'ingress';
/** The timeout of the ClientHello, ms. */
const CLIENT_HELLO = 5_000;
/** The maximum age of a connection, ms: no connection outlives the configuration that allowed it by more. */
const MAX_AGE = 3_600_000;

/**
 * Returns the listener of the zone ingress: it reads the server name and passes the bytes through, without a key of its own. Connections without TLS,
 * without a server name, or with one that no service of this zone has, are closed and nothing is dialled.
 */
export function ingressListener(
  at: SocketAddress,
  limits: SourceLimitSettings = DEFAULT_SOURCE_LIMITS,
): ListenerFields {
  const name = ingressListenerName(at);
  const tls = bySourceGroup(GROUPS, String);
  const transport = packExtension('transport-protocol', TransportProtocolInput, {});
  return {
    name,
    address: toProtoAddress(at),
    trafficDirection: TrafficDirection.INBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: toProtoDuration(CLIENT_HELLO),
    filterChains: Array.from({ length: GROUPS }, (_, group) => chain(group, limits)),
    filterChainMatcher: MatcherTree.fromPartial({
      matcherType: exactly(transport, [['tls', tls]]),
    }),
  };
}

function chain(group: number, limits: SourceLimitSettings): ChainFields {
  return {
    name: `${group}`,
    filters: [
      ...limitFilters(COUNTERS, limits),
      chooseCluster('in:%REQUESTED_SERVER_NAME%'),
      tcpProxy('none', { statPrefix: COUNTERS, maxAge: MAX_AGE }),
    ],
  };
}
