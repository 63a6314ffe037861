import { keysOfTable, type KeySource } from '@causeway/loops';
import type { FollowedRoutes } from '@causeway/meshes';
import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';
import { routeKinds, type RouteKind } from '@causeway/routing';
import type { ProxyScope, RequiredFeatures } from '../progress/apply-progress';
import type { ReportedResources } from '../progress/progress-reporter';
import type { ZoneDataplaneMode } from '../progress/dataplane-modes';

/** The kinds of routes that a proxy of each dataplane mode applies. */
const SUPPORTED_KINDS: Readonly<Record<ZoneDataplaneMode, readonly RouteKind[]>> = {
  grpc: ['HTTPRoute', 'GRPCRoute'],
  builtin: ['TCPRoute'],
  direct: [],
  envoy: ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'],
  egress: [],
};

const FEATURES: ReadonlyMap<string, RequiredFeatures> = new Map(routeKinds.map((kind) => [kind, featuresOfKind(kind)]));

/** Returns the features that a proxy needs for routes of a kind; undefined for other kinds. */
export function routeFeatures(kind: string): RequiredFeatures | undefined {
  return FEATURES.get(kind);
}

function featuresOfKind(kind: RouteKind): RequiredFeatures {
  return {
    key: kind,
    isSupported: (mode, isTcpPassthrough) => !isTcpPassthrough && SUPPORTED_KINDS[mode].includes(kind),
  };
}

/** Announces the routes whose binding may have changed. */
export function keysOfRoutes(routes: Pick<FollowedRoutes, 'hasLoaded' | 'subscribe'>): KeySource {
  return keysOfTable(routes, (change) => change.routes);
}

/** Returns the global's routes that a zone reports. */
export function reportedRoutes(routes: Pick<FollowedRoutes, 'hasLoaded' | 'subscribe'>): ReportedResources {
  return {
    kinds: routeKinds,
    changes: keysOfRoutes(routes),
    findRequirement: (route) => {
      const features = routeFeatures(route.id.kind);
      return features && { selection: selectCallers(route), features };
    },
  };
}

/** A route with parents in several namespaces applies to the proxies of all. */
function selectCallers({ id, spec }: Resource): ProxyScope {
  const { parentRefs } = spec;
  const refs = isJsonArray(parentRefs) ? parentRefs.filter(isJsonObject) : [];
  const isConsumers = refs.every(({ namespace }) => (namespace ?? id.namespace) !== id.namespace);
  return isConsumers ? { mesh: id.mesh, namespace: id.namespace } : { mesh: id.mesh };
}
