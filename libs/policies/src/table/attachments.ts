import { getOrInsert, deleteFrom } from '@causeway/resources';
import type { PolicyDefinition } from '../model/definition';
import { comparePolicies, type Policy, type TargetRef } from '../model/policy';
import type { Node } from './nodes';
import type { KnownObject } from './objects';
import { isGranted, resolveNodes, unstoredNodes, watchedPlace, type TargetIndex } from './target-index';

/** Nodes that one target reference found, by the keys of objects; `''` for nodes without an object. */
export interface FoundTarget {
  readonly ref: TargetRef;
  /** Whether the other namespace permits the reference. */
  permitted: boolean;
  readonly found: Map<string, readonly Node[]>;
}

/** A policy and the nodes that it is attached to. */
export interface AttachedPolicy {
  readonly policy: Policy;
  readonly targets: readonly FoundTarget[];
}

/** Policies on one node, by rank. */
interface Carrier {
  readonly node: Node;
  readonly policies: Policy[];
}

/** Called for each node whose policies have changed. */
export type ChangedNodeListener = (node: Node, policy: Policy) => void;

/** The policies of one kind and their attachments. References are live: objects that appear later are found (T004-07). */
export class Attachments {
  private readonly byKey = new Map<string, AttachedPolicy>();
  private readonly carriers = new Map<string, Carrier>();
  private below = 0;
  /** The policies that reference a target: by place and name, or by place alone for selectors. */
  private readonly byName = new Map<string, Set<string>>();
  private readonly bySelector = new Map<string, Set<string>>();
  /** The policies that need a grant of a namespace, by mesh and namespace. */
  private readonly crossing = new Map<string, Set<string>>();

  constructor(
    readonly definition: PolicyDefinition,
    private readonly targetIndex: TargetIndex,
  ) {}

  /** Whether a policy is attached to a node below a Namespace. */
  get standBelow(): boolean {
    return this.below > 0;
  }

  get size(): number {
    return this.byKey.size;
  }

  get(key: string): AttachedPolicy | undefined {
    return this.byKey.get(key);
  }

  all(): Iterable<AttachedPolicy> {
    return this.byKey.values();
  }

  /** Returns the policies on a node, the older first. */
  at(nodeKey: string): readonly Policy[] {
    return this.carriers.get(nodeKey)?.policies ?? NONE;
  }

  /** Yields all nodes with policies. */
  *nodes(): Generator<Node> {
    for (const { node } of this.carriers.values()) yield node;
  }

  has(nodeKey: string): boolean {
    return this.carriers.has(nodeKey);
  }

  /** Returns the nodes of a policy, each once. */
  listNodes(key: string): Node[] {
    const nodes = new Map<string, Node>();
    for (const { found } of this.byKey.get(key)?.targets ?? []) {
      for (const list of found.values()) for (const node of list) nodes.set(node.key, node);
    }
    return [...nodes.values()];
  }

  /** Returns the attachments that a policy would have; nothing is stored. Linear in the candidates of its selectors. */
  resolve(policy: Policy): AttachedPolicy {
    const targets = policy.targetRefs.map((ref): FoundTarget => {
      const target = { ref, permitted: true, found: new Map<string, readonly Node[]>() };
      this.find(target, policy);
      return target;
    });
    return { policy, targets };
  }

  /** Stores a policy, replacing its older version. */
  put(policy: Policy, touch: ChangedNodeListener): void {
    this.remove(policy.key, touch);
    const attached = this.resolve(policy);
    this.byKey.set(policy.key, attached);
    for (const { ref } of attached.targets) {
      const watched = watchedPlace(ref, policy);
      if (watched) getOrInsert(this.watchers(watched), watchKey(watched), () => new Set<string>()).add(policy.key);
      if (this.needsGrant(ref, policy)) {
        getOrInsert(this.crossing, `${policy.id.mesh}/${ref.namespace}`, () => new Set<string>()).add(policy.key);
      }
    }
    for (const node of this.listNodes(policy.key)) this.attach(node, policy, touch);
  }

  remove(key: string, touch: ChangedNodeListener): void {
    const attached = this.byKey.get(key);
    if (!attached) return;
    const { policy, targets } = attached;
    for (const node of this.listNodes(key)) this.detach(node, policy, touch);
    for (const { ref } of targets) {
      const watched = watchedPlace(ref, policy);
      if (watched) deleteFrom(this.watchers(watched), watchKey(watched), key);
      deleteFrom(this.crossing, `${policy.id.mesh}/${ref.namespace}`, key);
    }
    this.byKey.delete(key);
  }

