import { MatcherTree, TlsInspector, TrafficDirection, TransportProtocolInput } from '@causeway/proto-gen';
import type { SocketAddress } from '../model/ingress-endpoint';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import { ingressListenerName } from '../names/resource-names';
import { toProtoAddress, chooseCluster, exactly, tcpProxy } from './outbound-listeners';
import { bySourceGroup, DEFAULT_SOURCE_LIMITS, limitFilters, type SourceLimitSettings } from './source-limits';
import type { ChainFields, ListenerFields } from '../model/message-fields';

/** Groups of source addresses, by hash. */
const GROUPS = 64;
/** The prefix of the ingress's counters: all its chains count together. */
const COUNTERS = 'ingress';
/** A ClientHello that has not come after so long closes the connection, ms. */
const CLIENT_HELLO = 5_000;
/** A connection ends after so long, so that none outlives what allowed it by more, ms. */
const MAX_AGE = 3_600_000;

/**
 * The zone ingress: reads the server name and passes the bytes on, without a key of its own. What is not TLS, has no server
 * name or one that no service of this zone has, is closed and nothing is dialled.
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
