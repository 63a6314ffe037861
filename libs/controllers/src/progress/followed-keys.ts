import type { ResourceKey } from '@causeway/resources';
/** Announces keys of resources whose status may have changed. */
export interface ChangedKeySource {
  /** False while what the status is read from is not derived yet. */
  readonly hasLoaded: boolean;
  /** Calls `listener` with the keys that changed, or with `all`, until the returned function is called. */
  subscribe(listener: (keys: readonly ResourceKey[] | 'all') => void): () => void;
}

/** A table derived from the index, as it announces its changes. */
interface AnnouncingTable<Change> {
  readonly hasLoaded: boolean;
  subscribe(listener: (change: Change | 'reloaded') => void): () => void;
}

/** Returns a derived table as a source of keys: those that `listKeys` reads from a change, or all after a reload. */
export function keysOfTable<Change>(
  table: AnnouncingTable<Change>,
  listKeys: (change: Change) => readonly ResourceKey[],
): ChangedKeySource {
  return {
    get hasLoaded() {
      return table.hasLoaded;
    },
    subscribe: (listener) => table.subscribe((change) => listener(change === 'reloaded' ? 'all' : listKeys(change))),
  };
}

/** Collects announced keys until a control loop takes them. */
export class FollowedKeys {
  private keys = new Set<ResourceKey>();
  private isReloaded = false;

  constructor(private readonly sources: readonly ChangedKeySource[]) {}

  get hasLoaded(): boolean {
    return this.sources.every(({ hasLoaded }) => hasLoaded);
  }

  /** Collects until the returned function is called. */
  follow(): () => void {
    const ends = this.sources.map((source) =>
      source.subscribe((keys) => {
        if (keys === 'all') this.isReloaded = true;
        else this.add(keys);
      }),
    );
    return () => ends.forEach((end) => end());
  }

  /** Adds keys that changed for another reason. */
  add(keys: Iterable<ResourceKey>): void {
    for (const key of keys) this.keys.add(key);
  }

  /** Returns the keys that were announced since the call before. */
  takeKeys(): readonly ResourceKey[] {
    if (this.keys.size === 0) return [];
    const taken = [...this.keys];
    this.keys = new Set();
    return taken;
  }

  /** Returns whether all resources were announced since the call before. */
  takeReload(): boolean {
    const { isReloaded } = this;
    this.isReloaded = false;
    return isReloaded;
  }
}
