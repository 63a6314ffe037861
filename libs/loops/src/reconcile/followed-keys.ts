import type { ResourceKey } from '@causeway/resources';
import { onAbort } from '@causeway/runtime';
import type { FollowedTable } from '@causeway/store';

/** In place of a key: the keys that a change makes stale are found only by another walk through the index. */
export const RESCAN = Symbol('rescan');

/** Keys of resources that a control loop must look at, or all of them. */
export type StaleKeyList = readonly (ResourceKey | typeof RESCAN)[];

/** A table derived from the index, as a control loop follows it: it announces the keys that its changes make stale. */
export type KeySource = FollowedTable<StaleKeyList>;

/**
 * Returns a derived table as a source of keys: those that `listKeys` reads from a change as it is announced, and after a reload those of
 * `listAll`, which is a walk through the index unless given.
 */
export function keysOfTable<Change>(
  table: FollowedTable<Change>,
  listKeys: (change: Change) => StaleKeyList,
  listAll: () => StaleKeyList = () => [RESCAN],
): KeySource {
  return {
    get hasLoaded() {
      return table.hasLoaded;
    },
    subscribe: (follower) =>
      table.subscribe({
        reload: () => follower.apply(listAll()),
        apply: (change) => follower.apply(listKeys(change)),
      }),
  };
}

/** Collects what sources announce until a control loop takes it, or its term ends. */
export class FollowedKeys {
  private keys = new Set<ResourceKey | typeof RESCAN>();

  constructor(
    private readonly sources: readonly KeySource[],
    { signal }: { readonly signal: AbortSignal },
  ) {
    const follower = { reload: () => this.add([RESCAN]), apply: (keys: StaleKeyList) => this.add(keys) };
    for (const source of sources) onAbort(signal, source.subscribe(follower));
  }

  /** Whether all sources were loaded once: nothing that is read from them is to be decided before. */
  get hasLoaded(): boolean {
    return this.sources.every(({ hasLoaded }) => hasLoaded);
  }

  /** Returns what was announced since the call before, each key once. */
  take(): StaleKeyList {
    if (this.keys.size === 0) return [];
    const taken = [...this.keys];
    this.keys = new Set();
    return taken;
  }

  private add(keys: StaleKeyList): void {
    for (const key of keys) this.keys.add(key);
  }
}
