import {
  effectiveLabel,
  getOrInsert,
  type Identity,
  identityKey,
  Label,
  type Labels,
  type LabelSelector,
  MultiMap,
  selectsLabels,
  type ResourceKey,
} from '@causeway/resources';
import { findSelector, type Member, type VirtualSource } from '../model';
import { compareRanks, areVisibleTogether } from './rank';

type NodeSource = Extract<VirtualSource, { kind: 'VirtualNode' }>;

/** Labels that selectors may name although they are never stored. */
const IMPLIED = [Label.namespace, Label.serviceName];
/** Key for selectors without any label pair. */
const ANY = '';

/**
 * Dataplanes and the nodes that select them, both ways and incrementally: a changed Dataplane checks the nodes that
 * name one of its labels, a node checks the Dataplanes that have its rarest label.
 */
export class Members {
  private readonly members = new Map<ResourceKey, { readonly member: Member; readonly labels: Labels }>();
  private readonly nodes = new Map<ResourceKey, { readonly node: NodeSource; readonly term: string }>();
  private readonly membersByTerm = new MultiMap<ResourceKey>();
  private readonly nodesByTerm = new MultiMap<ResourceKey>();
  /** Nodes by the Dataplane that they select, and the reverse. */
  private readonly nodesByMember = new Map<ResourceKey, Set<ResourceKey>>();
  private readonly membersByNode = new Map<ResourceKey, Set<ResourceKey>>();

  /** Adds or replaces a Dataplane; returns the keys of all nodes that select it now or did before. */
  putMember(member: Member): readonly ResourceKey[] {
    const key = identityKey(member.id);
    const before = this.removeMember(key);
    const labels = getMemberLabels(member);
    this.members.set(key, { member, labels });
    for (const term of listTerms(member.id, labels)) this.membersByTerm.add(term, key);
    const asked = listTerms(member.id, labels).flatMap((term) => [...this.nodesByTerm.get(term)]);
    for (const each of asked) this.join(each, key);
    return [...new Set([...before, ...(this.nodesByMember.get(key) ?? [])])];
  }

  removeMember(key: ResourceKey): readonly ResourceKey[] {
    const known = this.members.get(key);
    if (!known) return [];
    for (const term of listTerms(known.member.id, known.labels)) this.membersByTerm.delete(term, key);
    const nodes = [...(this.nodesByMember.get(key) ?? [])];
    for (const node of nodes) this.membersByNode.get(node)?.delete(key);
    this.nodesByMember.delete(key);
    this.members.delete(key);
    return nodes;
  }

  /** Adds or replaces a node; returns the keys of all Dataplanes that it selects now or did before; none if selection and rank are unchanged. */
  putNode(node: NodeSource): readonly ResourceKey[] {
    const key = identityKey(node.id);
    const known = this.nodes.get(key);
    if (known && selectsAsBefore(known.node, node)) {
      this.nodes.set(key, { ...known, node });
      return [];
    }
    const before = this.removeNode(key);
    const selector = findSelector(node.spec);
    if (!selector) return before;
    const term = this.findRarestTerm(node.id, selector);
    this.nodes.set(key, { node, term });
    this.nodesByTerm.add(term, key);
    for (const member of this.membersByTerm.get(term)) this.join(key, member);
    return [...new Set([...before, ...(this.membersByNode.get(key) ?? [])])];
  }

  removeNode(key: ResourceKey): readonly ResourceKey[] {
    const known = this.nodes.get(key);
    if (!known) return [];
    this.nodesByTerm.delete(known.term, key);
    const members = [...(this.membersByNode.get(key) ?? [])];
    for (const member of members) this.nodesByMember.get(member)?.delete(key);
    this.membersByNode.delete(key);
    this.nodes.delete(key);
    return members;
  }

  /** Returns the keys of the Dataplanes that a node selects. */
  selectedBy(node: ResourceKey): ReadonlySet<ResourceKey> {
    return this.membersByNode.get(node) ?? NONE;
  }

