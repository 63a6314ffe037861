import type { ResourceKey } from '@causeway/resources';
/**
 * The names that rows still show as Available and must release, by mesh and hostname. While a name is pending, no other
 * row may show it (I3 of docs/design.md §9).
 */
export class PendingReleases {
  private readonly holders = new Map<string, Set<ResourceKey>>();
  private readonly byHolder = new Map<ResourceKey, readonly string[]>();

  /** Returns the keys of the rows that must release a name, the longest pending first. */
  rows(): Iterable<ResourceKey> {
    return this.byHolder.keys();
  }

  /** Replaces the names that the row `key` must release. */
  set(key: ResourceKey, mesh: string, hostnames: readonly string[]): void {
    this.forget(key);
    if (hostnames.length === 0) return;
    const places = hostnames.map((hostname) => `${mesh}/${hostname}`);
    this.byHolder.set(key, places);
    for (const place of places) {
      const rows = this.holders.get(place);
      if (rows) rows.add(key);
      else this.holders.set(place, new Set([key]));
    }
  }

  forget(key: ResourceKey): void {
    for (const place of this.byHolder.get(key) ?? []) {
      const rows = this.holders.get(place);
      rows?.delete(key);
      if (rows?.size === 0) this.holders.delete(place);
    }
    this.byHolder.delete(key);
  }

  /** Reports whether the row `key` has a name to release. */
  has(key: ResourceKey): boolean {
    return this.byHolder.has(key);
  }

  /** Returns a row other than `key` that still shows the name. */
  otherHolder(key: ResourceKey, mesh: string, hostname: string): ResourceKey | undefined {
    for (const holder of this.holders.get(`${mesh}/${hostname}`) ?? []) if (holder !== key) return holder;
    return undefined;
  }
}
