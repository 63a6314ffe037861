import type { IndexChange, IndexReader } from '@causeway/store';

/** What is kept of an index for as long as that lives; all who work with the index have the same one. */
export interface FollowedByIndex {
  /** Everything is another one now. */
  reload(): void;
  apply(change: IndexChange): void;
}

/** One `T` for each index, made at its first use and told each change from then on. */
export class PerIndex<T extends FollowedByIndex> {
  private readonly known = new WeakMap<object, T>();

  constructor(private readonly make: (index: IndexReader) => T) {}

  of(index: IndexReader): T {
    const known = this.known.get(index);
    if (known) return known;
    const made = this.make(index);
    this.known.set(index, made);
    // It ends with the index: nothing else holds either.
    index.subscribe(({ reloaded, changes }) => {
      if (reloaded) made.reload();
      else for (const change of changes) made.apply(change);
    });
    return made;
  }
}
