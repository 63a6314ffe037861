import {
  ApplicationProtocolInput,
  type FilterChain,
  HttpConnectionManager,
  HttpConnectionManager_ForwardClientCertDetails,
  type Listener,
  MatcherTree,
  NetworkRbac,
  RBAC_Action,
  Router,
  TcpProxy,
  TlsInspector,
  TrafficDirection,
  TransportProtocolInput,
} from '@causeway/proto-gen';
import type { InboundAccess } from '../../model/inbound-access';
import { durationOf, packExtension, packFilter } from '../../resources/any';
import { isHttp } from './clusters';
import type { Inbound } from '../dataplane/inbound';
import { inboundListenerName, NO_CLUSTER } from '../names';
import { addressOf, AFTER_HANDSHAKE, exactly, takeChain, tcpProxy } from './outbound-listeners';
import { downstreamTls, MESH_ALPN } from './tls';

type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };
type ChainFields = NonNullable<Parameters<typeof FilterChain.fromPartial>[0]> & { readonly name: string };

/**
 * The listener of an inbound (docs/reference/xds-translation.md, Inbounds). Strict: TLS with a verified client certificate only.
 * Permissive: TLS of the mesh, and what is not. Off: plaintext only. Whoever may not call is refused by the handshake, before
 * the process is dialled; who has no identity may call only where anyone may.
 */
export function inboundListener(inbound: Inbound, access: InboundAccess): ListenerFields {
  const { mtls, callers } = access;
  const listener = {
    name: inboundListenerName(inbound.at),
    address: addressOf(inbound.at),
    trafficDirection: TrafficDirection.INBOUND,
    // In all modes: a listener that differs in more than its chains would close all connections.
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    // A client of a protocol in which the server speaks first says nothing to be inspected.
    listenerFiltersTimeout: durationOf(1_000),
    continueOnListenerFiltersTimeout: true,
  };
  if (mtls === 'Off') return { ...listener, filterChains: [callers === 'anyone' ? plain(inbound, access) : closed()] };
  if (mtls === 'Strict' || callers !== 'anyone') return { ...listener, filterChains: [ofMesh(inbound, access)] };
  return { ...listener, ...permissiveChains(inbound, access) };
}

/**
 * A process behind a TCP inbound may speak TLS of its own; only clients of the mesh offer the mesh's protocol name. The chains are
 * those of the other modes, so that a change of the mode closes what it no longer takes, and nothing else.
 */
function permissiveChains(inbound: Inbound, access: InboundAccess) {
  const [mesh, plaintext] = [ofMesh(inbound, access), plain(inbound, access)];
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

/** A chain that changes is closed with its connections: its name changes with each narrowing. */
function ofMesh(inbound: Inbound, { callers, revoked, maxAge, narrowed }: InboundAccess): ChainFields {
  const statPrefix = inboundListenerName(inbound.at);
  return {
    name: narrowed === 0 ? 'mesh' : `mesh:${narrowed}`,
    transportSocket: downstreamTls(callers),
    transportSocketConnectTimeout: durationOf(10_000),
    filters: [accessFilter(statPrefix, { callers, revoked }), forward(inbound, { statPrefix, maxAge, isTls: true })],
  };
}

/** The counters of callers without an identity have a prefix of their own. */
function plain(inbound: Inbound, { maxAge }: InboundAccess): ChainFields {
  const statPrefix = `${inboundListenerName(inbound.at)}:plaintext`;
  return { name: 'plaintext', filters: [forward(inbound, { statPrefix, maxAge, isTls: false })] };
}

/** Takes connections and closes them; nothing is dialled. */
function closed(): ChainFields {
  return { name: 'closed', filters: [tcpProxy(NO_CLUSTER)] };
}

/**
 * Closes connections of everybody else: the handshake has refused them already, unless anyone with an identity may call. Then only this
 * filter refuses those that are revoked, before anything that they say reaches the process.
 */
export function accessFilter(statPrefix: string, { callers, revoked }: Pick<InboundAccess, 'callers' | 'revoked'>) {
  const anyone = { identifier: { $case: 'authenticated' as const, value: {} } };
  const banned = new Set(revoked);
  const named = callers === 'anyone' ? [] : callers.filter((id) => !banned.has(id)).map(callerWith);
  const others = revoked.map((id) => ({ identifier: { $case: 'notId' as const, value: callerWith(id) } }));
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
function callerWith(id: string) {
  return {
    identifier: {
      $case: 'authenticated' as const,
      value: { principalName: { matchPattern: { $case: 'exact' as const, value: id } } },
    },
  };
}

interface Forwarding {
  readonly statPrefix: string;
  readonly maxAge: number;
  readonly isTls: boolean;
}

function forward(inbound: Inbound, { statPrefix, maxAge, isTls }: Forwarding) {
  if (isHttp(inbound)) return httpToProcess(inbound.clusterName, { statPrefix, maxAge, isTls });
  return packFilter('tcp-proxy', TcpProxy, {
    statPrefix,
    clusterSpecifier: { $case: 'cluster', value: inbound.clusterName },
    idleTimeout: durationOf(3_600_000),
    maxDownstreamConnectionDuration: durationOf(maxAge),
    ...(isTls && AFTER_HANDSHAKE),
  });
}

function httpToProcess(cluster: string, { statPrefix, maxAge, isTls }: Forwarding) {
  const route = { clusterSpecifier: { $case: 'cluster' as const, value: cluster }, timeout: durationOf(0) };
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
    httpFilters: [packFilter('router', Router, {})],
    commonHttpProtocolOptions: { maxConnectionDuration: durationOf(maxAge) },
    normalizePath: true,
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    // Who called is said by this proxy, never by the caller.
    forwardClientCertDetails: isTls ? SANITIZE_SET : SANITIZE,
    ...(isTls && { setCurrentClientCertDetails: { uri: true } }),
  });
}
