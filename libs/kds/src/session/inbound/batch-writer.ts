import type { Identity } from '@causeway/resources';
import type { Change, MetadataEntry, WriteResult } from '@causeway/store';

/** Maximum number of changes in one write: larger writes delay all others (docs/design.md §2.4). */
const MAX_BATCH = 500;

/** Maximum number of changes in one write while other peers write: they wait for at most one write of this peer. */
const MAX_SHARED_BATCH = 100;

/** Maximum bytes of resources in one write; a single resource may be larger. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** One write with the fence of a session or term. */
export type FencedWrite = (changes: readonly Change[], entries: readonly MetadataEntry[]) => Promise<WriteResult>;

/** A change and its approximate size. */
export interface SizedChange {
  readonly change: Change;
  readonly bytes: number;
}

/** Writes any number of changes in batches, in order; the metadata entries are written with the last batch. */
export class BatchWriter {
  private reached = 0;

  constructor(
    private readonly once: FencedWrite,
    /** Whether other peers are writing now. */
    private readonly isShared: () => boolean = () => false,
  ) {}

  /** Revision of the store after the last write; 0 before the first. */
  get revision(): number {
    return this.reached;
  }

  /** Writes the changes and returns the result of each. Does nothing if there are neither changes nor metadata entries. */
  async write(changes: readonly SizedChange[], entries: readonly MetadataEntry[]): Promise<WriteResult['results']> {
    const results: WriteResult['results'][number][] = [];
    if (changes.length === 0 && entries.length === 0) return results;
    let from = 0;
    let isRaised = false;
    do {
      const end = findBatchEnd(changes, from, this.isShared() ? MAX_SHARED_BATCH : MAX_BATCH);
      const batch = changes.slice(from, end).map(({ change }) => change);
      const written = await this.once(batch, end === changes.length ? selectEntries(entries, isRaised) : []);
      for (const result of written.results) results.push(result);
      isRaised ||= written.results.some((result) => findCountedOrder(result) !== undefined);
      this.reached = written.revision;
      from = end;
    } while (from < changes.length);
    return results;
  }
}

/** Returns the creation order that counts if it is not the one that the copy claims. */
export function findCountedOrder(result: WriteResult['results'][number] | undefined): number | undefined {
  return result === undefined || result.type === 'refused' ? undefined : result.creationOrder;
}

/** Returns the metadata entries to write; resume points are dropped if an earlier batch raised a creation order. */
function selectEntries(entries: readonly MetadataEntry[], isRaised: boolean): readonly MetadataEntry[] {
  return isRaised ? entries.filter((entry) => entry.unlessRaised !== true) : entries;
}

/** Returns the deletion of a resource at any revision. */
export function toDeletion(id: Identity): SizedChange {
  return { change: { type: 'delete', id, expect: 'any' }, bytes: 0 };
}

/** Returns the end of the batch that begins at `from`, by number and by bytes; a batch has at least one change. */
function findBatchEnd(changes: readonly SizedChange[], from: number, most: number): number {
  let size = 0;
  for (let at = from; at < Math.min(changes.length, from + most); at++) {
    size += changes[at]?.bytes ?? 0;
    if (size > MAX_BATCH_BYTES && at > from) return at;
  }
  return Math.min(changes.length, from + most);
}
