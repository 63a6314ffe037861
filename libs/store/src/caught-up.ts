import type { StorePoint } from '@causeway/resources';
import type { ResourceIndex } from './resource-index';
import type { ResourceStore } from './resource-store';

/**
 * Resolves when `index` has taken in everything that was committed before the call, also by leaders of epochs before:
 * call it once an epoch has begun, and plan nothing until then (design.md §3). Rejects as the store does, or with the
 * signal's reason.
 */
export async function waitUntilCaughtUp(
  store: ResourceStore,
  index: ResourceIndex,
  signal: AbortSignal,
): Promise<void> {
  while (!(await reachedInThisLife(index, await store.head(), signal)));
}

/** False when the index loaded another life of the store meanwhile: the point will never be reached. */
async function reachedInThisLife(index: ResourceIndex, head: StorePoint, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const stop = (): void => over.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const unsubscribe = index.subscribe(({ point, reloaded }) => {
    if (reloaded && point.incarnation !== head.incarnation) over.abort();
  });
  try {
    if (signal.aborted) stop();
    await index.reached(head, over.signal);
    return true;
  } catch (error) {
    if (signal.aborted) throw error;
    return false;
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', stop);
  }
}
