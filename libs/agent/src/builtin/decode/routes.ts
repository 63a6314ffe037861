import { RouteConfiguration, type Route } from '@causeway/proto-gen';

/** Where the connections of an HTTP destination go in a plane that passes on bytes. */
export interface RoutePlan {
  /** The cluster of the route that takes every request; undefined where no route does. */
  readonly cluster: string | undefined;
  /** What of the routes a plane that passes on bytes cannot obey; undefined where nothing is lost. */
  readonly lost: string | undefined;
}

/** The routes of a resource. */
export function decodeRoutes(bytes: Uint8Array): RoutePlan {
  return routePlan(RouteConfiguration.decode(bytes));
}

/** Also of routes that stand in a connection manager. */
export function routePlan({ virtualHosts }: RouteConfiguration): RoutePlan {
  const routes = virtualHosts.flatMap((host) => host.routes);
  const [host] = virtualHosts;
  const forAll = virtualHosts.find(({ domains }) => domains.includes('*')) ?? host;
  const last = forAll?.routes.findLast(takesAll);
  const cluster = clusterOf(last);
  const isPlain = routes.length === 1 && virtualHosts.length === 1 && cluster !== undefined;
  const others = routes.length - (cluster === undefined ? 0 : 1);
  return {
    cluster,
    lost: isPlain ? undefined : `${others} routes are for requests: bytes go to ${cluster ?? 'nobody'}`,
  };
}

function takesAll({ match }: Route): boolean {
  const path = match?.pathSpecifier;
  const isAnyPath = path?.$case === 'prefix' && path.value === '/';
  return isAnyPath && match?.headers.length === 0 && match.queryParameters.length === 0 && !match.runtimeFraction;
}

function clusterOf(route: Route | undefined): string | undefined {
  const to = route?.action?.$case === 'route' ? route.action.value.clusterSpecifier : undefined;
  return to?.$case === 'cluster' ? to.value : undefined;
}