  /** Returns the keys of the nodes that select a Dataplane. */
  selecting(member: ResourceKey): ReadonlySet<ResourceKey> {
    return this.nodesByMember.get(member) ?? NONE;
  }

  /**
   * Returns the node to which a Dataplane belongs; undefined if none selects it (T003-32). If several do, it stays with
   * the node to which it was bound, else it joins the one that ranks first (T003-33).
   */
  findNode(member: ResourceKey): NodeSource | undefined {
    const known = this.members.get(member)?.member;
    const ranked = this.listRows(this.selecting(member)).sort(compareRanks);
    return ranked.find(({ id }) => `${id.namespace}/${id.name}` === known?.boundTo) ?? ranked[0];
  }

  /** Returns the nodes that select this version of a Dataplane, which need not be a member. */
  nodesSelecting(member: Member): readonly Identity[] {
    const labels = getMemberLabels(member);
    const asked = listTerms(member.id, labels).flatMap((term) => [...this.nodesByTerm.get(term)]);
    return this.listRows(asked).flatMap((node) => (selects(node, member.id, labels) ? [node.id] : []));
  }

  private listRows(keys: Iterable<ResourceKey>): NodeSource[] {
    return [...keys].flatMap((key) => this.nodes.get(key)?.node ?? []);
  }

  private join(nodeKey: ResourceKey, memberKey: ResourceKey): void {
    const [node, member] = [this.nodes.get(nodeKey), this.members.get(memberKey)];
    if (!node || !member || !selects(node.node, member.member.id, member.labels)) return;
    getOrInsert(this.nodesByMember, memberKey, () => new Set<ResourceKey>()).add(nodeKey);
    getOrInsert(this.membersByNode, nodeKey, () => new Set<ResourceKey>()).add(memberKey);
  }

  /** Returns the label pair with the fewest nodes, so that a change of a Dataplane checks few. */
  private findRarestTerm(id: Identity, { matchLabels = {} }: LabelSelector): string {
    const terms = Object.entries(matchLabels).map(([key, value]) => formatTerm(id, key, value));
    const size = (term: string): number => this.nodesByTerm.get(term).size;
    return (
      terms.reduce<string | undefined>(
        (best, term) => (best === undefined || size(term) < size(best) ? term : best),
        undefined,
      ) ?? formatTerm(id, ANY, '')
    );
  }
}

const selectsAsBefore = (a: NodeSource, b: NodeSource): boolean =>
  compareRanks(a, b) === 0 && selectorText(a) === selectorText(b);

const selectorText = ({ spec }: NodeSource): string => JSON.stringify(findSelector(spec) ?? null);

const NONE: ReadonlySet<ResourceKey> = new Set();

/** Whether a node selects a Dataplane: in its own mesh and namespace, and in its zone if it has one. */
function selects({ id, spec }: NodeSource, member: Identity, labels: Labels): boolean {
  const isNear =
    id.mesh === member.mesh && id.namespace === member.namespace && areVisibleTogether(id.zone, member.zone);
  const selector = isNear ? findSelector(spec) : undefined;
  return selector !== undefined && selectsLabels(selector, labels);
}

function getMemberLabels(member: Member): Labels {
  const implied = IMPLIED.flatMap((key): [string, string][] => {
    const value = effectiveLabel(member, key);
    return value === undefined ? [] : [[key, value]];
  });
  return { ...Object.fromEntries(implied), ...member.labels };
}

const formatTerm = ({ mesh, namespace }: Identity, key: string, value: string): string =>
  `${mesh}/${namespace} ${key}=${value}`;

const listTerms = (id: Identity, labels: Labels): string[] => [
  formatTerm(id, ANY, ''),
  ...Object.entries(labels).map(([key, value]) => formatTerm(id, key, value)),
];
