import { AppMeshTable, membershipConflict, type Member } from '@causeway/appmesh';
import { Dataplane, readStoredSource, VirtualNode } from '@causeway/kinds';
import { FieldPath, identityKey, Invalid, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange, IndexedState, IndexReader } from '@causeway/store';
import { PerIndex } from './per-index';

/** Index of the VirtualNodes that select a Dataplane. A change costs the changed node. */
class NodeSelectors implements IndexedState {
  private table: AppMeshTable | undefined;

  constructor(private readonly index: IndexReader) {}

  reload(): void {
    this.table = undefined;
  }

  apply(changes: readonly IndexChange[]): void {
    for (const { id, after } of changes) {
      if (id.kind !== VirtualNode.name) continue;
      const source = after && readStoredSource(after);
      if (source) this.table?.put(source);
      else this.table?.remove(id);
    }
  }

  /** Returns the nodes that select a Dataplane. */
  nodesSelecting(member: Member): readonly Identity[] {
    this.table ??= this.load();
    return this.table.nodesSelecting(member);
  }

  private load(): AppMeshTable {
    const table = new AppMeshTable();
    for (const node of this.index.ofKind(VirtualNode.name)) {
      const source = readStoredSource(node);
      if (source) table.put(source);
    }
    return table;
  }
}

const selectors = new PerIndex((index) => new NodeSelectors(index));

/** VirtualNodes for one request: those of the index, and those of its earlier documents. */
export class RequestNodes {
  private readonly own = new AppMeshTable();
  private readonly taken = new Set<string>();

  constructor(private readonly index: IndexReader) {}

  /** Adds a document that will be stored; ignores kinds other than VirtualNode. */
  take({ id, spec }: Pick<Resource, 'id' | 'spec'>): void {
    if (id.kind !== VirtualNode.name) return;
    const source = readStoredSource({ id, spec, creationOrder: 0, generation: 0 });
    if (source) this.own.put(source);
    this.taken.add(identityKey(id));
  }

  /**
   * Throws Invalid if a write would put a Dataplane under several VirtualNodes, naming them (T003-32). A Dataplane that
   * is already under several, because a node began to select it later, may still be written: it keeps its node, and the
   * nodes report it (T003-33).
   */
  checkMembership(draft: Member, stored: Resource | undefined): void {
    if (draft.id.kind !== Dataplane.name || this.index.countKind(VirtualNode.name) + this.taken.size < 2) return;
    const refusal = this.findConflict(draft);
    if (refusal === undefined || (stored && this.findConflict(stored) !== undefined)) return;
    throw new Invalid([FieldPath.at('labels').violation(refusal, 'MembershipConflict')]);
  }

  private findConflict(member: Member): string | undefined {
    const stored = selectors.of(this.index).nodesSelecting(member);
    const others = stored.filter((id) => !this.taken.has(identityKey(id)));
    return membershipConflict(member.id, [...others, ...this.own.nodesSelecting(member)]);
  }
}
