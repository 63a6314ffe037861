import { unspreadDomains } from '@causeway/controllers';
import type { TrustEvidence } from '@causeway/identity';
import type { IndexReader } from '@causeway/store';

/** What the evidence of a zone is made of. */
export interface TrustEvidenceSources {
  readonly index: IndexReader;
  readonly zone: string;
  readonly isFederated: boolean;
  /** Live proxies of the zone, whichever replica they are connected to, that have not acked a trust with all certificates; sorted. */
  readonly proxiesWithout: (certificates: readonly string[]) => Promise<readonly string[]>;
}

/** Who has not learned of the authorities of the zone: proxies of this zone, and trust domains that are not told to all zones. */
export class ZoneTrustEvidence implements TrustEvidence {
  constructor(private readonly sources: TrustEvidenceSources) {}

  async missing(certificates: readonly string[]): Promise<readonly string[]> {
    const { index, proxiesWithout } = this.sources;
    return [...unspreadDomains(index, this.sources, certificates), ...(await proxiesWithout(certificates))];
  }
}
