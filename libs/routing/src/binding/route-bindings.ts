import type { RouteKind } from '../model';
import type { CompiledRoute } from '../rules/compiled-route';
import { portKey, parentRefKey, type Binding } from './binding';
import { selectGroup, parentTarget, type Frontend } from './frontend';
import type { BindingTable } from './binding-table';

/** A port of a parent at which a route is bound, and its binding there. */
export interface BoundPort {
  readonly frontend: Frontend;
  readonly binding: Binding;
  /** Number of frontends that have the name in the route's parentRef. */
  readonly sameNamed: number;
}

/** Ports at which a route is bound, and ports at which another kind of route is bound instead. */
export interface RouteBindings {
  readonly bound: readonly BoundPort[];
  readonly lost: readonly { readonly port: number; readonly winner: RouteKind }[];
}

/** Lists each bound port once, in the order of the parentRefs and ports. Linear in parentRefs × frontends × ports. */
export function listRouteBindings(table: BindingTable, route: CompiledRoute): RouteBindings {
  const bound = new Map<string, BoundPort>();
  const lost: { port: number; winner: RouteKind }[] = [];
  const transport = route.kind === 'UDPRoute' ? 'udp' : 'tcp';
  (route.spec.parentRefs ?? []).forEach((ref, index) => {
    const target = parentTarget(route.id, ref);
    if (!target) return;
    const found = table.listFrontends(target.key);
    for (const frontend of found) {
      const { bindings, results } = table.group(frontend, selectGroup(route.id, target));
      const result = results.get(parentRefKey(route, index));
      lost.push(...(result?.lost ?? []));
      for (const port of result?.ports ?? []) {
        const binding = bindings.get(portKey(transport, port));
        if (binding) bound.set(`${frontend.key} ${port}`, { frontend, binding, sameNamed: found.length });
      }
    }
  });
  return { bound: [...bound.values()], lost };
}
