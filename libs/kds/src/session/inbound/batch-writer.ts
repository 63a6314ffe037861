import type { Identity } from '@causeway/resources';
import type { Change, MetadataEntry, WriteResult } from '@causeway/store';

/** Most changes in one write: larger writes delay all others (docs/design.md §2.4). */
const BATCH = 500;

/** Most changes in one write while other peers write: they wait for at most one write of this peer. */
const SHARED_BATCH = 100;

/** Most bytes of resources in one write; a single resource may be larger. */
const BATCH_BYTES = 1024 * 1024;

/** One write with the fence of a session or term. */
export type FencedWrite = (changes: readonly Change[], notes: readonly MetadataEntry[]) => Promise<WriteResult>;

/** A change and its approximate size. */
export interface SizedChange {
  readonly change: Change;
  readonly bytes: number;
}

/** Writes any number of changes in batches, in order; the notes are written with the last batch. */
export class BatchWriter {
  private reached = 0;

  constructor(
    private readonly once: FencedWrite,
    /** Whether other peers write at this time. */
    private readonly isShared: () => boolean = () => false,
  ) {}

  /** Revision of the store with the last write; 0 before the first. */
  get revision(): number {
    return this.reached;
  }

  /** The result of each change. Writes nothing where there are neither changes nor notes. */
  async write(changes: readonly SizedChange[], notes: readonly MetadataEntry[]): Promise<WriteResult['results']> {
    const results: WriteResult['results'][number][] = [];
    if (changes.length === 0 && notes.length === 0) return results;
    let from = 0;
    let isRaised = false;
    do {
      const end = endOfBatch(changes, from, this.isShared() ? SHARED_BATCH : BATCH);
      const batch = changes.slice(from, end).map(({ change }) => change);
      const written = await this.once(batch, end === changes.length ? notesAfter(notes, isRaised) : []);
      for (const result of written.results) results.push(result);
      isRaised ||= written.results.some((result) => orderCountedIn(result) !== undefined);
      this.reached = written.revision;
      from = end;
    } while (from < changes.length);
    return results;
  }
}

/** The creation order that counts where a copy claims another one. */
export function orderCountedIn(result: WriteResult['results'][number] | undefined): number | undefined {
  return result === undefined || result.type === 'refused' ? undefined : result.creationOrder;
}

/** The notes once a batch before theirs has raised a creation order, or none has. */
function notesAfter(notes: readonly MetadataEntry[], isRaised: boolean): readonly MetadataEntry[] {
  return isRaised ? notes.filter((note) => note.unlessRaised !== true) : notes;
}

/** The deletion of a resource at any revision. */
export function deletion(id: Identity): SizedChange {
  return { change: { type: 'delete', id, expect: 'any' }, bytes: 0 };
}

/** The end of the batch that begins at `from`, by number and by bytes; a batch has at least one change. */
function endOfBatch(changes: readonly SizedChange[], from: number, most: number): number {
  let size = 0;
  for (let at = from; at < Math.min(changes.length, from + most); at++) {
    size += changes[at]?.bytes ?? 0;
    if (size > BATCH_BYTES && at > from) return at;
  }
  return Math.min(changes.length, from + most);
}
