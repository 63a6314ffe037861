import type { LoadBalancingSpec } from '@causeway/policies';
import {
  Cluster_DiscoveryType,
  Cluster_LbPolicy,
  type ClusterLoadAssignment,
  DownstreamTlsContext,
  HttpConnectionManager,
  HTTPFault,
  HttpRbac,
  RBAC_Action,
  Router,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import { addressesOfHost, isPlaintextOnly, localAddresses, type Destination } from '../model/destination';
import { httpAccessFilters } from '../messages/access-filters';
import type { InboundAccessConfig } from '../access/inbound-access';
import type { SocketAddress, ZoneIngressEndpoint } from '../model/ingress-endpoint';
import { destinationEndpoints, endpoint, toSocketAddress } from '../messages/endpoints';
import { FROM_ADS } from '../messages/tls';
import { NO_BREAKER, NO_RULES, type BackendRules } from '../policies/cluster-rules';
import type { HashOf } from '../policies/hash-policies';
import { toProtoDuration, pack, packFilter } from '@causeway/xds-server';
import { FAULT_FILTER, type RulePolicies } from '../policies/rule-policies';
import { callFaults, callFields, lostPolicies } from './grpc-policies';
import type { GrpcRoutes } from './grpc-routes';
import type { ClusterFields, ListenerFields } from '../model/message-fields';

type ServerAccess = Pick<InboundAccessConfig, 'mtls' | 'callers' | 'revoked' | 'rules'>;
type EndpointFields = Parameters<typeof ClusterLoadAssignment.fromPartial>[0] & { readonly clusterName: string };

/** The certificate provider that the bootstrap of a client must define: certificate, key and authorities. */
const CERTIFICATE_PROVIDER = 'mesh';
/** Prefix of the name of a gRPC server's listener, before `address:port`. */
export const SERVER_LISTENER = 'grpc/server?xds.resource.listening_address=';
/** The locality of servers outside the mesh: gRPC refuses endpoints without one. */
const OUTSIDE = 'external';

/** grpc-js knows the transport socket by this name only. */
const TLS_SOCKET = 'envoy.transport_sockets.tls';
const provider = { instanceName: CERTIFICATE_PROVIDER };
const routerFilter = packFilter('router', Router, {});
const faultFilter = { ...packFilter(FAULT_FILTER, HTTPFault, {}), isOptional: true };

/**
 * Returns the listener of a channel to `xds:///<name>` with the routes in `routed`. The routes are inline, because grpc-js does not apply a listener
 * that changes together with separate routes. Without a destination, calls fail at once with UNAVAILABLE; if the name were removed, calls would wait
 * until their deadline.
 */
export function clientListener(
  name: string,
  destination: Destination | undefined,
  routed: Pick<GrpcRoutes, 'routes'>,
): ListenerFields {
  const routes = destination ? routed.routes : [];
  const apiListener = pack(HttpConnectionManager, {
    statPrefix: name,
    routeSpecifier: {
      $case: 'routeConfig',
      value: { name, virtualHosts: [{ name, domains: ['*'], routes: [...routes] }] },
    },
    httpFilters: [...(destination ? [faultFilter] : []), routerFilter],
  });
  return { name, apiListener: { apiListener } };
}

/** Returns the implicit route: all calls go to the destination. */
export function implicitCalls({ name }: Destination, policies: RulePolicies, toHashPolicies: HashOf): GrpcRoutes {
  const clusterSpecifier = { $case: 'cluster' as const, value: name };
  const route = {
    match: { pathSpecifier: { $case: 'prefix' as const, value: '' } },
    ...callFaults(policies),
    action: {
      $case: 'route' as const,
      value: {
        clusterSpecifier,
        hashPolicy: toHashPolicies([name]),
        timeout: toProtoDuration(0),
        ...callFields(undefined, policies),
      },
    },
  };
  return { routes: [route], lost: lostPolicies(policies) };
}

/**
 * Returns the listener of a gRPC server (XdsServer): TLS with a client certificate, and only permitted callers. A server that does not support the
 * RBAC filter refuses the whole listener and serves nobody. A gRPC server takes either TLS or plaintext: in mode Permissive it takes TLS.
 */
export function serverListener(
  name: string,
  at: SocketAddress,
  { mtls, callers, revoked, rules }: ServerAccess,
): ListenerFields {
  const route = {
    match: { pathSpecifier: { $case: 'prefix' as const, value: '' } },
    action: { $case: 'nonForwardingAction' as const, value: {} },
  };
  const manager = packFilter('http', HttpConnectionManager, {
    statPrefix: name,
    routeSpecifier: {
      $case: 'routeConfig',
      value: { name, virtualHosts: [{ name, domains: ['*'], routes: [route] }] },
    },
    httpFilters: [
      ...(callers === 'anyone' && revoked.length === 0 ? [] : [accessFilter({ callers, revoked })]),
      ...httpAccessFilters(rules),
      routerFilter,
    ],
  });
  const tls = packFilter(TLS_SOCKET, DownstreamTlsContext, {
    requireClientCertificate: true,
    commonTlsContext: {
      tlsCertificateProviderInstance: provider,
      validationContextType: { $case: 'validationContext', value: { caCertificateProviderInstance: provider } },
    },
  });
  return {
    name,
    address: { address: { $case: 'socketAddress', value: toSocketAddress(at.address, at.port) } },
    filterChains: [{ filters: [manager], ...(mtls !== 'Off' && { transportSocket: tls }) }],
  };
}

/** Returns the RBAC filter: if anyone may call, revoked ids are denied; otherwise the listed ids are allowed, except revoked ones. */
function accessFilter({ callers, revoked }: Pick<ServerAccess, 'callers' | 'revoked'>) {
  const banned = new Set(revoked);
  const isOpen = callers === 'anyone';
  const principals = (isOpen ? revoked : callers.filter((id) => !banned.has(id))).map((value) => ({
    identifier: {
      $case: 'authenticated' as const,
      value: { principalName: { matchPattern: { $case: 'exact' as const, value } } },
    },
  }));
  const permissions = [{ rule: { $case: 'any' as const, value: true } }];
  const policies = principals.length === 0 ? {} : { callers: { permissions, principals } };
  return packFilter('access', HttpRbac, { rules: { action: isOpen ? RBAC_Action.DENY : RBAC_Action.ALLOW, policies } });
}

/**
 * Returns the cluster of a destination: TLS that accepts exactly the destination's identities; gRPC sends the name of the channel as the server name.
 * A plaintext cluster has endpoints only where all of them take plaintext. Without a destination the cluster has no endpoints: gRPC clients do not
 * apply a cluster that was deleted and comes back unchanged.
 */
export function grpcCluster(
  name: string,
  destination: Destination | undefined,
  rules: BackendRules = NO_RULES,
): ClusterFields {
  const identities = destination?.identities ?? [];
  return {
    name,
    clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: FROM_ADS },
    ...grpcRules(rules),
    ...(identities.length > 0 &&
      destination &&
      !isPlaintextOnly(destination) && { transportSocket: clientTls(identities) }),
  };
}