  /** Re-evaluates an object, in its current and former state. Linear in the policies that name or select it. */
  updateObject(object: KnownObject, touch: ChangedNodeListener): void {
    const { place, name } = object;
    for (const watchers of [this.byName.get(watchKey({ place, name })), this.bySelector.get(place)]) {
      for (const key of watchers ?? []) {
        const attached = this.byKey.get(key);
        if (attached) this.change(attached, touch, (target) => this.findObject(target, attached.policy, object));
      }
    }
  }

  /** Re-evaluates the references that need a grant of a namespace. */
  updateGranted(mesh: string, namespace: string, touch: ChangedNodeListener): void {
    for (const key of this.crossing.get(`${mesh}/${namespace}`) ?? []) {
      const attached = this.byKey.get(key);
      if (attached) this.change(attached, touch, (target) => this.find(target, attached.policy));
    }
  }

  /** Runs `work` for each target, and moves the policy to its new nodes. */
  private change(
    { policy, targets }: AttachedPolicy,
    touch: ChangedNodeListener,
    work: (target: FoundTarget) => void,
  ): void {
    const before = new Map(this.listNodes(policy.key).map((node) => [node.key, node]));
    targets.forEach(work);
    const after = new Map(this.listNodes(policy.key).map((node) => [node.key, node]));
    for (const [key, node] of before) if (!after.has(key)) this.detach(node, policy, touch);
    for (const [key, node] of after) if (!before.has(key)) this.attach(node, policy, touch);
  }

  private find(target: FoundTarget, policy: Policy): void {
    const { ref, found } = target;
    found.clear();
    target.permitted = !this.needsGrant(ref, policy) || isGranted(this.definition, ref, policy, this.targetIndex);
    if (!target.permitted) return;
    const unstored = unstoredNodes(ref, policy, this.targetIndex);
    if (unstored.length > 0) found.set('', unstored);
    const watched = watchedPlace(ref, policy);
    if (!watched) return;
    for (const object of this.targetIndex.objects.in(watched.place, watched.name))
      this.findObject(target, policy, object);
  }

  /** As `change`, for one object that may be new, deleted or changed. */
  private findObject(target: FoundTarget, policy: Policy, object: KnownObject): void {
    const { ref, found, permitted } = target;
    if (!permitted) return;
    if (ref.level === 'Mesh' || ref.level === 'Namespace') {
      const nodes = unstoredNodes(ref, policy, this.targetIndex);
      if (nodes.length > 0) found.set('', nodes);
      else found.delete('');
      return;
    }
    const watched = watchedPlace(ref, policy);
    const isIncluded = watched?.place === object.place && (watched.name === undefined || watched.name === object.name);
    const now = this.targetIndex.objects.get(object.key);
    const isThere = now?.place === object.place && now.name === object.name;
    if (!isIncluded) return;
    const nodes = isThere ? resolveNodes(ref, now, this.targetIndex) : NONE;
    if (nodes.length > 0) found.set(object.key, nodes);
    else found.delete(object.key);
  }

  private needsGrant(ref: TargetRef, policy: Policy): boolean {
    return this.definition.crossNamespace === 'ReferenceGrant' && isForeign(ref, policy);
  }

  private watchers({ name }: { readonly name?: string }): Map<string, Set<string>> {
    return name === undefined ? this.bySelector : this.byName;
  }

  private attach(node: Node, policy: Policy, touch: ChangedNodeListener): void {
    const { policies } = getOrInsert(this.carriers, node.key, (): Carrier => ({ node, policies: [] }));
    if (policies.length === 0 && isBelow(node)) this.below += 1;
    const at = policies.findIndex((other) => comparePolicies(policy, other) < 0);
    policies.splice(at < 0 ? policies.length : at, 0, policy);
    touch(node, policy);
  }

  private detach(node: Node, policy: Policy, touch: ChangedNodeListener): void {
    const carrier = this.carriers.get(node.key);
    const at = carrier?.policies.findIndex(({ key }) => key === policy.key) ?? -1;
    if (!carrier || at < 0) return;
    carrier.policies.splice(at, 1);
    if (carrier.policies.length === 0) {
      this.carriers.delete(node.key);
      if (isBelow(node)) this.below -= 1;
    }
    touch(node, policy);
  }
}

const NONE: readonly never[] = [];

/** Returns whether a node is below the Namespace on its paths. */
export const isBelow = ({ level }: Node): boolean => level !== 'Mesh' && level !== 'Namespace' && level !== 'Virtual';

const watchKey = ({ place, name }: { readonly place: string; readonly name?: string }): string =>
  name === undefined ? place : `${place} ${name}`;

/** Returns whether a reference crosses namespaces. */
const isForeign = ({ level, namespace }: TargetRef, { id }: Policy): boolean =>
  level !== 'Mesh' && level !== 'Namespace' && namespace !== id.namespace;
