import { Unavailable, type StorePoint } from '@causeway/resources';
import { Backoff, errorText, withDeadline, type Clock, type Logger } from '@causeway/runtime';
import type { IndexReader, ResourceIndex } from './resource-index';
import { RelistRequired, type ResourceStore } from './resource-store';

/** The part of a store that `followStore` reads. */
export type FollowedStore = Pick<ResourceStore, 'head' | 'snapshot' | 'watch'>;

/** Options of following a store. */
export interface FollowOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Random number with 0 ≤ x < 1 for jitter; Math.random unless a simulation sets it. */
  readonly random?: () => number;
}

/**
 * Keeps `index` up to date with `store` until the signal aborts: snapshot, watch, and a new snapshot whenever the watch
 * cannot continue. While the store is unavailable it retries with backoff, and the index keeps its last state.
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
      options.logger.warn('the watch of the store failed, trying again', { error: errorText(error) });
      await options.clock.sleep(backoff.next(), options.signal);
    }
  }
}

async function reload(store: FollowedStore, index: ResourceIndex, options: FollowOptions): Promise<boolean> {
  try {
    index.load(await store.snapshot());
    return true;
  } catch (error) {
    options.logger.warn('loading a new snapshot of the store failed', { error: errorText(error) });
    return false;
  }
}

/**
 * Resolves when `index` contains everything that was committed before the call, also by leaders of earlier epochs: call
 * it at the beginning of an epoch, and plan nothing until then (docs/design.md §3). Rejects like the store, or with the
 * signal's reason.
 */
export async function waitUntilCaughtUp(store: ResourceStore, index: IndexReader, signal: AbortSignal): Promise<void> {
  while (!(await waitUntilReachedOrReloaded(index, await store.head(), signal)));
}

/** Timeout of `waitUntilReached`, ms. */
const REACH_TIMEOUT = 5_000;

/** Resolves when the index has reached a revision, or a point in its incarnation. Throws Unavailable after 5 s. */
export async function waitUntilReached(index: IndexReader, target: number | StorePoint, clock: Clock): Promise<void> {
  const revision = typeof target === 'number' ? target : target.revision;
  const tooLate = new Unavailable(`this replica has not reached revision ${revision} yet; try again`);
  await withDeadline(clock, REACH_TIMEOUT, tooLate, (signal) => index.reached(target, signal));
}

/** Returns false if the index loaded another incarnation of the store meanwhile: it will never reach the point. */
async function waitUntilReachedOrReloaded(index: IndexReader, head: StorePoint, signal: AbortSignal): Promise<boolean> {
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