/**
 * Returns the parts of policies that gRPC clients of Node apply: a limit of calls, and ring hash; they refuse a cluster with another algorithm. Their
 * default limit is 1,024 calls.
 */
function grpcRules({ breaker, balancing }: BackendRules): Partial<ClusterFields> {
  const maxRequests = breaker?.limits?.requests ?? NO_BREAKER;
  return {
    circuitBreakers: { thresholds: [{ maxRequests }] },
    ...(balancing?.algorithm === 'RingHash' && { lbPolicy: Cluster_LbPolicy.RING_HASH }),
  };
}

function clientTls(identities: readonly string[]) {
  return packFilter(TLS_SOCKET, UpstreamTlsContext, {
    commonTlsContext: {
      tlsCertificateProviderInstance: provider,
      validationContextType: {
        $case: 'validationContext',
        value: {
          caCertificateProviderInstance: provider,
          matchSubjectAltNames: identities.map((value) => ({ matchPattern: { $case: 'exact' as const, value } })),
        },
      },
    },
  });
}

/** The zone of the clients, and the zones that a policy routes them to. */
interface SeenFrom {
  readonly zone: string;
  readonly findIngressEndpoint: (mesh: string, zone: string) => ZoneIngressEndpoint | undefined;
  readonly balancing: LoadBalancingSpec | undefined;
}

