import { comparePolicies, type Policy } from '../model/policy';
import type { PolicyDefinition } from '../model/definition';
import type { FoundTarget } from '../table/attachments';
import type { Carriers } from '../table/kind-policies';
import type { KindTable } from '../table/kind-table';
import type { Node } from '../table/nodes';

/** The policies on nodes if one policy were replaced by a new version, or removed. Nothing is stored. */
export class ChangedCarriers implements Carriers {
  readonly definition: PolicyDefinition;
  /** Current nodes of the policy. */
  readonly before: readonly Node[];
  /** Nodes after the change. */
  readonly after: readonly Node[];
  private readonly keys: ReadonlySet<string>;

  constructor(
    private readonly kind: KindTable,
    private readonly key: string,
    private readonly candidate: Policy | undefined,
  ) {
    const { attachments } = kind.policies;
    this.definition = kind.definition;
    this.before = attachments.listNodes(key);
    this.after = candidate ? nodesFound(attachments.resolve(candidate).targets) : [];
    this.keys = new Set(this.after.map((node) => node.key));
  }

  at(nodeKey: string): readonly Policy[] {
    const others = this.kind.policies.attachments.at(nodeKey).filter(({ key }) => key !== this.key);
    if (!this.candidate || !this.keys.has(nodeKey)) return others;
    return [...others, this.candidate].sort(comparePolicies);
  }

  has(nodeKey: string): boolean {
    return this.keys.has(nodeKey) || this.kind.policies.attachments.has(nodeKey);
  }
}

function nodesFound(targets: readonly FoundTarget[]): Node[] {
  const nodes = new Map<string, Node>();
  for (const { found } of targets) {
    for (const list of found.values()) for (const node of list) nodes.set(node.key, node);
  }
  return [...nodes.values()];
}
