import {
  HttpConnectionManager,
  HttpConnectionManager_ForwardClientCertDetails,
  type Listener,
  NetworkRbac,
  RBAC_Action,
  Router,
  TrafficDirection,
} from '@causeway/proto-gen';
import { durationOf, packFilter } from '../resources/any';
import { isHttp } from './clusters';
import type { Inbound } from './inbound';
import { inboundListenerName } from './names';
import { addressOf, tcpProxy } from './outbound-listeners';
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
