import type { IndexReader } from '@causeway/store';
import { HELD_WITHOUT_CERTIFICATE } from '../proxies/known-proxies';
import type { ProxyDirectory } from '../proxies/proxy-directory';

/** Inputs of the retention of tombstones in a zone. */
export interface TombstoneHolders {
  readonly index: Pick<IndexReader, 'tombstones' | 'point'>;
  readonly proxies: Pick<ProxyDirectory, 'ackWatermark' | 'storeNow'>;
  /** The validity of workload certificates, ms. */
  readonly validity: number;
}

/**
 * Returns how old a tombstone must be before a zone deletes it, ms: twice the validity of a certificate and at least a day, because a tombstone
 * records which address was freed (docs/design.md §9, I11). The result exceeds the age of the oldest tombstone whose address a proxy may still use
 * for the deleted service: a connected proxy that does not apply its updates. Linear in the tombstones.
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
