import type { IndexChange, IndexReader } from '../resource-index';

/** State derived from an index that is reread in one turn: too small for slices, or rebuilt on read. */
export interface IndexedState {
  /** The index was loaded: everything may be another. */
  reload(): void;
  /** Applies the changes of one event, once the index holds them. */
  apply(changes: readonly IndexChange[]): void;
}

/** Calls `reload` after each load of the index and `apply` after each other event, until the returned function is called. */
export function followIndex(index: Pick<IndexReader, 'subscribe'>, state: IndexedState): () => void {
  return index.subscribe(({ reloaded, changes }) => (reloaded ? state.reload() : state.apply(changes)));
}
