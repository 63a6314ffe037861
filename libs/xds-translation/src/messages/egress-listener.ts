import {
  MatcherTree,
  ServerNameInput,
  TlsInspector,
  TrafficDirection,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import { computeHash, type RuledServices } from '../access/egress-rules';
import type { InboundAccessConfig } from '../access/inbound-access';
import { formatEgressServerNames } from '../model/sni';
import type { SocketAddress } from '../model/ingress-endpoint';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import { accessFilters, handshakeNames } from './access-filters';
import { endedFilters } from './ended-filter';
import { accessFilter } from './inbound-listeners';
import { egressClusterName, egressListenerName, egressSecretNames } from '../names/resource-names';
import { toProtoAddress, chooseCluster, closedChain, exactly, tcpProxy } from './outbound-listeners';
import { bySourceGroup, DEFAULT_SOURCE_LIMITS, limitFilters, type SourceLimitSettings } from './source-limits';
import { downstreamTls } from './tls';
import type { ChainFields, ListenerFields } from '../model/message-fields';

/** A mesh whose proxies leave it through the egress, and the callers that may. */
export interface LeavingMesh extends Omit<InboundAccessConfig, 'mtls' | 'rules' | 'needsClientCertHeader'> {
  readonly mesh: string;
  /** Services that AccessPolicies target. */
  readonly ruled: readonly RuledServices[];
}

/** The stat prefix of the egress: all meshes share counters. */
const COUNTERS = 'egress';
/** The timeout of the ClientHello, and then of the handshake, ms. */
const CLIENT_HELLO = 5_000;
const HANDSHAKE = 10_000;

/**
 * The number of groups of source addresses, by hash, in each mesh is chosen so that all meshes together have no more filter chains than this, but at
 * least one each.
 */
const MAX_CHAINS = 256;
const GROUPS = [64, 16, 4];
/** The same for services that policies target: each of their names is compared in each group. */
const RULED_GROUPS = [4];

/**
 * Returns the listener of the zone egress (docs/reference/xds-translation.md, The zone egress): mesh TLS, in which the caller's certificate is
 * verified against the authorities of the mesh that the server name ends with; then the connection goes to the service of that name. The handshake
 * refuses callers without access, and nothing is dialled for them. Services that AccessPolicies target have filter chains of their own, shared by
 * those with equal rules, so that a change of rules closes no other connections; requests are TCP there.
 */
export function egressListener(
  at: SocketAddress,
  meshes: readonly LeavingMesh[],
  limits: SourceLimitSettings = DEFAULT_SOURCE_LIMITS,
): ListenerFields {
  const groups = computeGroups(meshes.length, GROUPS);
  const ruledGroups = computeGroups(meshes.flatMap(({ ruled }) => ruled).length, RULED_GROUPS);
  /** Builds one chain for each group; they differ in their names only. */
  const inGroups = (count: number, mesh: LeavingMesh, ruled?: RuledServices): ChainFields[] => {
    const fields = chain(mesh, limits, ruled);
    return Array.from({ length: count }, (_, group) => ({ ...fields, name: chainName(mesh, group, ruled) }));
  };
  return {
    name: egressListenerName(at),
    address: toProtoAddress(at),
    trafficDirection: TrafficDirection.OUTBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: toProtoDuration(CLIENT_HELLO),
    ...(meshes.length === 0
      ? { filterChains: [closedChain('none')] }
      : {
          filterChains: meshes.flatMap((each) => [
            ...inGroups(groups, each),
            ...each.ruled.flatMap((ruled) => inGroups(ruledGroups, each, ruled)),
          ]),
          filterChainMatcher: chooseChain(meshes, groups, ruledGroups),
        }),
  };
}

function computeGroups(chains: number, counts: readonly number[]): number {
  return counts.find((count) => count * chains <= MAX_CHAINS) ?? 1;
}

/**
 * Returns the name of a chain. Envoy closes the connections of a chain whose name changes: the name changes with each narrowing, and with the rules.
 * The name of the chain of services without rules changes with the list of services that have rules, because a service may have left the chain.
 */
function chainName({ mesh, narrowed, ruled }: LeavingMesh, group: number, one?: RuledServices): string {
  const parts =
    ruled.length === 0
      ? []
      : [
          one?.id ??
            computeHash(
              ruled
                .flatMap((each) => each.serverNames)
                .sort()
                .join(' '),
            ),
        ];
  return [mesh, narrowed, group, ...parts].join(':');
}

/** Returns the chain of each group, without its name. */
function chain(of: LeavingMesh, limits: SourceLimitSettings, ruled?: RuledServices): ChainFields {
  const { mesh, revoked, ended, maxAge } = of;
  const rules = ruled ? [ruled.rules] : [];
  const callers = ruled ? 'anyone' : of.callers;
  const { network } = accessFilters(rules)({ statPrefix: COUNTERS, isTls: true, isHttp: false });
  return {
    transportSocket: downstreamTls(handshakeNames(rules) ?? callers, egressSecretNames(mesh)),
    transportSocketConnectTimeout: toProtoDuration(HANDSHAKE),
    filters: [
      ...limitFilters(COUNTERS, limits),
      ...endedFilters(COUNTERS, ended),
      accessFilter(COUNTERS, { callers, revoked }),
      ...network,
      chooseCluster(egressClusterName('%REQUESTED_SERVER_NAME%', ruled !== undefined)),
      tcpProxy('none', { statPrefix: COUNTERS, maxAge, afterHandshake: true }),
    ],
  };
}

/**
 * Chooses the chain: by the server name for services that policies target, else by the mesh suffix of the server name; then by the group of the
 * source address.
 */
function chooseChain(meshes: readonly LeavingMesh[], groups: number, ruledGroups: number) {
  const input = packExtension('server-name', ServerNameInput, {});
  const matchers = meshes.map((each) => {
    const matchPattern = { $case: 'suffix' as const, value: `.${formatEgressServerNames(each.mesh)}` };
    const ends = { input, matcher: { $case: 'valueMatch' as const, value: { matchPattern } } };
    return {
      predicate: { matchType: { $case: 'singlePredicate' as const, value: ends } },
      onMatch: bySourceGroup(groups, (group) => chainName(each, group)),
    };
  });
  const ruled = meshes.flatMap((each) =>
    each.ruled.flatMap((services) => {
      const toChain = bySourceGroup(ruledGroups, (group) => chainName(each, group, services));
      return services.serverNames.map((name) => [name, toChain] as const);
    }),
  );
  const byMesh = { matcherType: { $case: 'matcherList' as const, value: { matchers } } };
  const byName = {
    matcherType: exactly(input, ruled),
    onNoMatch: { onMatch: { $case: 'matcher' as const, value: byMesh } },
  };
  return MatcherTree.fromPartial({
    matcherType: exactly(packExtension('transport-protocol', TransportProtocolInput, {}), [
      ['tls', { onMatch: { $case: 'matcher' as const, value: ruled.length > 0 ? byName : byMesh } }],
    ]),
  });
}
