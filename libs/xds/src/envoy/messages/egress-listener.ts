import {
  type FilterChain,
  type Listener,
  MatcherTree,
  ServerNameInput,
  TlsInspector,
  TrafficDirection,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import type { InboundAccess } from '../../model/inbound-access';
import { egressServerNamesOf } from '../../model/sni';
import type { SocketAddress } from '../../model/zone-entrance';
import { durationOf, packExtension, packFilter } from '../../resources/any';
import { accessFilter } from './inbound-listeners';
import { egressListenerName, egressSecretNames } from '../names';
import { addressOf, chooseCluster, closedChain, exactly, tcpProxy } from './outbound-listeners';
import { bySourceGroup, DEFAULT_SOURCE_LIMITS, limitFilters, type SourceLimits } from './source-limits';
import { downstreamTls } from './tls';

type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };
type ChainFields = Parameters<typeof FilterChain.fromPartial>[0];

/** A mesh whose proxies leave it through the egress, and who of them may. */
export interface LeavingMesh extends Omit<InboundAccess, 'mtls' | 'rules'> {
  readonly mesh: string;
}

/** The prefix of the egress's counters: all meshes count together. */
const COUNTERS = 'egress';
/** A ClientHello, and then the handshake, that has not come after so long closes the connection, ms. */
const CLIENT_HELLO = 5_000;
const HANDSHAKE = 10_000;

/** Groups of source addresses, by hash, in each mesh: so many that all meshes together have no more chains than this, but one each. */
const MOST_CHAINS = 256;
const GROUPS = [64, 16, 4];

/**
 * The zone egress (docs/reference/xds-translation.md, The zone egress): TLS of the mesh, whose certificate of the caller is checked
 * against the authorities of the mesh that the server name ends with; then the connection goes to the service of that name. Who
 * may not call is refused by the handshake, and nothing is dialled.
 */
export function egressListener(
  at: SocketAddress,
  meshes: readonly LeavingMesh[],
  limits: SourceLimits = DEFAULT_SOURCE_LIMITS,
): ListenerFields {
  const groups = GROUPS.find((count) => count * meshes.length <= MOST_CHAINS) ?? 1;
  return {
    name: egressListenerName(at),
    address: addressOf(at),
    trafficDirection: TrafficDirection.OUTBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: durationOf(CLIENT_HELLO),
    ...(meshes.length === 0
      ? { filterChains: [closedChain('none')] }
      : {
          filterChains: meshes.flatMap((each) =>
            Array.from({ length: groups }, (_, group) => chain(each, group, limits)),
          ),
          filterChainMatcher: chooseChain(meshes, groups),
        }),
  };
}

/** A chain that changes is closed with its connections: its name changes with each narrowing. */
function chainName({ mesh, narrowed }: LeavingMesh, group: number): string {
  return `${mesh}:${narrowed}:${group}`;
}

function chain(of: LeavingMesh, group: number, limits: SourceLimits): ChainFields {
  const { mesh, callers, revoked, maxAge } = of;
  return {
    name: chainName(of, group),
    transportSocket: downstreamTls(callers, egressSecretNames(mesh)),
    transportSocketConnectTimeout: durationOf(HANDSHAKE),
    filters: [
      ...limitFilters(COUNTERS, limits),
      accessFilter(COUNTERS, { callers, revoked }),
      chooseCluster('out:%REQUESTED_SERVER_NAME%'),
      tcpProxy('none', { statPrefix: COUNTERS, maxAge, afterHandshake: true }),
    ],
  };
}

/** By the mesh that the server name ends with, then by the group of the source. */
function chooseChain(meshes: readonly LeavingMesh[], groups: number) {
  const input = packExtension('server-name', ServerNameInput, {});
  const matchers = meshes.map((each) => {
    const matchPattern = { $case: 'suffix' as const, value: `.${egressServerNamesOf(each.mesh)}` };
    const ends = { input, matcher: { $case: 'valueMatch' as const, value: { matchPattern } } };
    return {
      predicate: { matchType: { $case: 'singlePredicate' as const, value: ends } },
      onMatch: bySourceGroup(groups, (group) => chainName(each, group)),
    };
  });
  const byMesh = { matcherType: { $case: 'matcherList' as const, value: { matchers } } };
  return MatcherTree.fromPartial({
    matcherType: exactly(packExtension('transport-protocol', TransportProtocolInput, {}), [
      ['tls', { onMatch: { $case: 'matcher' as const, value: byMesh } }],
    ]),
  });
}
