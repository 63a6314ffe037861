import type { Identity, Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';

/** What of a change a watch tells its reader. */
export type Told =
  { readonly type: 'put'; readonly resource: Resource } | { readonly type: 'delete'; readonly id: Identity };

/**
 * Changes that a reader has not taken yet, the latest of each resource only, so that a slow reader costs memory for
 * what changed and not for how often.
 */
export class PendingChanges {
  private changes = new Map<string, IndexChange>();

  constructor(private readonly isSelected: (resource: Resource) => boolean) {}

  get size(): number {
    return this.changes.size;
  }

  /** Adds a change; what the reader knew before the first of several counts as `before`. */
  add(change: IndexChange): void {
    const earlier = this.changes.get(change.key);
    this.changes.delete(change.key);
    this.changes.set(change.key, earlier ? { ...change, before: earlier.before } : change);
  }

  /** Takes everything out, as it is to be told. */
  take(): Told[] {
    const taken = [...this.changes.values()];
    this.changes = new Map();
    return taken.flatMap((change): Told[] => {
      if (change.after && this.isSelected(change.after)) return [{ type: 'put', resource: change.after }];
      return change.before && this.isSelected(change.before) ? [{ type: 'delete', id: change.id }] : [];
    });
  }
}
