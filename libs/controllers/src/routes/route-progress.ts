import type { FollowedRoutes } from '@causeway/meshes';
import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';
import { routeKinds, type RouteKind } from '@causeway/routing';
import type { ProxyPlane } from '../progress/planes';
import type { Concerned, Needs } from '../progress/progress';
import type { Reported } from '../progress/progress-reporter';

/** Which kinds of routes each plane obeys. */
const OBEYED: Readonly<Record<ProxyPlane, readonly RouteKind[]>> = {
  grpc: ['HTTPRoute', 'GRPCRoute'],
  builtin: ['TCPRoute'],
  direct: [],
  envoy: ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'],
  egress: [],
};

const NEEDS: ReadonlyMap<string, Needs> = new Map(routeKinds.map((kind) => [kind, needsOf(kind)]));

/** What a proxy must be able to do to obey routes of a kind; undefined for what is no route. */
export function routeNeeds(kind: string): Needs | undefined {
  return NEEDS.get(kind);
}

function needsOf(kind: RouteKind): Needs {
  return { key: kind, isAble: (plane, { bytesOnly }) => bytesOnly === undefined && OBEYED[plane].includes(kind) };
}

/** What a zone reports of the global's routes. */
export function reportedRoutes(routes: Pick<FollowedRoutes, 'hasLoaded' | 'subscribe'>): Reported {
  return {
    kinds: routeKinds,
    get hasLoaded() {
      return routes.hasLoaded;
    },
    subscribe: (listener) => routes.subscribe((change) => listener(change === 'reloaded' ? 'all' : change.routes)),
    asked: (route) => {
      const needs = routeNeeds(route.id.kind);
      return needs && { concerned: callersOf(route), needs };
    },
  };
}

/** To whose proxies a route matters: with parents in several namespaces, to all. */
function callersOf({ id, spec }: Resource): Concerned {
  const { parentRefs } = spec;
  const refs = isJsonArray(parentRefs) ? parentRefs.filter(isJsonObject) : [];
  const isConsumers = refs.every(({ namespace }) => (namespace ?? id.namespace) !== id.namespace);
  return isConsumers ? { mesh: id.mesh, namespace: id.namespace } : { mesh: id.mesh };
}
