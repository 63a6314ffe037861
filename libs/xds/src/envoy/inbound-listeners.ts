import {
  ConnectionLimit,
  HttpConnectionManager,
  HttpConnectionManager_ForwardClientCertDetails,
  type Listener,
  NetworkRbac,
  RBAC_Action,
  Router,
  TlsInspector,
  TrafficDirection,
} from '@causeway/proto-gen';
import type { SocketAddress } from '../model/zone-entrance';
import { durationOf, packFilter } from '../resources/any';
import { isHttp } from './clusters';
import type { Inbound } from './inbound';
import { inboundListenerName, ingressListenerName } from './names';
import { addressOf, chooseCluster, tcpProxy } from './outbound-listeners';
import { downstreamTls } from './tls';

type ListenerFields = Parameters<typeof Listener.fromPartial>[0] & { readonly name: string };

/** Who may call an inbound: SPIFFE ids, or `anyone` with a trusted certificate. Nobody is named = nobody may. */
export type Callers = readonly string[] | 'anyone';

/** Takes connections of the mesh only: TLS with a trusted client certificate, and then only of `callers`. */
export function inboundListener({ at, clusterName, protocol }: Inbound, callers: Callers): ListenerFields {
  const name = inboundListenerName(at);
  const forward = isHttp({ protocol }) ? httpToProcess(name, clusterName) : tcpProxy(clusterName);
  return {
    name,
    address: addressOf(at),
    trafficDirection: TrafficDirection.INBOUND,
    filterChains: [
      {
        transportSocket: downstreamTls(),
        transportSocketConnectTimeout: durationOf(10_000),
        filters: [accessFilter(name, callers), forward],
      },
    ],
  };
}

/** Closes connections of everybody else. */
function accessFilter(statPrefix: string, callers: Callers) {
  const principals =
    callers === 'anyone'
      ? [{ identifier: { $case: 'authenticated' as const, value: {} } }]
      : callers.map((id) => ({
          identifier: {
            $case: 'authenticated' as const,
            value: { principalName: { matchPattern: { $case: 'exact' as const, value: id } } },
          },
        }));
  const permissions = [{ rule: { $case: 'any' as const, value: true } }];
  const policies = principals.length === 0 ? {} : { callers: { permissions, principals } };
  return packFilter('access', NetworkRbac, { statPrefix, rules: { action: RBAC_Action.ALLOW, policies } });
}

function httpToProcess(name: string, cluster: string) {
  const route = { clusterSpecifier: { $case: 'cluster' as const, value: cluster }, timeout: durationOf(0) };
  return packFilter('http', HttpConnectionManager, {
    statPrefix: name,
    routeSpecifier: {
      $case: 'routeConfig',
      value: {
        name,
        validateClusters: false,
        virtualHosts: [
          {
            name,
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
    normalizePath: true,
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    // Who called is said by this proxy, never by the caller.
    forwardClientCertDetails: HttpConnectionManager_ForwardClientCertDetails.SANITIZE_SET,
    setCurrentClientCertDetails: { uri: true },
  });
}

/** Most connections of a zone ingress at one time. */
const MOST_CONNECTIONS = 50_000;

/**
 * The zone ingress: reads the server name and passes the bytes on, without a key of its own. What is not TLS, has no server
 * name or one that no service of this zone has, is closed and nothing is dialled.
 */
export function ingressListener(at: SocketAddress): ListenerFields {
  const name = ingressListenerName(at);
  return {
    name,
    address: addressOf(at),
    trafficDirection: TrafficDirection.INBOUND,
    listenerFilters: [packFilter('tls-inspector', TlsInspector, {})],
    listenerFiltersTimeout: durationOf(5_000),
    filterChains: [
      {
        filterChainMatch: { transportProtocol: 'tls' },
        filters: [
          packFilter('connection-limit', ConnectionLimit, { statPrefix: name, maxConnections: MOST_CONNECTIONS }),
          chooseCluster('in:%REQUESTED_SERVER_NAME%'),
          tcpProxy('none', { statPrefix: 'ingress' }),
        ],
      },
    ],
  };
}
