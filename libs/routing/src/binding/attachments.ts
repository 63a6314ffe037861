import type { FrontendGroup } from './frontend-group';
import { getOrInsert, type ResourceKey } from '@causeway/resources';
import type { RouteKind } from '../model';
import { looksIntoRequests, type CompiledRoute } from '../rules/compiled-route';
import type { RouteAttachment } from './binding';
import { backendTarget, selectGroup, parentTarget } from './frontend';

/** The routes that name one target as parent in one group, and their number by kind. */
export class AttachedGroup {
  private readonly byRoute = new Map<ResourceKey, RouteAttachment>();
  private readonly kinds = new Map<RouteKind, number>();
  private implicit = 0;

  get size(): number {
    return this.byRoute.size;
  }

  /**
   * Whether the status of a route here depends on the others: kinds compete, only the oldest route gets connections,
   * and an implicit route yields to others.
   */
  get competes(): boolean {
    if (this.implicit > 0) return this.size > 1;
    if (this.kinds.size > 1) return true;
    const [kind] = this.kinds.keys();
    return this.size > 1 && kind !== undefined && !looksIntoRequests(kind);
  }

  keys(): Iterable<ResourceKey> {
    return this.byRoute.keys();
  }

  values(): Iterable<RouteAttachment> {
    return this.byRoute.values();
  }

  put(at: RouteAttachment): void {
    this.remove(at.route.key);
    this.byRoute.set(at.route.key, at);
    if (at.route.implicit) this.implicit += 1;
    this.kinds.set(at.route.kind, (this.kinds.get(at.route.kind) ?? 0) + 1);
  }

  remove(key: ResourceKey): void {
    const route = this.byRoute.get(key)?.route;
    if (!route) return;
    const { kind } = route;
    if (route.implicit) this.implicit -= 1;
    this.byRoute.delete(key);
    const left = (this.kinds.get(kind) ?? 0) - 1;
    if (left > 0) this.kinds.set(kind, left);
    else this.kinds.delete(kind);
  }
}

/** The targets of a route: those that it names as parent in a group, and those that it names as backend. */
export interface RouteReferences {
  readonly parents: ReadonlyMap<
    string,
    { readonly target: string; readonly group: FrontendGroup; readonly at: RouteAttachment }
  >;
  readonly backends: ReadonlySet<string>;
}

/** Returns the references of a route. Linear in them. */
export function readLinks(route: CompiledRoute): RouteReferences {
  const parents = new Map<
    string,
    { target: string; group: FrontendGroup; at: { route: CompiledRoute; refs: Ref[] } }
  >();
  (route.spec.parentRefs ?? []).forEach((ref, index) => {
    const target = parentTarget(route.id, ref);
    if (!target) return;
    const { key } = target;
    const found = getOrInsert(parents, key, () => ({
      target: key,
      group: selectGroup(route.id, target),
      at: { route, refs: [] },
    }));
    found.at.refs.push({ index, ref });
  });
  const backends = new Set<string>();
  for (const { backendRefs = [], filters = [] } of route.spec.rules ?? []) {
    const lists = [filters, ...backendRefs.map((backend) => backend.filters ?? [])].flat();
    const mirrors = lists.flatMap(({ requestMirror }) => (requestMirror ? [requestMirror.backendRef] : []));
    for (const ref of [...backendRefs, ...mirrors]) {
      const target = backendTarget(route.id, ref);
      if (target) backends.add(target.key);
    }
  }
  return { parents, backends };
}

type Ref = RouteAttachment['refs'][number];
