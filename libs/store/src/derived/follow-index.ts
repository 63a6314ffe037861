import type { IndexChange, IndexReader } from '../resource-index';

/** State derived from an index and rebuilt in one turn: too small for slices, or rebuilt on read. */
export interface IndexedState {
  /** Called after the index was loaded: everything may have changed. */
  reload(): void;
  /** Applies the changes of one event, after the index applied them. */
  apply(changes: readonly IndexChange[]): void;
}

/** Calls `reload` after each load of the index and `apply` after each other event, until the returned function is called. */
export function followIndex(index: Pick<IndexReader, 'subscribe'>, state: IndexedState): () => void {
  return index.subscribe(({ reloaded, changes }) => (reloaded ? state.reload() : state.apply(changes)));
}
