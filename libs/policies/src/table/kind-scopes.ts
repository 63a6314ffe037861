import { getOrInsert, deleteFrom, type ResourceKey } from '@causeway/resources';
import { type Frontend, consumerGroup, consumerOfGroup, type FrontendGroup } from '@causeway/routing';
import type { Policy } from '../model/policy';
import { createContext, type Context } from './contexts';
import { lowerPolicies, type KindPolicies } from './kind-policies';
import type { HierarchyContexts } from './hierarchy-contexts';

/** Paths of one Mesh and Namespace with the same policies on their lower nodes. */
export interface ScopeGroup {
  readonly mesh: string;
  readonly namespace: string;
  /** Keys of the policies below the Namespace, the least specific first. */
  readonly lower: readonly ResourceKey[];
  readonly key: string;
  paths: number;
}

/** A context with policies below the Namespace, and its contribution to the groups. */
interface Special {
  readonly context: Context;
  /** Number of the hierarchy's paths that it replaces. */
  readonly covered: number;
  readonly groups: ReadonlyMap<ScopeGroup, number>;
}

interface ScopeMembership {
  readonly groups: Set<ScopeGroup>;
  /** Number of paths of the hierarchy that special contexts replace. */
  covered: number;
}

/**
 * The paths of a kind, counted by the policies on them. Only contexts with a policy below the Namespace are stored; for
 * all others the hierarchy has the number of paths, and the same policies apply on all of them.
 */
export class KindScopes {
  private readonly special = new Map<ResourceKey, Map<FrontendGroup, Special>>();
  private readonly groups = new Map<string, ScopeGroup>();
  private readonly byPolicy = new Map<string, Set<ScopeGroup>>();
  private readonly places = new Map<string, Map<string, ScopeMembership>>();

  constructor(
    private readonly kind: KindPolicies,
    private readonly contexts: HierarchyContexts,
  ) {}

  /** Returns the groups that contain a policy below the Namespace. */
  listGroups(policy: string): Iterable<ScopeGroup> {
    return this.byPolicy.get(policy) ?? [];
  }

  /** Returns the groups below a Namespace. */
  below(mesh: string, namespace: string): Iterable<ScopeGroup> {
    return this.places.get(mesh)?.get(namespace)?.groups ?? [];
  }

  /** Returns the namespaces of a mesh with a policy below them. */
  listNamespaces(mesh: string): Iterable<string> {
    return this.places.get(mesh)?.keys() ?? [];
  }

  /** Returns how many paths below a Namespace have no policy below it. */
  plain(mesh: string, namespace: string): number {
    const all = this.contexts.countsBelow(mesh).get(namespace) ?? 0;
    return all - (this.places.get(mesh)?.get(namespace)?.covered ?? 0);
  }

  /** Returns the current and former groups of a frontend for this kind: those of the hierarchy and those that policies create. */
  groupsAt(key: ResourceKey, frontend: Frontend | undefined): ReadonlySet<FrontendGroup> {
    const found = new Set<FrontendGroup>(this.special.get(key)?.keys() ?? []);
    if (!frontend) return found;
    for (const group of this.kind.hierarchyPaths.listGroups(frontend, this.kind.targetIndex.routes)) found.add(group);
    for (const namespace of this.kind.listConsumers(frontend)) found.add(consumerGroup(namespace));
    return found;
  }

  /** Returns the current and former groups of a frontend that use the producer's routes because only a policy created them. */
  borrowing(key: ResourceKey, frontend: Frontend | undefined): readonly FrontendGroup[] {
    const { definition, attachments } = this.kind;
    if (definition.crossNamespace !== 'ClientSide') return [];
    const before = [...(this.special.get(key)?.keys() ?? [])].filter((group) => consumerOfGroup(group) !== undefined);
    const now = frontend && attachments.standBelow ? this.kind.listConsumers(frontend) : [];
    return [...before, ...now.map(consumerGroup)];
  }

  /** Yields the contexts that only policies create, below a Mesh or a Namespace of it. Linear in the contexts with policies. */
  *madeByPolicies(mesh: string, namespace?: string): Generator<Context> {
    if (this.kind.definition.crossNamespace !== 'ClientSide') return;
    for (const [key, groups] of this.special) {
      for (const [group, { context }] of groups) {
        const isIncluded = context.mesh === mesh && (namespace === undefined || context.namespace === namespace);
        if (isIncluded && !this.contexts.at(key, group)) yield context;
      }
    }
  }

