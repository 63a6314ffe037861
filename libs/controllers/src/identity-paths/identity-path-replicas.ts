import type { Clock, LeaderTerm } from '@causeway/runtime';
import type { MetadataEntry, ResourceStore } from '@causeway/store';
import type { ProxyDirectory } from '../proxies/proxy-directory';

/** The metadata area in which each replica records, by its instance, that it supports the forms of preset SPIFFE paths. */
export const IDENTITY_PATH_REPLICAS = 'identity-path-replicas';

/** Interval of the checks once all replicas are ready, ms. */
const POLL_INTERVAL = 30_000;
/** The time for which the entry of a replica that is gone is kept, ms. */
const KEPT = 30 * 86_400_000;

export interface IdentityPathReplicasOptions {
  readonly store: Pick<ResourceStore, 'listMetadata' | 'write'>;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'liveReplicas'>;
  readonly term: LeaderTerm;
  readonly clock: Clock;
  /** The area of what the replicas support; that of the forms of SPIFFE paths if absent. */
  readonly area?: string;
}

/** Whether every live replica of a zone supports something, such as the forms of preset SPIFFE paths, from the leader's point of view. */
export class IdentityPathReplicas {
  private ready: boolean | undefined;
  private askedAt = -Infinity;

  constructor(private readonly options: IdentityPathReplicasOptions) {}

  /** Undefined until the first pass. */
  get areReady(): boolean | undefined {
    return this.ready;
  }

  /** Reads the entries of the replicas once. Throws Unavailable, Fenced. */
  async turn(): Promise<void> {
    const { store, proxies, clock, area = IDENTITY_PATH_REPLICAS } = this.options;
    if (!proxies.isLoaded || (this.ready === true && clock.elapsed() - this.askedAt < POLL_INTERVAL)) return;
    const live = proxies.liveReplicas();
    if (live.length === 0) return;
    const entries = await store.listMetadata(area);
    const knowing = new Set(entries.map(({ key }) => key));
    this.ready = live.every((instance) => knowing.has(instance));
    this.askedAt = clock.elapsed();
    await this.forget(entries, new Set(live));
  }

  private async forget(entries: readonly MetadataEntry[], live: ReadonlySet<string>): Promise<void> {
    const { store, term, clock, area = IDENTITY_PATH_REPLICAS } = this.options;
    const before = clock.now() - KEPT;
    const gone = entries.filter(({ key, value }) => !live.has(key) && readSince(value) < before);
    if (gone.length === 0) return;
    const forgotten = gone.map(({ key }) => ({ area, key, value: null }));
    await store.write({ changes: [], onRefusal: 'skip', metadata: forgotten, fence: term });
  }
}

function readSince(value: MetadataEntry['value']): number {
  const since = value?.['since'];
  return typeof since === 'number' ? since : 0;
}
