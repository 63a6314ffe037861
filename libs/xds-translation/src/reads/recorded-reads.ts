/** A value that can be read and announced: its readers, where it has any. */
interface Cell<T> {
  readonly name: string;
  readonly readers: Set<Reader<T>>;
}

/** Something that was made of what it read. `of` says what it is, to whoever makes it anew. */
export class Reader<T> {
  readonly cells: Cell<T>[] = [];

  constructor(readonly of: T) {}
}

/** Where tables note what is read of them, and say what of it has changed. */
export interface Reads {
  /** Notes that a value of this name is read by what is made now; nothing where nothing is made. */
  read(cell: string): void;
  /** The same, where the value belongs to the client that something is made for: it concerns no other one. */
  readOwn(cell: string): void;
  /** A value of this name is another, or came; `isGone`: or went. */
  changed(cell: string, isGone?: boolean): void;
}

/** For tables of which nothing is recorded. */
export const NO_READS: Reads = { read: () => undefined, readOwn: () => undefined, changed: () => undefined };

/** The readers of one build; each is created at its first read. */
export interface Recording<T> {
  readonly shared: () => Reader<T>;
  /** The reader of the client's own inputs. */
  readonly own: () => Reader<T>;
  /** The reader of inputs of something that no other client has (`recordOwn`). */
  readonly alone?: () => Reader<T>;
}

/**
 * Which readers have read which values. A value is named, so that reads of what does not exist, and of sets, are noted as all others
 * are. A change of a value costs its readers, and what each of them has read.
 */
export class RecordedReads<T> implements Reads {
  private readonly cells = new Map<string, Cell<T>>();
  /** Those that have read something which has changed, and whether some of it is gone. */
  private readonly stale = new Map<Reader<T>, boolean>();
  private readonly linked = new Set<Reader<T>>();
  private recording: Recording<T> | undefined;

  /** Calls `make`; what it reads is noted, beside what the readers have read before. */
  record<R>(recording: Recording<T>, make: () => R): R {
    const outer = this.recording;
    this.recording = recording;
    try {
      return make();
    } finally {
      this.recording = outer;
    }
  }

  /** Calls `make`; whatever it reads concerns the client alone that something is made for. */
  recordOwn<R>(make: () => R): R {
    const alone = this.recording?.alone;
    return alone ? this.record({ shared: alone, own: alone }, make) : make();
  }

  read(cell: string): void {
    if (this.recording) this.link(this.recording.shared(), cell);
  }

  readOwn(cell: string): void {
    if (this.recording) this.link(this.recording.own(), cell);
  }

  changed(name: string, isGone = false): void {
    const cell = this.cells.get(name);
    if (!cell) return;
    for (const reader of cell.readers) this.stale.set(reader, isGone || this.stale.get(reader) === true);
  }

  /** The readers that have read something which has changed; each once, and until it reads again no more. */
  *takeStale(): Generator<{ readonly of: T; readonly isGone: boolean }> {
    for (const [reader, isGone] of this.stale) {
      this.stale.delete(reader);
      this.unlink(reader);
      yield { of: reader.of, isGone };
    }
  }

  /** Nothing that this reader has read concerns anybody any more. */
  forget(reader: Reader<T>): void {
    this.unlink(reader);
    this.stale.delete(reader);
  }

  /** The number of readers, and of their recorded reads. */
  get size(): { readonly readers: number; readonly reads: number } {
    let reads = 0;
    for (const { readers } of this.cells.values()) reads += readers.size;
    return { readers: this.linked.size, reads };
  }

  private link(reader: Reader<T>, name: string): void {
    const cell = this.cells.get(name) ?? { name, readers: new Set<Reader<T>>() };
    if (cell.readers.has(reader)) return;
    if (cell.readers.size === 0) this.cells.set(name, cell);
    cell.readers.add(reader);
    reader.cells.push(cell);
    this.linked.add(reader);
  }

  private unlink(reader: Reader<T>): void {
    for (const cell of reader.cells)
      if (cell.readers.delete(reader) && cell.readers.size === 0) this.cells.delete(cell.name);
    reader.cells.length = 0;
    this.linked.delete(reader);
  }
}
