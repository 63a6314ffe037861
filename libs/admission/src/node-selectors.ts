import { AppMeshTable, type Member } from '@causeway/appmesh';
import { Dataplane, storedSource, VirtualNode } from '@causeway/kinds';
import { FieldPath, Invalid, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { PerIndex, type FollowedByIndex } from './followed-by-index';

/** The VirtualNodes of an index, asked which of them select a Dataplane that is to be stored. A change costs the node that changed. */
class NodeSelectors implements FollowedByIndex {
  private table: AppMeshTable | undefined;

  constructor(private readonly index: IndexReader) {}

  reload(): void {
    this.table = undefined;
  }

  apply({ id, after }: IndexChange): void {
    if (id.kind !== VirtualNode.name || !this.table) return;
    const source = after && storedSource(after);
    if (source) this.table.put(source);
    else this.table.remove(id);
  }

  /** Why a Dataplane belongs to several nodes; undefined where it belongs to one or none. */
  overlapOf(member: Member): string | undefined {
    this.table ??= this.load();
    return this.table.admit(member).refusal;
  }

  private load(): AppMeshTable {
    const table = new AppMeshTable();
    for (const node of this.index.ofKind(VirtualNode.name)) {
      const source = storedSource(node);
      if (source) table.put(source);
    }
    return table;
  }
}

const selectors = new PerIndex((index) => new NodeSelectors(index));

/**
 * Throws Invalid where a write would put a Dataplane under several VirtualNodes, naming them (T003-32). One that is there already, because
 * a node began to select it later, may still be written: it keeps its node, and the nodes say so (T003-33).
 */
export function checkOneNode(index: IndexReader, draft: Member, stored: Resource | undefined): void {
  if (draft.id.kind !== Dataplane.name || index.countOf(VirtualNode.name) < 2) return;
  const nodes = selectors.of(index);
  const refusal = nodes.overlapOf(draft);
  if (refusal === undefined || (stored && nodes.overlapOf(stored) !== undefined)) return;
  throw new Invalid([FieldPath.at('labels').violation(refusal, 'MembershipConflict')]);
}
