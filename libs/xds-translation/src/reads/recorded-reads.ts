/** A named value with its readers. */
interface Cell<T> {
  readonly name: string;
  readonly readers: Set<Reader<T>>;
}

/** A build that recorded its reads. `of` names what was built, so that it can be built again. */
export class Reader<T> {
  readonly cells: Cell<T>[] = [];

  constructor(readonly of: T) {}
}

/** The interface by which tables record their reads and announce their changes. */
export interface Reads {
  /** Records that the current build reads the value with this name; no effect outside a build. */
  read(cell: string): void;
  /** Records a read of a value that belongs to the client of the build: other clients are not affected. */
  readOwn(cell: string): void;
  /** Announces that a value changed or was added; `isGone`: or removed. */
  changed(cell: string, isGone?: boolean): void;
}

/** Records nothing: for tables whose reads do not matter. */
export const NO_READS: Reads = { read: () => undefined, readOwn: () => undefined, changed: () => undefined };

/** The readers of one build, each created at its first read. */
export interface Recording<T> {
  readonly shared: () => Reader<T>;
  /** The reader of the client's own inputs. */
  readonly own: () => Reader<T>;
  /** The reader of inputs of a resource that no other client has (`recordOwn`). */
  readonly alone?: () => Reader<T>;
}

/**
 * Records which readers read which values. Values are named, so that reads of missing values and of sets are recorded like all others. A change costs
 * the readers of the value, and all reads of each of these readers.
 */
export class RecordedReads<T> implements Reads {
  private readonly cells = new Map<string, Cell<T>>();
  /** Readers of changed values; true if one of these values is gone. */
  private readonly stale = new Map<Reader<T>, boolean>();
  private readonly linked = new Set<Reader<T>>();
  private recording: Recording<T> | undefined;

  /** Calls `make` and records its reads, in addition to earlier reads of the same readers. */
  record<R>(recording: Recording<T>, make: () => R): R {
    const outer = this.recording;
    this.recording = recording;
    try {
      return make();
    } finally {
      this.recording = outer;
    }
  }

  /** Calls `make` and records its reads as concerning only the client of the build. */
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

  /** Yields the readers of changed values, each once; a reader is not yielded again until it reads again. */
  *takeStale(): Generator<{ readonly of: T; readonly isGone: boolean }> {
    for (const [reader, isGone] of this.stale) {
      this.stale.delete(reader);
      this.unlink(reader);
      yield { of: reader.of, isGone };
    }
  }

  /** Drops all recorded reads of a reader. */
  forget(reader: Reader<T>): void {
    this.unlink(reader);
    this.stale.delete(reader);
  }

  /** The numbers of readers and of recorded reads. */
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
