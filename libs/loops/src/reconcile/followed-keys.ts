import type { ResourceKey } from '@causeway/resources';
import { onAbort } from '@causeway/runtime';
import type { FollowedTable } from '@causeway/store';

/** Used in place of a key: the keys that a change makes stale can only be found by another walk through the index. */
export const RESCAN = Symbol('rescan');

/** Keys of resources that a control loop must plan, or all of them. */
export type StaleKeyList = readonly (ResourceKey | typeof RESCAN)[];

/** A table derived from the index, from the point of view of a control loop: it announces the keys that its changes make stale. */
export type KeySource = FollowedTable<StaleKeyList>;

/**
 * Returns a derived table as a source of keys: `listKeys` reads them from a change when it is announced; after a reload `listAll` lists them, by
 * default by a walk through the index.
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

/** Collects the announcements of sources until a control loop takes them, or its term ends. */
export class FollowedKeys {
  private keys = new Set<ResourceKey | typeof RESCAN>();

  constructor(
    private readonly sources: readonly KeySource[],
    { signal }: { readonly signal: AbortSignal },
  ) {
    const follower = { reload: () => this.add([RESCAN]), apply: (keys: StaleKeyList) => this.add(keys) };
    for (const source of sources) onAbort(signal, source.subscribe(follower));
  }

  /** Whether all sources were loaded once: before that nothing may be decided by them. */
  get hasLoaded(): boolean {
    return this.sources.every(({ hasLoaded }) => hasLoaded);
  }

  /** Returns the keys announced since the last call, each once. */
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
