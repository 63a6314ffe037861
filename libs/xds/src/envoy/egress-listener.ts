import { type FilterChain, type Listener, TlsInspector, TrafficDirection } from '@causeway/proto-gen';
import type { InboundAccess } from '../model/inbound-access';
import { egressServerNamesOf } from '../model/sni';
import type { SocketAddress } from '../model/zone-entrance';
import { durationOf, packFilter } from '../resources/any';
import { accessFilter } from './inbound-listeners';
import { egressListenerName, egressSecretNames } from './names';
import { addressOf, chooseCluster, tcpProxy } from './outbound-listeners';
import { downstreamTls } from './tls';

type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };
type ChainFields = Parameters<typeof FilterChain.fromPartial>[0];

/** A mesh whose proxies leave it through the egress, and who of them may. */
export interface LeavingMesh extends Omit<InboundAccess, 'mtls'> {
  readonly mesh: string;
}

/** The prefix of the egress's counters: all meshes count together. */
const COUNTERS = 'egress';
/** A ClientHello, and then the handshake, that has not come after so long closes the connection, ms. */
const CLIENT_HELLO = 5_000;
const HANDSHAKE = 10_000;

/**
 * The zone egress (docs/reference/xds-translation.md, The zone egress): TLS of the mesh, whose certificate of the caller is checked
 * against the authorities of the mesh that the server name ends with; then the connection goes to the service of that name. Who
 * may not call is refused by the handshake, and nothing is dialled.
 */
export function egressListener(at: SocketAddress, meshes: readonly LeavingMesh[]): ListenerFields {
  return {
    name: egressListenerName(at),
    address: addressOf(at),
    trafficDirection: TrafficDirection.OUTBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: durationOf(CLIENT_HELLO),
    filterChains: meshes.map(chain),
  };
}

/** A chain that changes is closed with its connections: its name changes with each narrowing. */
function chain({ mesh, callers, revoked, maxAge, narrowed }: LeavingMesh): ChainFields {
  return {
    name: narrowed === 0 ? mesh : `${mesh}:${narrowed}`,
    filterChainMatch: { transportProtocol: 'tls', serverNames: [`*.${egressServerNamesOf(mesh)}`] },
    transportSocket: downstreamTls(callers, egressSecretNames(mesh)),
    transportSocketConnectTimeout: durationOf(HANDSHAKE),
    filters: [
      accessFilter(COUNTERS, { callers, revoked }),
      chooseCluster('out:%REQUESTED_SERVER_NAME%'),
      tcpProxy('none', { statPrefix: COUNTERS, maxAge, afterHandshake: true }),
    ],
  };
}
