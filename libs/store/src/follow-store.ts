import { Backoff, errorText, type Clock, type Logger } from '@causeway/runtime';
import type { ResourceIndex } from './resource-index';
import { RelistRequired, type ResourceStore } from './resource-store';

/** What is read of the store that is followed. */
export type FollowedStore = Pick<ResourceStore, 'head' | 'snapshot' | 'watch'>;

/** What following needs besides store and index. */
export interface FollowOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** 0 ≤ x < 1, for jitter; Math.random unless a simulation says otherwise. */
  readonly random?: () => number;
}

/**
 * Keeps `index` equal to `store` until the signal aborts: snapshot, watch, and a new snapshot whenever the watch
 * cannot go on. A store that is away is tried again with backoff; the index keeps its last state meanwhile.
 */
export async function followStore(store: FollowedStore, index: ResourceIndex, options: FollowOptions): Promise<void> {
  const { random } = options;
  const backoff = new Backoff({ base: 50, cap: 5_000, ...(random ? { random } : {}) });
  while (!options.signal.aborted) {
    try {
      if (!index.point) index.load(await store.snapshot());
      const since = index.point ?? (await store.head());
      for await (const batch of store.watch(since, options.signal, (id) => index.get(id))) {
        index.apply(batch);
        backoff.reset();
      }
    } catch (error) {
      if (error instanceof RelistRequired && (await reload(store, index, options))) continue;
      options.logger.warn('following the store failed, trying again', { error: errorText(error) });
      await options.clock.sleep(backoff.next(), options.signal);
    }
  }
}

async function reload(store: FollowedStore, index: ResourceIndex, options: FollowOptions): Promise<boolean> {
  try {
    index.load(await store.snapshot());
    return true;
  } catch (error) {
    options.logger.warn('reading the store anew failed', { error: errorText(error) });
    return false;
  }
}
