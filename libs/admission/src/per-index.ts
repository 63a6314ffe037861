import { followIndex, type IndexedState, type IndexReader } from '@causeway/store';

/** One `T` per index, created at its first use; follows the index as long as that lives. */
export class PerIndex<T extends IndexedState> {
  private readonly known = new WeakMap<object, T>();

  constructor(private readonly make: (index: IndexReader) => T) {}

  of(index: IndexReader): T {
    const known = this.known.get(index);
    if (known) return known;
    const made = this.make(index);
    this.known.set(index, made);
    // Needs no cleanup: it is collected together with the index.
    followIndex(index, made);
    return made;
  }
}
