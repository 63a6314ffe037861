import type { IndexReader } from '@causeway/store';
import { HELD_WITHOUT_CERTIFICATE } from '../proxies/known-proxies';
import type { ProxyDirectory } from '../proxies/proxy-directory';

/** Inputs of the decision how long a zone keeps tombstones. */
export interface TombstoneHolders {
  readonly index: Pick<IndexReader, 'tombstones' | 'point'>;
  readonly proxies: Pick<ProxyDirectory, 'ackWatermark' | 'storeNow'>;
  /** How long certificates of workloads are valid, ms. */
  readonly validity: number;
}

/**
 * How old a tombstone must be before a zone forgets it, ms: twice as long as a certificate lives, a day at least, for a tombstone says
 * which address was freed (docs/design.md §9, I11). Older than the oldest one whose address a proxy may still use for the service that is
 * gone: connected, and not applying what it is sent. Linear in the tombstones.
 */
export function tombstoneRetention({ index, proxies, validity }: TombstoneHolders): number {
  const least = 2 * Math.max(validity, HELD_WITHOUT_CERTIFICATE);
  const watermark = proxies.ackWatermark(index.point?.incarnation ?? '');
  const { storeNow } = proxies;
  let oldest = storeNow - least;
  for (const { freed, revision, deletedAt } of index.tombstones())
    if (freed.length > 0 && revision > watermark) oldest = Math.min(oldest, deletedAt - 1);
  return storeNow - oldest;
}
