import { identityKey, type StorePoint } from '@causeway/resources';
import type { ChangeBatch, StoreChange } from '@causeway/store';
import type { ResourceRow } from './resource-row';
import { changeOf, Interned } from './row-decode';

/** What one write has written: its rows in their order, and where the log stood before. */
export interface WrittenRows {
  readonly incarnation: string;
  readonly after: number;
  readonly floor: number;
  readonly rows: readonly ResourceRow[];
}

/** Watches that fall further behind than this read the log. */
const KEPT = 100;

/**
 * The last writes of this process. A write takes all revisions from the one before it to its own, so a watch that
 * stands at the one before misses nothing when it takes the write from here instead of reading the log.
 */
export class RecentWrites {
  private readonly batches = new Map<string, ChangeBatch>();

  /** Remembers a write that has been committed; `revision` is its last. */
  add({ incarnation, after, floor, rows }: WrittenRows, revision: number): void {
    const texts = new Interned();
    // Of two changes of one resource a batch has the latest.
    const latest = new Map<string, StoreChange>();
    for (const row of rows) {
      const change = changeOf(row, incarnation, texts);
      latest.set(identityKey(change.type === 'put' ? change.resource.id : change.tombstone.id), change);
    }
    this.batches.set(keyOf({ incarnation, revision: after }), { revision, changes: [...latest.values()], floor });
    const [oldest] = this.batches.keys();
    if (this.batches.size > KEPT && oldest !== undefined) this.batches.delete(oldest);
  }

  /** The write that came right after `point`; undefined when it was another process's, or long ago. */
  after(point: StorePoint): ChangeBatch | undefined {
    return this.batches.get(keyOf(point));
  }
}

function keyOf({ incarnation, revision }: StorePoint): string {
  return `${incarnation}/${revision}`;
}
