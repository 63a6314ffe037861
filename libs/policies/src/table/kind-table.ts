import type { ResourceKey } from '@causeway/resources';
import type { Frontend, FrontendGroup } from '@causeway/routing';
import type { PolicyDefinition } from '../model/definition';
import type { Policy } from '../model/policy';
import { isBelow, type ChangedNodeListener } from './attachments';
import { contextAt, createContext } from './contexts';
import { KindPolicies, upperPolicies } from './kind-policies';
import { KindScopes } from './kind-scopes';
import { PolicyChangeSetBuilder } from './policy-change-set';
import { listContexts } from './node-contexts';
import { meshOfNode, type Node } from './nodes';
import type { KnownObject } from './objects';
import type { HierarchyContexts } from './hierarchy-contexts';
import type { TargetIndex } from './target-index';

/** The policies of one kind, attached and counted. A change costs the contexts of the nodes that it changes. */
export class KindTable {
  readonly policies: KindPolicies;
  readonly scopes: KindScopes;

  constructor(
    readonly definition: PolicyDefinition,
    targetIndex: TargetIndex,
    readonly contexts: HierarchyContexts,
  ) {
    this.policies = new KindPolicies(definition, targetIndex);
    this.scopes = new KindScopes(this.policies, contexts);
  }

  put(policy: Policy, changeSet: PolicyChangeSetBuilder, filling: boolean): void {
    const { attachments } = this.policies;
    this.touching(changeSet, filling, (touch) => attachments.put(policy, touch));
    if (!filling) changeSet.policies.add(policy.key);
  }

  remove(key: ResourceKey, changeSet: PolicyChangeSetBuilder): void {
    this.touching(changeSet, false, (touch) => this.policies.attachments.remove(key, touch));
    changeSet.policies.delete(key);
  }

  /** Re-evaluates an object that was created, deleted or changed. */
  updateObject(object: KnownObject, changeSet: PolicyChangeSetBuilder, filling: boolean): void {
    this.touching(changeSet, filling, (touch) => this.policies.attachments.updateObject(object, touch));
  }

  updateGranted(mesh: string, namespace: string, changeSet: PolicyChangeSetBuilder, filling: boolean): void {
    this.touching(changeSet, filling, (touch) => this.policies.attachments.updateGranted(mesh, namespace, touch));
  }

  /** Handles namespaces that appeared or disappeared in a mesh: kinds whose paths end at Namespaces get other paths. */
  placesChanged(mesh: string, changeSet: PolicyChangeSetBuilder): void {
    if (this.policies.hierarchyPaths.side === 'place') this.markMesh(mesh, changeSet);
  }

  /** Handles changed contexts of a frontend; the policies stay attached to the same nodes. */
  contextsChanged(
    key: ResourceKey,
    frontend: Frontend | undefined,
    groups: Iterable<FrontendGroup>,
    changeSet: PolicyChangeSetBuilder,
  ): void {
    if (this.policies.attachments.size === 0) return;
    const all = new Set([...groups, ...this.scopes.borrowing(key, frontend)]);
    // Without policies nothing can differ.
    const reported = this.policies.attachments.size > 0 ? changeSet : new PolicyChangeSetBuilder();
    for (const group of all) this.refresh(key, frontend, group, reported);
  }

  /** Removes all policies. */
  clear(changeSet: PolicyChangeSetBuilder): void {
    for (const { policy } of [...this.policies.attachments.all()]) this.remove(policy.key, changeSet);
  }

  /** Recounts everything, one node per step. */
  *derive(): Generator<undefined> {
    for (const node of [...this.policies.attachments.nodes()]) {
      for (const [key, frontend, group] of listContexts(node, this.policies, this.scopes)) {
        this.scopes.refresh(key, frontend, group, new Set());
      }
      yield;
    }
  }

  /** Runs `work`, then updates all contexts of the changed nodes, in the former and the new state. */
  private touching(
    changeSet: PolicyChangeSetBuilder,
    filling: boolean,
    work: (touch: ChangedNodeListener) => void,
  ): void {
    const changed = new Map<string, Node>();
    const contexts = new Map<string, readonly [ResourceKey, Frontend | undefined, FrontendGroup]>();
    work((node, policy) => {
      changed.set(node.key, node);
      changeSet.policies.add(policy.key);
    });
    if (filling) return;
    for (const node of changed.values()) {
      if (isBelow(node)) {
        for (const at of listContexts(node, this.policies, this.scopes)) contexts.set(`${at[0]} ${at[2]}`, at);
      } else this.markAbove(node, changeSet);
    }
    for (const [key, frontend, group] of contexts.values()) this.refresh(key, frontend, group, changeSet);
  }

  private refresh(
    key: ResourceKey,
    frontend: Frontend | undefined,
    group: FrontendGroup,
    changeSet: PolicyChangeSetBuilder,
  ): void {
    this.scopes.refresh(key, frontend, group, changeSet.policies);
    const context = frontend ? createContext(frontend, group) : contextAt(key, group);
    for (const policy of upperPolicies(this.policies.attachments, context)) changeSet.policies.add(policy.key);
    this.markContext(key, group, context.consumer, changeSet);
  }

  private markContext(
    key: ResourceKey,
    group: FrontendGroup,
    consumer: string | undefined,
    changeSet: PolicyChangeSetBuilder,
  ): void {
    const { kind } = this.definition;
    if (this.policies.hierarchyPaths.side === 'backend') changeSet.addBackend(kind, key, consumer);
    else changeSet.addRule(kind, key, group);
  }

  /** Marks everything below a Mesh by its name alone; else everything below a Namespace or a virtual node. */
  private markAbove({ level, key, namespace }: Node, changeSet: PolicyChangeSetBuilder): void {
    const { attachments } = this.policies;
    if (level === 'Virtual') {
      for (const policy of attachments.at(key)) changeSet.policies.add(policy.key);
      return;
    }
    const mesh = meshOfNode({ key });
    if (level === 'Mesh') changeSet.addMesh(this.definition.kind, mesh);
    else {
      for (const contexts of [this.contexts.below(mesh, namespace), this.scopes.madeByPolicies(mesh, namespace)]) {
        for (const { frontend, group, consumer } of contexts)
          this.markContext(frontend.key, group, consumer, changeSet);
      }
    }
    this.markMesh(mesh, changeSet);
  }

  private markMesh(mesh: string, changeSet: PolicyChangeSetBuilder): void {
    for (const { policy } of this.policies.attachments.all())
      if (policy.id.mesh === mesh) changeSet.policies.add(policy.key);
  }
}
