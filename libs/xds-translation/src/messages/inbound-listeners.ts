import {
  ApplicationProtocolInput,
  HttpConnectionManager,
  HttpConnectionManager_ForwardClientCertDetails,
  MatcherTree,
  NetworkRbac,
  RBAC_Action,
  Router,
  TcpProxy,
  TlsInspector,
  TrafficDirection,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import type { InboundAccessConfig } from '../access/inbound-access';
import { toProtoDuration, packExtension, packFilter } from '@causeway/xds-server';
import { isHttp } from './clusters';
import type { Inbound } from '../dataplane/inbound';
import { accessFilters, callerWith, handshakeNames, takesAnonymous } from './access-filters';
import { endedFilters } from './ended-filter';
import { joinedFilters, NOTHING_ADDED, type InboundFilters } from '../policies/inbound-filters';
import { inboundListenerName, NO_CLUSTER } from '../names/resource-names';
import { toProtoAddress, AFTER_HANDSHAKE, exactly, takeChain, tcpProxy } from './outbound-listeners';
import { downstreamTls, MESH_ALPN } from './tls';
import type { ListenerFields, NamedChainFields } from '../model/message-fields';

/**
 * The listener of an inbound (docs/reference/xds-translation.md, Inbounds). Strict: TLS with a verified client certificate only.
 * Permissive: TLS of the mesh, and what is not. Off: plaintext only. Whoever may not call is refused by the handshake, before
 * the process is dialled; who has no identity may call only where anyone may. `added`: what policies put into its chains.
 */
export function inboundListener(
  inbound: Inbound,
  access: InboundAccessConfig,
  added: InboundFilters = NOTHING_ADDED,
): ListenerFields {
  const { mtls, rules } = access;
  const chains = new InboundChains(inbound, access, joinedFilters([accessFilters(rules), added]));
  const isOpen = access.callers === 'anyone' && takesAnonymous(rules);
  const listener = {
    name: inboundListenerName(inbound.at),
    address: toProtoAddress(inbound.at),
    trafficDirection: TrafficDirection.INBOUND,
    // In all modes: a listener that differs in more than its chains would close all connections.
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    // A client of a protocol in which the server speaks first says nothing to be inspected.
    listenerFiltersTimeout: toProtoDuration(1_000),
    continueOnListenerFiltersTimeout: true,
  };
  if (mtls === 'Off') return { ...listener, filterChains: [isOpen ? chains.plain() : closed()] };
  if (mtls === 'Strict' || !isOpen) return { ...listener, filterChains: [chains.ofMesh()] };
  return { ...listener, ...permissiveChains(inbound, chains) };
}

/**
 * A process behind a TCP inbound may speak TLS of its own; only clients of the mesh offer the mesh's protocol name. The chains are
 * those of the other modes, so that a change of the mode closes what it no longer takes, and nothing else.
 */
function permissiveChains(inbound: Inbound, chains: InboundChains) {
  const [mesh, plaintext] = [chains.ofMesh(), chains.plain()];
  const ownTls = { ...plaintext, name: 'own-tls' };
  const toMesh = takeChain(mesh.name);
  const offered = exactly(packExtension('alpn', ApplicationProtocolInput, {}), [[`'${MESH_ALPN}'`, toMesh]]);
  const tls = { matcherType: offered, onNoMatch: takeChain(ownTls.name) };
  const overTls = isHttp(inbound) ? toMesh : { onMatch: { $case: 'matcher' as const, value: tls } };
  return {
    filterChains: isHttp(inbound) ? [mesh, plaintext] : [mesh, plaintext, ownTls],
    filterChainMatcher: MatcherTree.fromPartial({
      matcherType: exactly(packExtension('transport', TransportProtocolInput, {}), [['tls', overTls]]),
      onNoMatch: takeChain(plaintext.name),
    }),
  };
}

/**
 * The mark of a chain whose process relies on `x-forwarded-client-cert`: an agent whose plane does not set it keeps the instance NotReady.
 * Envoy, and agents of older versions, do not look at it.
 */
export const CLIENT_CERT_HEADER = { key: 'causeway.io/inbound', field: 'clientCertHeader', value: 'Required' } as const;
const NEEDS_CLIENT_CERT_HEADER = {
  metadata: { filterMetadata: { [CLIENT_CERT_HEADER.key]: { [CLIENT_CERT_HEADER.field]: CLIENT_CERT_HEADER.value } } },
};

/** The chains of one inbound. */
class InboundChains {
  constructor(
    private readonly inbound: Inbound,
    private readonly access: InboundAccessConfig,
    private readonly added: InboundFilters,
  ) {}

  /** A chain that changes is closed with its connections: its name changes with each narrowing. */
  ofMesh(): NamedChainFields {
    const { callers, revoked, ended, narrowed, rules, needsClientCertHeader } = this.access;
    // Requests of those that may do nothing are answered all the same: with 403.
    const names = isHttp(this.inbound) ? undefined : handshakeNames(rules);
    const statPrefix = inboundListenerName(this.inbound.at);
    return {
      name: narrowed === 0 ? 'mesh' : `mesh:${narrowed}`,
      transportSocket: downstreamTls(names ?? callers),
      transportSocketConnectTimeout: toProtoDuration(10_000),
      filters: [
        ...endedFilters(statPrefix, ended),
        accessFilter(statPrefix, { callers, revoked }),
        ...this.toProcess(statPrefix, true),
      ],
      ...(needsClientCertHeader && isHttp(this.inbound) && NEEDS_CLIENT_CERT_HEADER),
    };
  }

  /** The counters of callers without an identity have a prefix of their own. */
  plain(): NamedChainFields {
    const statPrefix = `${inboundListenerName(this.inbound.at)}:plaintext`;
    return { name: 'plaintext', filters: this.toProcess(statPrefix, false) };
  }

  private toProcess(statPrefix: string, isTls: boolean) {
    const isOfRequests = isHttp(this.inbound);
    const { network, http } = this.added({ statPrefix, isTls, isHttp: isOfRequests });
    const forwarding = { statPrefix, maxAge: this.access.maxAge, isTls };
    const last = isOfRequests
      ? httpToProcess(this.inbound.clusterName, forwarding, http)
      : bytesToProcess(this.inbound.clusterName, forwarding);
    return [...network, last];
  }
}

/** Takes connections and closes them; nothing is dialled. */
function closed(): NamedChainFields {
  return { name: 'closed', filters: [tcpProxy(NO_CLUSTER)] };
}

/**
 * Closes connections of everybody else: the handshake has refused them already, unless anyone with an identity may call. Then only this
 * filter refuses those that are revoked, before anything that they say reaches the process.
 */
export function accessFilter(
  statPrefix: string,
  { callers, revoked }: Pick<InboundAccessConfig, 'callers' | 'revoked'>,
) {
  const anyone = { identifier: { $case: 'authenticated' as const, value: {} } };
  const banned = new Set(revoked);
  const named = callers === 'anyone' ? [] : callers.filter((id) => !banned.has(id)).map(withId);
  const others = revoked.map((id) => ({ identifier: { $case: 'notId' as const, value: withId(id) } }));
  const principals =
    callers !== 'anyone'
      ? named
      : [
          others.length === 0
            ? anyone
            : { identifier: { $case: 'andIds' as const, value: { ids: [anyone, ...others] } } },
        ];
  const permissions = [{ rule: { $case: 'any' as const, value: true } }];
  const policies = principals.length === 0 ? {} : { callers: { permissions, principals } };
  return packFilter('access', NetworkRbac, { statPrefix, rules: { action: RBAC_Action.ALLOW, policies } });
}

/** Whoever has this SPIFFE id. */
const withId = (value: string) => callerWith({ type: 'Exact', value });

interface TcpForwarding {
  readonly statPrefix: string;
  readonly maxAge: number;
  readonly isTls: boolean;
}

function bytesToProcess(cluster: string, { statPrefix, maxAge, isTls }: TcpForwarding) {
  return packFilter('tcp-proxy', TcpProxy, {
    statPrefix,
    clusterSpecifier: { $case: 'cluster', value: cluster },
    idleTimeout: toProtoDuration(3_600_000),
    maxDownstreamConnectionDuration: toProtoDuration(maxAge),
    ...(isTls && AFTER_HANDSHAKE),
  });
}

function httpToProcess(
  cluster: string,
  { statPrefix, maxAge, isTls }: TcpForwarding,
  filters: ReturnType<InboundFilters>['http'],
) {
  const route = { clusterSpecifier: { $case: 'cluster' as const, value: cluster }, timeout: toProtoDuration(0) };
  const { SANITIZE, SANITIZE_SET } = HttpConnectionManager_ForwardClientCertDetails;
  return packFilter('http', HttpConnectionManager, {
    statPrefix,
    routeSpecifier: {
      $case: 'routeConfig',
      value: {
        name: 'process',
        validateClusters: false,
        virtualHosts: [
          {
            name: 'process',
            domains: ['*'],
            routes: [
              {
                match: { pathSpecifier: { $case: 'prefix', value: '/' } },
                action: { $case: 'route', value: route },
              },
            ],
          },
        ],
      },
    },
    httpFilters: [...filters, packFilter('router', Router, {})],
    commonHttpProtocolOptions: { maxConnectionDuration: toProtoDuration(maxAge) },
    normalizePath: true,
    // The caller's proxy decides how long a request may say nothing, and TimeoutPolicies.
    streamIdleTimeout: toProtoDuration(0),
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    // Who called is said by this proxy, never by the caller.
    forwardClientCertDetails: isTls ? SANITIZE_SET : SANITIZE,
    ...(isTls && { setCurrentClientCertDetails: { uri: true } }),
  });
}
