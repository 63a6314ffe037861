import { followIndex, type IndexedState, type IndexReader } from '@causeway/store';

/** One `T` for each index, made at its first use and kept equal to the index for as long as that lives. */
export class PerIndex<T extends IndexedState> {
  private readonly known = new WeakMap<object, T>();

  constructor(private readonly make: (index: IndexReader) => T) {}

  of(index: IndexReader): T {
    const known = this.known.get(index);
    if (known) return known;
    const made = this.make(index);
    this.known.set(index, made);
    // It ends with the index: nothing else holds either.
    followIndex(index, made);
    return made;
  }
}
