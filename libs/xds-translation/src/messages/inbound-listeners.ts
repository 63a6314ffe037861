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
 * Returns the listener of an inbound (docs/reference/xds-translation.md, Inbounds). Strict: only TLS with a verified client certificate. Permissive:
 * mesh TLS, and other connections. Off: plaintext only. The handshake refuses callers without access before the process is dialled; callers without
 * an identity may call only where anyone may. `added`: filters of policies.
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
    // In all modes: if a listener changes in more than its chains, Envoy closes all its connections.
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    // With a protocol in which the server speaks first, the client sends nothing to inspect.
    listenerFiltersTimeout: toProtoDuration(1_000),
    continueOnListenerFiltersTimeout: true,
  };
  if (mtls === 'Off') return { ...listener, filterChains: [isOpen ? chains.plain() : closed()] };
  if (mtls === 'Strict' || !isOpen) return { ...listener, filterChains: [chains.ofMesh()] };
  return { ...listener, ...permissiveChains(inbound, chains) };
}

/**
 * A process behind a TCP inbound may speak its own TLS; only clients of the mesh offer the mesh's ALPN protocol. The chains equal those of the other
 * modes, so a change of the mode closes only the connections that the new mode does not accept.
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
 * Marks a chain whose process relies on `x-forwarded-client-cert`: an agent whose dataplane mode does not set the header keeps the instance NotReady.
 * Envoy and older agents ignore the mark.
 */
export const CLIENT_CERT_HEADER = { key: 'causeway.io/inbound', field: 'clientCertHeader', value: 'Required' } as const;
const NEEDS_CLIENT_CERT_HEADER = {
  metadata: { filterMetadata: { [CLIENT_CERT_HEADER.key]: { [CLIENT_CERT_HEADER.field]: CLIENT_CERT_HEADER.value } } },
};

/** Builds the filter chains of one inbound. */
class InboundChains {
  constructor(
    private readonly inbound: Inbound,
    private readonly access: InboundAccessConfig,
    private readonly added: InboundFilters,
  ) {}

  /** Returns the chain of mesh TLS. Its name changes with each narrowing, so that Envoy closes its connections. */
  ofMesh(): NamedChainFields {
    const { callers, revoked, ended, narrowed, rules, needsClientCertHeader } = this.access;
    // Requests of callers without any access are still answered: with 403.
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

  /** Returns the plaintext chain. Its counters have their own prefix. */
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

/** Returns a chain that accepts connections and closes them; nothing is dialled. */
function closed(): NamedChainFields {
  return { name: 'closed', filters: [tcpProxy(NO_CLUSTER)] };
}

/**
 * Returns the filter that closes connections of callers without access. The handshake has already refused them, unless anyone with an identity may
 * call: then this filter alone refuses revoked ids, before any of their bytes reach the process.
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

/** Returns the principal of one SPIFFE id. */
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
    // The caller's proxy and TimeoutPolicies limit how long a request may be idle.
    streamIdleTimeout: toProtoDuration(0),
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    // This proxy sets the header that names the caller; a value from the caller is dropped.
    forwardClientCertDetails: isTls ? SANITIZE_SET : SANITIZE,
    ...(isTls && { setCurrentClientCertDetails: { uri: true } }),
  });
}
