import {
  ChangeCollector,
  getOrInsert,
  type Identity,
  identityKey,
  type Labels,
  type ResourceKey,
  parseIdentityKey,
} from '@causeway/resources';
import type { ChangeSet, Frontend, BindingTable, Service, FrontendGroup } from '@causeway/routing';
import type { PolicyDefinition } from '../model/definition';
import type { StoredPolicy } from '../model/policy';
import { readPolicy } from '../model/read-policy';
import {
  listConsumers,
  effectiveOfBackend,
  effectiveOfRule,
  type BackendAt,
  type Effective,
  type PolicyFilter,
  type RuleAt,
} from './effective';
import { KindTable } from './kind-table';
import { NO_POLICY_CHANGES, PolicyChangeSetBuilder, type PolicyChangeSet } from './policy-change-set';
import type { KnownObject, TargetObject } from './objects';
import { HierarchyPaths } from './hierarchy-paths';
import { HierarchyContexts } from './hierarchy-contexts';
import { TargetIndex } from './target-index';

/**
 * All policies of a control plane over the routes of `routes`: their attachments, the policies on each path, and the
 * effective specs. Incremental; the state depends only on the current resources and routes, never on their order of
 * arrival. Callers report each change of the routes (`routesChanged`) and of objects that policies can target
 * (`putObject`).
 */
export class PolicyTable {
  readonly targetIndex: TargetIndex;
  private readonly stored = new Map<string, Map<string, StoredPolicy>>();
  private readonly kinds = new Map<string, KindTable>();
  /** The contexts of a hierarchy: kinds with the same levels have the same paths. */
  private readonly hierarchies = new Map<string, HierarchyContexts>();
  private readonly changes = new ChangeCollector(() => new PolicyChangeSetBuilder(), NO_POLICY_CHANGES);

  constructor(routes: BindingTable) {
    this.targetIndex = new TargetIndex(routes);
  }

  /** The defined kinds, unordered. */
  get definitions(): Iterable<PolicyDefinition> {
    return [...this.kinds.values()].map(({ definition }) => definition);
  }

  /** Returns the policies of a defined kind; undefined for others. */
  kind(name: string): KindTable | undefined {
    return this.kinds.get(name);
  }

  /** Returns all defined kinds. */
  all(): Iterable<KindTable> {
    return this.kinds.values();
  }

  /** See `effectiveOfRule`. */
  effectiveOfRule(kind: string, at: RuleAt, isIncluded?: PolicyFilter): Effective | undefined {
    return effectiveOfRule(this, kind, at, isIncluded);
  }

  /** See `effectiveOfBackend`. */
  effectiveOfBackend(kind: string, at: BackendAt, isIncluded?: PolicyFilter): Effective | undefined {
    return effectiveOfBackend(this, kind, at, isIncluded);
  }

  /** See `listConsumers`. */
  listConsumers(frontend: Identity): readonly string[] {
    return listConsumers(this, frontend);
  }

  /** Applies several changes as one. Nothing may be read before it returns. */
  batch(changes: () => void): PolicyChangeSet {
    return this.change(changes);
  }

  /** Applies changes without reporting them. With `derive` it fills a new table, which counts one frontend per step. */
  fill(changes: () => void): void {
    this.filling = true;
    try {
      this.change(changes);
    } finally {
      this.filling = false;
    }
  }
  private filling = false;

  /** Counts everything that `fill` added, one frontend or policy per step. Changes between two steps are applied as usual. */
  *derive(): Generator<undefined> {
    for (const contexts of this.hierarchies.values()) {
      for (const frontend of this.targetIndex.frontends()) {
        contexts.refreshAll(frontend.key, this.targetIndex.frontend(frontend.id));
        yield;
      }
    }
    for (const kind of this.kinds.values()) yield* kind.derive();
  }

  /**
   * Defines or redefines a kind: its policies are read again. Linear in the policies; the first kind with its levels costs all frontends.
   */
  setDefinition(definition: PolicyDefinition): PolicyChangeSet {
    return this.change((changeSet) => {
      this.kinds.get(definition.kind)?.clear(changeSet);
      const hierarchyPaths = new HierarchyPaths(definition.levels);
      const contexts = getOrInsert(this.hierarchies, hierarchyPaths.key, () => {
        const made = new HierarchyContexts(hierarchyPaths, this.targetIndex.routes);
        if (!this.filling) for (const frontend of this.targetIndex.frontends()) made.refreshAll(frontend.key, frontend);
        return made;
      });
      const kind = new KindTable(definition, this.targetIndex, contexts);
      this.kinds.set(definition.kind, kind);
      for (const policy of this.stored.get(definition.kind)?.values() ?? []) {
        kind.put(readPolicy(definition, policy), changeSet, this.filling);
      }
      this.dropUnusedHierarchies();
    });
  }

  /** Returns whether a definition needs paths that no kind has yet: `setDefinition` then costs all frontends. */
  isNewHierarchy(definition: PolicyDefinition): boolean {
    return !this.hierarchies.has(new HierarchyPaths(definition.levels).key);
  }

  removeDefinition(kind: string): PolicyChangeSet {
    return this.change((changeSet) => {
      this.kinds.get(kind)?.clear(changeSet);
      this.kinds.delete(kind);
      this.dropUnusedHierarchies();
    });
  }

