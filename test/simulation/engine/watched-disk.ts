import type { MetadataEntry, WriteRequest } from '@causeway/store';
import { MemoryDisk, type MemoryDiskOptions, type NewestOrder } from '@causeway/store/testing';

/** A row as the disk keeps it. */
export type Row = NonNullable<ReturnType<MemoryDisk['rows']['get']>>;

/** The writer, and its request. */
export interface Writing {
  /** Name of the process; empty for users. */
  readonly writer: string;
  readonly request: WriteRequest;
}

/** One row that a commit has changed. */
export interface RowChange {
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row;
}

/** A transaction as it is committed. */
export interface Commit extends Writing {
  readonly disk: WatchedDisk;
  readonly changes: readonly RowChange[];
  readonly notes: readonly { readonly note: MetadataEntry; readonly before: MetadataEntry | undefined }[];
}

/** A disk that passes each commit to its checks. */
export class WatchedDisk extends MemoryDisk {
  /** Called with each commit, in its step. */
  watcher: ((commit: Commit) => void) | undefined;
  /** Called when a new incarnation has begun. */
  lifeWatcher: (() => void) | undefined;
  /** When a process last read the notes of an area, by both names with a blank between. */
  readonly notesRead = new Map<string, number>();
  /** Commits that changed a row. */
  commits = 0;
  private writing: Writing | undefined;

  constructor(
    readonly name: string,
    options: MemoryDiskOptions,
  ) {
    super(options);
  }

  /** Runs a write, which commits at once if it does. */
  during<T>(writing: Writing, work: () => T): T {
    this.writing = writing;
    try {
      return work();
    } finally {
      this.writing = undefined;
    }
  }

  override beginIncarnation(): void {
    super.beginIncarnation();
    this.lifeWatcher?.();
  }

  override commit(written: ReadonlyMap<string, Row>, notes: readonly MetadataEntry[], newest: NewestOrder): void {
    const changes = [...written].map(([key, after]) => ({ key, before: this.rows.get(key), after }));
    const noted = notes.map((note) => ({ note, before: this.metadata.get(`${note.area}\0${note.key}`) }));
    super.commit(written, notes, newest);
    if (changes.length > 0) this.commits++;
    if (this.writing) this.watcher?.({ ...this.writing, disk: this, changes, notes: noted });
  }
}
