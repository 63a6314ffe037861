import type { IndexReader } from '@causeway/store';
import type { StorePoint } from '@causeway/resources';

/**
 * Resolves when the index is of this life and has taken in this revision: what it then lacks does not exist
 * (design.md §5 Absence is not deletion). Rejects when the signal aborts first.
 */
export async function caughtUp(index: IndexReader, point: StorePoint, signal: AbortSignal): Promise<void> {
  if (isAt(index, point)) return;
  await new Promise<void>((resolve, reject) => {
    const finish = (settle: () => void): void => {
      unsubscribe();
      signal.removeEventListener('abort', abort);
      settle();
    };
    const abort = (): void => finish(() => reject(new Error('ended before the index had caught up')));
    const unsubscribe = index.subscribe(() => {
      if (isAt(index, point)) finish(resolve);
    });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

function isAt(index: IndexReader, point: StorePoint): boolean {
  const current = index.point;
  return current !== undefined && current.incarnation === point.incarnation && current.revision >= point.revision;
}
