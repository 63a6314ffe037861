import { type ResourceKey, identityKey } from '@causeway/resources';
import { listRouteBindings, PRODUCER, type Frontend, consumerOfGroup, type FrontendGroup } from '@causeway/routing';

import type { KindPolicies } from './kind-policies';
import type { KindScopes } from './kind-scopes';
import type { Node } from './nodes';

/** A frontend's key, the frontend where there is one, and a group. */
export type ContextAt = readonly [key: ResourceKey, frontend: Frontend | undefined, group: FrontendGroup];

/**
 * Yields the contexts that have a node, or had it before the last change of policies; some may not have it. None for
 * Meshes, Namespaces and virtual nodes. Linear in the places at which a route is bound, or the groups of a frontend.
 */
export function* listContexts(node: Node, kind: KindPolicies, scopes: KindScopes): Generator<ContextAt> {
  const { level, id } = node;
  const { routes } = kind.targetIndex;
  if (!id || level === 'Virtual') return;
  switch (level) {
    case 'Mesh':
    case 'Namespace':
      return;
    case 'Route':
    case 'Rule': {
      const route = routes.route(identityKey(id));
      if (route) yield* contextsOfRoute(kind, scopes, route);
      return;
    }
    default: {
      const frontend = kind.targetIndex.frontend(id);
      const key = identityKey(id);
      for (const group of scopes.groupsAt(key, frontend)) yield [key, frontend, group];
      const isBackend = level === 'Backend' || level === 'BackendPort';
      if (!isBackend || kind.hierarchyPaths.side !== 'route' || !frontend) return;
      for (const route of routes.listSenders(frontend)) yield* contextsOfRoute(kind, scopes, route);
    }
  }
}

function* contextsOfRoute(
  { targetIndex: { routes }, definition }: KindPolicies,
  scopes: KindScopes,
  route: Parameters<typeof listRouteBindings>[1],
): Generator<ContextAt> {
  for (const { frontend, binding } of listRouteBindings(routes, route).bound) {
    yield [frontend.key, frontend, binding.group];
    if (binding.group !== PRODUCER || definition.crossNamespace !== 'ClientSide') continue;
    // Consumers whose context only a policy created use the producer's routes.
    for (const group of scopes.groupsAt(frontend.key, frontend)) {
      if (consumerOfGroup(group) !== undefined) yield [frontend.key, frontend, group];
    }
  }
}