  /** Removes all policies of a kind, whether it is defined or not. */
  removePolicies(kind: string): PolicyChangeSet {
    this.stored.delete(kind);
    return this.change((changeSet) => this.kinds.get(kind)?.clear(changeSet));
  }

  /** Stores a policy, replacing its older version. A policy of an undefined kind waits for the definition. */
  putPolicy(stored: StoredPolicy): PolicyChangeSet {
    const { id } = stored;
    getOrInsert(this.stored, id.kind, () => new Map<string, StoredPolicy>()).set(identityKey(id), stored);
    return this.change((changeSet) => {
      const kind = this.kinds.get(id.kind);
      kind?.put(readPolicy(kind.definition, stored), changeSet, this.filling);
    });
  }

  removePolicy(id: Identity): PolicyChangeSet {
    const key = identityKey(id);
    const stored = this.stored.get(id.kind);
    stored?.delete(key);
    if (stored?.size === 0) this.stored.delete(id.kind);
    return this.change((changeSet) => this.kinds.get(id.kind)?.remove(key, changeSet));
  }

  /** Stores an object that policies can target: a service, Gateway or route that the table of routes also has, a Namespace, a Mesh. */
  putObject(object: TargetObject): PolicyChangeSet {
    const before = this.targetIndex.objects.put(object);
    return this.reevaluate(object.id, before);
  }

  removeObject(id: Identity): PolicyChangeSet {
    return this.reevaluate(id, this.targetIndex.objects.remove(id));
  }

  /** Stores or removes an external service, which the table of routes does not have. Call `putObject` for it too. */
  setExternal(id: Identity, service: Service | undefined): PolicyChangeSet {
    this.targetIndex.setExternal(id, service);
    return this.routesChanged({ groups: [], routes: [], frontends: [identityKey(id)] });
  }

  /** Sets the labels of a Namespace; undefined if it was deleted. */
  setNamespace(name: string, labels: Labels | undefined): PolicyChangeSet {
    const id = { kind: 'Namespace', mesh: '', zone: '', namespace: '', name };
    return labels ? this.putObject({ id, labels }) : this.removeObject(id);
  }

  /** Handles changed grants of a namespace in the table of routes. */
  grantsChanged(mesh: string, namespace: string): PolicyChangeSet {
    return this.change((changeSet) => {
      for (const kind of this.kinds.values()) kind.updateGranted(mesh, namespace, changeSet, this.filling);
    });
  }

  /** Applies a change set of the routes. Linear in its size. */
  routesChanged({ groups, routes, frontends }: ChangeSet): PolicyChangeSet {
    return this.change((changeSet) => {
      // While the table is filled nothing is counted: `derive` does that later, from the state then.
      const whole = new Set(frontends);
      const parts = new Map<ResourceKey, Set<FrontendGroup>>();
      for (const { frontend, group } of groups) {
        if (!whole.has(frontend)) getOrInsert(parts, frontend, () => new Set<FrontendGroup>()).add(group);
      }
      for (const contexts of this.filling ? [] : this.hierarchies.values()) {
        for (const key of whole) {
          const frontend = this.frontendAt(key);
          this.refresh(contexts, { key, frontend, groups: contexts.refreshAll(key, frontend) }, changeSet);
        }
        // Paths that end at a service do not depend on groups of routes.
        if (contexts.hierarchyPaths.side !== 'route') continue;
        for (const [key, of] of parts) {
          const frontend = this.frontendAt(key);
          for (const group of of) contexts.refresh(key, frontend, group);
          this.refresh(contexts, { key, frontend, groups: of }, changeSet);
        }
      }
      for (const key of [...whole, ...routes]) this.reevaluateAt(this.targetIndex.objects.get(key), changeSet);
    });
  }

  private refresh(
    contexts: HierarchyContexts,
    { key, frontend, groups }: Changed,
    changeSet: PolicyChangeSetBuilder,
  ): void {
    for (const kind of this.kinds.values()) {
      if (kind.contexts === contexts) kind.contextsChanged(key, frontend, groups, changeSet);
    }
  }

  private reevaluate(id: Identity, before: KnownObject | undefined): PolicyChangeSet {
    return this.change((changeSet) => {
      this.reevaluateAt(before, changeSet);
      this.reevaluateAt(this.targetIndex.objects.get(identityKey(id)), changeSet);
      for (const kind of this.kinds.values()) kind.placesChanged(id.mesh, changeSet);
    });
  }

  private reevaluateAt(object: KnownObject | undefined, changeSet: PolicyChangeSetBuilder): void {
    if (object) for (const kind of this.kinds.values()) kind.updateObject(object, changeSet, this.filling);
  }

  private frontendAt(key: ResourceKey): Frontend | undefined {
    return this.targetIndex.frontend(parseIdentityKey(key));
  }

  private dropUnusedHierarchies(): void {
    const used = new Set([...this.kinds.values()].map(({ contexts }) => contexts));
    for (const [key, contexts] of this.hierarchies) if (!used.has(contexts)) this.hierarchies.delete(key);
  }

  private change(work: (changeSet: PolicyChangeSetBuilder) => void): PolicyChangeSet {
    return this.changes.collect(work, (changeSet) => (this.filling ? NO_POLICY_CHANGES : changeSet.build()));
  }
}

/** A frontend of which some groups changed; undefined if it was deleted. */
interface Changed {
  readonly key: ResourceKey;
  readonly frontend: Frontend | undefined;
  readonly groups: Iterable<FrontendGroup>;
}
