import { RouteConfiguration, type Route, type RouteAction } from '@causeway/proto-gen';
import { decodeDuration } from './unsupported-config';

/** A part of connections: `weight` of the sum of all parts. */
export interface WeightedCluster {
  readonly cluster: string;
  readonly weight: number;
}

/** Target of the connections of an HTTP route in a dataplane that forwards bytes. */
export interface DecodedRoute {
  /** The clusters of the route that takes every request, with the shares of connections; empty where no route does. */
  readonly clusters: readonly WeightedCluster[];
  /** Route features that a dataplane of bytes cannot apply; undefined if there are none. */
  readonly lost: string | undefined;
}

/** The routes of a service's port, which are named after it: where none takes every request, bytes go to the service itself. */
export function decodeRoutes(bytes: Uint8Array): DecodedRoute {
  const routes = RouteConfiguration.decode(bytes);
  const { clusters, lost } = routePlan(routes);
  const [service = ''] = routes.name.split('/');
  return { clusters: clusters.length > 0 ? clusters : [{ cluster: service, weight: 1 }], lost };
}

/** Also of routes that stand in a connection manager. */
export function routePlan({ virtualHosts }: RouteConfiguration): DecodedRoute {
  const routes = virtualHosts.flatMap((host) => host.routes);
  const [host] = virtualHosts;
  const forAll = virtualHosts.find(({ domains }) => domains.includes('*')) ?? host;
  const last = forAll?.routes.findLast(takesAll);
  const clusters = listClusters(last);
  const [cluster, ...more] = clusters;
  const isPlain = routes.length === 1 && virtualHosts.length === 1 && more.length === 0 && passesOn(last);
  if (isPlain && cluster) return { clusters, lost: undefined };
  const to = clusters.length > 0 ? clusters.map((each) => each.cluster).join(', ') : 'the service itself';
  return { clusters, lost: `${routes.length} routes are for requests: bytes go to ${to}` };
}

function takesAll({ match }: Route): boolean {
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

/** Whether requests of a route go on as they are, for as long as they take. */
function passesOn(route: Route | undefined): boolean {
  const action = route?.action?.$case === 'route' ? route.action.value : undefined;
  if (!route || !action) return false;
  return !changesHeaders(route) && !rewrites(action) && action.requestMirrorPolicies.length === 0 && !ends(action);
}

function changesHeaders(route: Route): boolean {
  const { requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove } = route;
  const changes = [requestHeadersToAdd, requestHeadersToRemove, responseHeadersToAdd, responseHeadersToRemove];
  return changes.some(({ length }) => length > 0);
}

function rewrites({ prefixRewrite, regexRewrite, hostRewriteSpecifier }: RouteAction): boolean {
  return prefixRewrite !== '' || regexRewrite !== undefined || hostRewriteSpecifier !== undefined;
}

/** Envoy's preset of 15 s counts for no route of the zone: all of them say how long. */
function ends({ timeout, retryPolicy }: RouteAction): boolean {
  return decodeDuration(timeout, 0) > 0 || decodeDuration(retryPolicy?.perTryTimeout, 0) > 0;
}
