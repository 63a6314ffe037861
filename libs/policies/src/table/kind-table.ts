import type { Frontend } from '@causeway/routing';
import type { PolicyDefinition } from '../model/definition';
import type { Policy } from '../model/policy';
import { isBelow, type Touch } from './attachments';
import { contextAt, createContext } from './contexts';
import { KindPolicies, upperPolicies } from './kind-policies';
import { KindScopes } from './kind-scopes';
import { PolicyMarks } from './marks';
import { listContexts } from './node-contexts';
import { meshOfNode, type Node } from './nodes';
import type { KnownObject } from './objects';
import type { ShapeContexts } from './shape-contexts';
import type { World } from './targets';

/** The policies of one kind, attached and counted. A change costs the contexts of the nodes that it touches. */
export class KindTable {
  readonly policies: KindPolicies;
  readonly scopes: KindScopes;

  constructor(
    readonly definition: PolicyDefinition,
    world: World,
    readonly contexts: ShapeContexts,
  ) {
    this.policies = new KindPolicies(definition, world);
    this.scopes = new KindScopes(this.policies, contexts);
  }

  put(policy: Policy, marks: PolicyMarks, filling: boolean): void {
    const { attachments } = this.policies;
    this.touching(marks, filling, (touch) => attachments.put(policy, touch));
    if (!filling) marks.policies.add(policy.key);
  }

  remove(key: string, marks: PolicyMarks): void {
    this.touching(marks, false, (touch) => this.policies.attachments.remove(key, touch));
    marks.policies.delete(key);
  }

  /** An object came, went or changed. */
  look(object: KnownObject, marks: PolicyMarks, filling: boolean): void {
    this.touching(marks, filling, (touch) => this.policies.attachments.look(object, touch));
  }

  lookAcross(mesh: string, namespace: string, marks: PolicyMarks, filling: boolean): void {
    this.touching(marks, filling, (touch) => this.policies.attachments.lookAcross(mesh, namespace, touch));
  }

  /** Something came or went in a mesh: kinds whose paths end at Namespaces have others. */
  placesChanged(mesh: string, marks: PolicyMarks): void {
    if (this.policies.shape.side === 'place') this.markMesh(mesh, marks);
  }

  /** Contexts of a frontend changed below the policies, which stand where they stood. */
  contextsChanged(key: string, frontend: Frontend | undefined, groups: Iterable<string>, marks: PolicyMarks): void {
    if (this.policies.attachments.size === 0) return;
    const all = new Set([...groups, ...this.scopes.borrowing(key, frontend)]);
    // Where there are no policies nothing differs.
    const told = this.policies.attachments.size > 0 ? marks : new PolicyMarks();
    for (const group of all) this.refresh(key, frontend, group, told);
  }

  /** Forgets all policies. */
  clear(marks: PolicyMarks): void {
    for (const { policy } of [...this.policies.attachments.all()]) this.remove(policy.key, marks);
  }

  /** Counts everything anew, one node a step. */
  *derive(): Generator<undefined> {
    for (const node of [...this.policies.attachments.nodes()]) {
      for (const [key, frontend, group] of listContexts(node, this.policies, this.scopes)) {
        this.scopes.refresh(key, frontend, group, new Set());
      }
      yield;
    }
  }

  /** Does `work`, then looks at all that has the nodes that it touched, before and after. */
  private touching(marks: PolicyMarks, filling: boolean, work: (touch: Touch) => void): void {
    const touched = new Map<string, Node>();
    const contexts = new Map<string, readonly [string, Frontend | undefined, string]>();
    work((node, policy) => {
      touched.set(node.key, node);
      marks.policies.add(policy.key);
    });
    if (filling) return;
    for (const node of touched.values()) {
      if (isBelow(node)) {
        for (const at of listContexts(node, this.policies, this.scopes)) contexts.set(`${at[0]} ${at[2]}`, at);
      } else this.markAbove(node, marks);
    }
    for (const [key, frontend, group] of contexts.values()) this.refresh(key, frontend, group, marks);
  }

  private refresh(key: string, frontend: Frontend | undefined, group: string, marks: PolicyMarks): void {
    this.scopes.refresh(key, frontend, group, marks.policies);
    const context = frontend ? createContext(frontend, group) : contextAt(key, group);
    for (const policy of upperPolicies(this.policies.attachments, context)) marks.policies.add(policy.key);
    this.markContext(key, group, context.consumer, marks);
  }

  private markContext(key: string, group: string, consumer: string | undefined, marks: PolicyMarks): void {
    const { kind } = this.definition;
    if (this.policies.shape.side === 'backend') marks.markBackend(kind, key, consumer);
    else marks.markRule(kind, key, group);
  }

  /** Everything below a Mesh, by its name alone; below a Namespace, or a virtual node. */
  private markAbove({ level, key, namespace }: Node, marks: PolicyMarks): void {
    const { attachments } = this.policies;
    if (level === 'Virtual') {
      for (const policy of attachments.at(key)) marks.policies.add(policy.key);
      return;
    }
    const mesh = meshOfNode({ key });
    if (level === 'Mesh') marks.markMesh(this.definition.kind, mesh);
    else {
      for (const contexts of [this.contexts.below(mesh, namespace), this.scopes.madeByPolicies(mesh, namespace)]) {
        for (const { frontend, group, consumer } of contexts) this.markContext(frontend.key, group, consumer, marks);
      }
    }
    this.markMesh(mesh, marks);
  }

  private markMesh(mesh: string, marks: PolicyMarks): void {
    for (const { policy } of this.policies.attachments.all())
      if (policy.id.mesh === mesh) marks.policies.add(policy.key);
  }
}
