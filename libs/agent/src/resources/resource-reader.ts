import type { EncodedResource } from '@causeway/xds-server';

/** Change of a cache: resources of one type that were added, changed or removed. */
export interface CacheChange {
  readonly type: string;
  readonly names: readonly string[];
}

/** Read access to a cache, for dataplanes, DNS and the local xDS server. */
export interface ResourceReader {
  /** Returns a resource; `pending` if the zone has not answered yet; undefined if there is none. */
  get(type: string, name: string): EncodedResource | 'pending' | undefined;
  names(type: string): ReadonlySet<string>;
  /** Subscribes to these resources, also across restarts. */
  want(type: string, names: readonly string[]): void;
  /** Unsubscribes this caller; unneeded resources are dropped when the cache is full. */
  release(type: string, names: readonly string[]): void;
  /** Calls `listener` after each change until the returned function is called. */
  subscribe(listener: (change: CacheChange) => void): () => void;
  /** Returns the version of a resource that the dataplane has applied; undefined if it has applied none. */
  appliedVersion(type: string, name: string): string | undefined;
}

/** Applies a change before it is acked to the zone; resolves with why it cannot. */
export type ChangeApplier = (change: CacheChange) => Promise<string | undefined>;
