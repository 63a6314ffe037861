import type { Change, Note, WriteResult } from '@causeway/store';

/** Largest number of changes in one write: larger ones delay everybody else (design.md §2.4). */
const BATCH = 500;

/** The same while other peers write: they wait for one write of this one at most. */
const SHARED_BATCH = 100;

/** Bytes of resources in one write, but for a single larger one. */
const BATCH_BYTES = 1024 * 1024;

/** One write with the right of a session or term. */
export type FencedWrite = (changes: readonly Change[], notes: readonly Note[]) => Promise<WriteResult>;

/** A change, and about how many bytes it has. */
export interface SizedChange {
  readonly change: Change;
  readonly bytes: number;
}

/** Writes any number of changes in pieces, the notes with the last one. */
export class BatchWriter {
  private reached = 0;

  constructor(
    private readonly once: FencedWrite,
    /** Whether others write at this time. */
    private readonly isShared: () => boolean = () => false,
  ) {}

  /** Revision of our store with the last write; 0 before the first. */
  get revision(): number {
    return this.reached;
  }

  /** What became of each change; nothing is written where there is nothing to write. */
  async write(changes: readonly SizedChange[], notes: readonly Note[]): Promise<WriteResult['results']> {
    const results: WriteResult['results'][number][] = [];
    if (changes.length === 0 && notes.length === 0) return results;
    let from = 0;
    do {
      const end = endOfBatch(changes, from, this.isShared() ? SHARED_BATCH : BATCH);
      const batch = changes.slice(from, end).map(({ change }) => change);
      const written = await this.once(batch, end === changes.length ? notes : []);
      for (const result of written.results) results.push(result);
      this.reached = written.revision;
      from = end;
    } while (from < changes.length);
    return results;
  }
}

/** Where the batch that begins at `from` ends: by number and by bytes, with one change at least. */
function endOfBatch(changes: readonly SizedChange[], from: number, most: number): number {
  let size = 0;
  for (let at = from; at < Math.min(changes.length, from + most); at++) {
    size += changes[at]?.bytes ?? 0;
    if (size > BATCH_BYTES && at > from) return at;
  }
  return Math.min(changes.length, from + most);
}
