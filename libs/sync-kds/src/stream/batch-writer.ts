import type { Change, Note, WriteResult } from '@causeway/store';

/** Largest number of changes in one write: larger ones delay everybody else (design.md §2.4). */
const BATCH = 500;

/** One write with the right of a session or term. */
export type WriteOnce = (changes: readonly Change[], notes: readonly Note[]) => Promise<WriteResult>;

/** Writes any number of changes in pieces, the notes with the last one. */
export class BatchWriter {
  private reached = 0;

  constructor(private readonly once: WriteOnce) {}

  /** Revision of our store with the last write; 0 before the first. */
  get revision(): number {
    return this.reached;
  }

  /** What became of each change; nothing is written where there is nothing to write. */
  async write(changes: readonly Change[], notes: readonly Note[]): Promise<WriteResult['results']> {
    const results: WriteResult['results'][number][] = [];
    for (let from = 0; from === 0 || from < changes.length; from += BATCH) {
      const last = from + BATCH >= changes.length;
      if (changes.length === 0 && notes.length === 0) break;
      const written = await this.once(changes.slice(from, from + BATCH), last ? notes : []);
      results.push(...written.results);
      this.reached = written.revision;
    }
    return results;
  }
}
