import type { IndexChange, IndexReader } from '../resource-index';
import type { Follower } from './derived-table';

/** State derived from an index and rebuilt in one turn: too small for slices, or rebuilt on read. */
export type IndexedState = Follower<readonly IndexChange[]>;

/** Calls `reload` after each load of the index and `apply` after each other event, until the returned function is called. */
export function followIndex(index: Pick<IndexReader, 'subscribe'>, state: IndexedState): () => void {
  return index.subscribe(({ reloaded, changes }) => (reloaded ? state.reload() : state.apply(changes)));
}