  /** Yields the contexts of the scopes of some groups. Linear in the contexts with policies. */
  *listContexts(
    groups: ReadonlySet<ScopeGroup>,
  ): Generator<{ readonly context: Context; readonly in: readonly ScopeGroup[] }> {
    for (const all of this.special.values()) {
      for (const { context, groups: own } of all.values()) {
        const found = [...own.keys()].filter((group) => groups.has(group));
        if (found.length > 0) yield { context, in: found };
      }
    }
  }

  /** Recounts a context, or removes it if it no longer exists. Adds the policies whose counts may differ. Linear in its paths. */
  refresh(key: ResourceKey, frontend: Frontend | undefined, group: FrontendGroup, changed: Set<ResourceKey>): void {
    this.forget(key, group, changed);
    if (!frontend) return;
    const counted = this.contexts.at(key, group);
    const context = createContext(frontend, group);
    const { consumer, mesh, namespace } = context;
    const borrowed = consumer !== undefined && this.kind.listConsumers(frontend).includes(consumer);
    if (!counted && !borrowed) return;
    const { attachments, hierarchyPaths, targetIndex } = this.kind;
    if (!borrowed && !attachments.standBelow) return;
    const paths = hierarchyPaths.listPaths(context, targetIndex.routes, borrowed);
    const below = paths.map((path) => lowerPolicies(attachments, context, path));
    if (!borrowed && below.every(({ length }) => length === 0)) return;
    const groups = new Map<ScopeGroup, number>();
    for (const policies of below) {
      const into = this.getGroup(mesh, namespace, policies);
      into.paths += 1;
      groups.set(into, (groups.get(into) ?? 0) + 1);
      for (const policy of policies) changed.add(policy.key);
    }
    const covered = counted?.paths ?? 0;
    getOrInsert(this.special, key, () => new Map<FrontendGroup, Special>()).set(group, { context, covered, groups });
    this.place(mesh, namespace).covered += covered;
  }

  private forget(key: ResourceKey, group: FrontendGroup, changed: Set<ResourceKey>): void {
    const groups = this.special.get(key);
    const known = groups?.get(group);
    if (!groups || !known) return;
    groups.delete(group);
    if (groups.size === 0) this.special.delete(key);
    const { mesh, namespace } = known.context;
    for (const [into, paths] of known.groups) {
      for (const policy of into.lower) changed.add(policy);
      into.paths -= paths;
      if (into.paths === 0) this.drop(into);
    }
    const place = this.place(mesh, namespace);
    place.covered -= known.covered;
    this.tidy(mesh, namespace);
  }

  private getGroup(mesh: string, namespace: string, policies: readonly Policy[]): ScopeGroup {
    const lower = policies.map(({ key }) => key);
    const key = `${mesh}\n${namespace}\n${lower.join('\n')}`;
    return getOrInsert(this.groups, key, () => {
      const made = { mesh, namespace, lower, key, paths: 0 };
      for (const policy of lower) getOrInsert(this.byPolicy, policy, () => new Set<ScopeGroup>()).add(made);
      this.place(mesh, namespace).groups.add(made);
      return made;
    });
  }

  private drop(group: ScopeGroup): void {
    this.groups.delete(group.key);
    for (const policy of group.lower) deleteFrom(this.byPolicy, policy, group);
    this.places.get(group.mesh)?.get(group.namespace)?.groups.delete(group);
    this.tidy(group.mesh, group.namespace);
  }

  private place(mesh: string, namespace: string): ScopeMembership {
    const places = getOrInsert(this.places, mesh, () => new Map<string, ScopeMembership>());
    return getOrInsert(places, namespace, (): ScopeMembership => ({ groups: new Set(), covered: 0 }));
  }

  private tidy(mesh: string, namespace: string): void {
    const places = this.places.get(mesh);
    const place = places?.get(namespace);
    if (!places || !place || place.covered > 0 || place.groups.size > 0) return;
    places.delete(namespace);
    if (places.size === 0) this.places.delete(mesh);
  }
}
