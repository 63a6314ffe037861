import { getOrInsert } from '@causeway/resources';
import type { Frontend, BindingTable, FrontendGroup } from '@causeway/routing';
import { createContext, type Context } from './contexts';
import type { HierarchyPaths } from './hierarchy-paths';

/** A context and its number of paths. */
export interface CountedContext extends Context {
  readonly paths: number;
}

/** All contexts of a hierarchy, counted by the Mesh and Namespace above them. Follows the table of routes. */
export class HierarchyContexts {
  private readonly byFrontend = new Map<string, Map<FrontendGroup, CountedContext>>();
  private readonly byMesh = new Map<string, Map<string, Set<CountedContext>>>();
  private readonly totals = new Map<string, Map<string, number>>();

  constructor(
    readonly hierarchyPaths: HierarchyPaths,
    private readonly routes: BindingTable,
  ) {}

  /** Recounts one context; removes it if `frontend` has no such group. */
  refresh(key: string, frontend: Frontend | undefined, group: FrontendGroup): void {
    const isThere = frontend !== undefined && this.hierarchyPaths.listGroups(frontend, this.routes).includes(group);
    this.forget(key, group);
    if (isThere) this.keep(key, frontend, group);
  }

  /** Recounts all contexts of a frontend; returns the groups that it has or had. */
  refreshAll(key: string, frontend: Frontend | undefined): ReadonlySet<FrontendGroup> {
    const groups = new Set([...(this.byFrontend.get(key)?.keys() ?? [])]);
    for (const group of groups) this.forget(key, group);
    for (const group of frontend ? this.hierarchyPaths.listGroups(frontend, this.routes) : []) {
      groups.add(group);
      if (frontend) this.keep(key, frontend, group);
    }
    return groups;
  }

  at(key: string, group: FrontendGroup): CountedContext | undefined {
    return this.byFrontend.get(key)?.get(group);
  }

  /** Returns the contexts of a frontend. */
  of(key: string): Iterable<CountedContext> {
    return this.byFrontend.get(key)?.values() ?? [];
  }

  /** Yields the contexts below a Mesh, or below one Namespace of it. */
  *below(mesh: string, namespace?: string): Generator<CountedContext> {
    const places = this.byMesh.get(mesh);
    if (namespace !== undefined) yield* places?.get(namespace) ?? [];
    else for (const contexts of places?.values() ?? []) yield* contexts;
  }

  /** Returns the number of paths below each Namespace of a Mesh. */
  countsBelow(mesh: string): ReadonlyMap<string, number> {
    return this.totals.get(mesh) ?? NONE;
  }

  private keep(key: string, frontend: Frontend, group: FrontendGroup): void {
    const context = createContext(frontend, group);
    const counted = { ...context, paths: this.hierarchyPaths.count(context, this.routes) };
    const { mesh, namespace } = context;
    getOrInsert(this.byFrontend, key, () => new Map<FrontendGroup, CountedContext>()).set(group, counted);
    const places = getOrInsert(this.byMesh, mesh, () => new Map<string, Set<CountedContext>>());
    getOrInsert(places, namespace, () => new Set<CountedContext>()).add(counted);
    const totals = getOrInsert(this.totals, mesh, () => new Map<string, number>());
    totals.set(namespace, (totals.get(namespace) ?? 0) + counted.paths);
  }

  private forget(key: string, group: FrontendGroup): void {
    const groups = this.byFrontend.get(key);
    const known = groups?.get(group);
    if (!groups || !known) return;
    groups.delete(group);
    if (groups.size === 0) this.byFrontend.delete(key);
    const { mesh, namespace, paths } = known;
    const places = this.byMesh.get(mesh);
    const contexts = places?.get(namespace);
    contexts?.delete(known);
    const totals = this.totals.get(mesh);
    totals?.set(namespace, (totals.get(namespace) ?? 0) - paths);
    if (contexts?.size !== 0) return;
    places?.delete(namespace);
    totals?.delete(namespace);
    if (places?.size === 0) this.byMesh.delete(mesh);
    if (totals?.size === 0) this.totals.delete(mesh);
  }
}

const NONE: ReadonlyMap<string, number> = new Map();
