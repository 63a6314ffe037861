import { RouteConfiguration, type Route, type RouteAction } from '@causeway/proto-gen';
import { decodeDuration } from './unsupported-config';

/** Cluster with its share of connections: `weight` of the sum of all weights. */
export interface WeightedCluster {
  readonly cluster: string;
  readonly weight: number;
}

/** Clusters to which a dataplane without HTTP forwards the connections of an HTTP route. */
export interface DecodedRoute {
  /** Clusters of the route that matches every request, by weight; empty if there is no such route. */
  readonly clusters: readonly WeightedCluster[];
  /** Route features that a dataplane without HTTP cannot apply; undefined if there are none. */
  readonly unsupported: string | undefined;
}

/** Decodes the routes of a service port; without a route for all requests, they lead to the service itself. */
export function decodeRoutes(bytes: Uint8Array): DecodedRoute {
  const routes = RouteConfiguration.decode(bytes);
  const { clusters, unsupported } = decodeRouteConfiguration(routes);
  const [service = ''] = routes.name.split('/');
  return { clusters: clusters.length > 0 ? clusters : [{ cluster: service, weight: 1 }], unsupported };
}

/** Decodes a route configuration, standalone or inline in a connection manager. */
export function decodeRouteConfiguration({ virtualHosts }: RouteConfiguration): DecodedRoute {
  const routes = virtualHosts.flatMap((host) => host.routes);
  const [host] = virtualHosts;
  const forAll = virtualHosts.find(({ domains }) => domains.includes('*')) ?? host;
  const last = forAll?.routes.findLast(matchesAllRequests);
  const clusters = listClusters(last);
  const [cluster, ...more] = clusters;
  const isPlain = routes.length === 1 && virtualHosts.length === 1 && more.length === 0 && forwardsUnchanged(last);
  if (isPlain && cluster) return { clusters, unsupported: undefined };
  const to = clusters.length > 0 ? clusters.map((each) => each.cluster).join(', ') : 'the service itself';
  return { clusters, unsupported: `${routes.length} routes are for requests: bytes go to ${to}` };
}

function matchesAllRequests({ match }: Route): boolean {
  const path = match?.pathSpecifier;
  const isAnyPath = path?.$case === 'prefix' && path.value === '/';
  return isAnyPath && match?.headers.length === 0 && match.queryParameters.length === 0 && !match.runtimeFraction;
}

function listClusters(route: Route | undefined): readonly WeightedCluster[] {
  const to = route?.action?.$case === 'route' ? route.action.value.clusterSpecifier : undefined;
  if (to?.$case === 'cluster') return [{ cluster: to.value, weight: 1 }];
  if (to?.$case !== 'weightedClusters') return [];
  return to.value.clusters.map(({ name, weight = 0 }) => ({ cluster: name, weight }));
}

/** Returns whether the route forwards requests unchanged and without a timeout. */
function forwardsUnchanged(route: Route | undefined): boolean {
  const action = route?.action?.$case === 'route' ? route.action.value : undefined;
  if (!route || !action) return false;
  return (
    !changesHeaders(route) && !rewrites(action) && action.requestMirrorPolicies.length === 0 && !hasTimeout(action)
  );
}

function changesHeaders(route: Route): boolean {
  const { requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove } = route;
  const changes = [requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove];
  return changes.some(({ length }) => length > 0);
}

function rewrites({ prefixRewrite, regexRewrite, hostRewriteSpecifier }: RouteAction): boolean {
  return prefixRewrite !== '' || regexRewrite !== undefined || hostRewriteSpecifier !== undefined;
}

/** Envoy's default of 15 s does not apply: the zone always sets a timeout. */
function hasTimeout({ timeout, retryPolicy }: RouteAction): boolean {
  return decodeDuration(timeout, 0) > 0 || decodeDuration(retryPolicy?.perTryTimeout, 0) > 0;
}

/**
 * Selects a cluster in proportion to its weight. `at`: random number in [0, 1), drawn for each connection. Undefined if
 * all weights are 0. Linear in the number of clusters.
 */
export function pickCluster(parts: readonly WeightedCluster[], at: number): string | undefined {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  let left = at * total;
  const found = parts.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found?.cluster;
}