/**
 * Returns the endpoints of a destination in the form that gRPC accepts: IP addresses, each once, in localities that have a name and a weight, with
 * priorities without a gap.
 */
export function grpcEndpoints(
  name: string,
  destination: Destination | undefined,
  { zone, findIngressEndpoint, balancing }: SeenFrom,
): EndpointFields {
  if (!destination) return { clusterName: name };
  // A gRPC client could not name the service to an egress.
  if (destination.egress) return { clusterName: name };
  if (destination.external) return externalEndpoints(name, destination, destination.external);
  const isPlaintext = isPlaintextOnly(destination);
  if (destination.identities.length === 0 && !isPlaintext) return { clusterName: name };
  // A gRPC cluster uses either TLS or plaintext for all its endpoints.
  const local = localAddresses(destination).filter(({ plaintext }) => plaintext === isPlaintext);
  const known = { ...destination, local, localNames: [] };
  const found = withoutRepeats(destinationEndpoints(known, zone, findIngressEndpoint, balancing?.locality));
  return balancing?.algorithm === 'RingHash' ? withRingWeights(found) : found;
}

/** The ring weight of the locality whose endpoints have the greatest share. */
const RING_WEIGHT = 1_000_000;

/**
 * Divides the weight of each locality among its endpoints: on the ring each endpoint has the weight of its locality (gRPC proposal A42), so a
 * locality would otherwise count once for each of its endpoints.
 */
function withRingWeights({ clusterName, endpoints = [] }: EndpointFields): EndpointFields {
  const computeShare = ({ loadBalancingWeight = 1, lbEndpoints = [] }: (typeof endpoints)[number]): number =>
    loadBalancingWeight / lbEndpoints.length;
  const greatest = endpoints.reduce((most, each) => Math.max(most, computeShare(each)), 0);
  const computeWeight = (share: number): number => Math.max(1, Math.round((share / greatest) * RING_WEIGHT));
  return {
    clusterName,
    endpoints: endpoints.map((each) => ({ ...each, loadBalancingWeight: computeWeight(computeShare(each)) })),
  };
}

type External = NonNullable<Destination['external']>;

/** Returns the endpoints of a service outside the mesh, in plaintext only: gRPC has one set of authorities for all clusters. */
function externalEndpoints(
  clusterName: string,
  destination: Pick<Destination, 'hosts'>,
  { endpoints, tls }: External,
): EndpointFields {
  if (tls) return { clusterName };
  const reachable = endpoints.flatMap(({ host, ...rest }) =>
    addressesOfHost(destination, host).map((address) => ({ ...rest, address })),
  );
  const priorities = [...new Set(reachable.map(({ priority }) => priority))].sort((a, b) => a - b);
  return withoutRepeats({
    clusterName,
    endpoints: priorities.map((wanted, priority) => {
      const found = reachable.filter((each) => each.priority === wanted);
      return {
        locality: { zone: OUTSIDE },
        priority,
        loadBalancingWeight: found.length,
        lbEndpoints: found.map((at) => endpoint(at)),
      };
    }),
  });
}

/** Removes repeated addresses: an address of several localities stays in the first of them. */
function withoutRepeats({ clusterName, endpoints = [] }: EndpointFields): EndpointFields {
  const seen = new Set<string>();
  const kept = endpoints.flatMap((locality) => {
    const lbEndpoints = (locality.lbEndpoints ?? []).filter(({ hostIdentifier }) => {
      const key = JSON.stringify(hostIdentifier);
      return !seen.has(key) && seen.add(key);
    });
    return lbEndpoints.length === 0 ? [] : [{ ...locality, lbEndpoints }];
  });
  const ranks = [...new Set(kept.map(({ priority = 0 }) => priority))].sort((a, b) => a - b);
  return {
    clusterName,
    endpoints: kept.map((locality) => ({ ...locality, priority: ranks.indexOf(locality.priority ?? 0) })),
  };
}
