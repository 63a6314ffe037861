import {
  meshesOfAuthority,
  proxiesWithoutAuthority,
  unspreadDomains,
  type ProxyDirectory,
} from '@causeway/controllers';
import { authorityIdsOf, type TrustEvidence } from '@causeway/identity';
import type { IndexReader } from '@causeway/store';

/** What the evidence of a zone is made of. */
export interface TrustEvidenceSources {
  readonly index: IndexReader;
  /** The proxies of the zone, whichever replica they are connected to. */
  readonly proxies: Pick<ProxyDirectory, 'all' | 'isLoaded'>;
  readonly zone: string;
  readonly isFederated: boolean;
}

/**
 * Who has not learned of the authorities of the zone: trust domains that are not told to all zones, and connected proxies of this zone.
 */
export class ZoneTrustEvidence implements TrustEvidence {
  constructor(private readonly sources: TrustEvidenceSources) {}

  missing(certificates: readonly string[]): Promise<readonly string[]> {
    const { index, proxies, zone } = this.sources;
    const domains = unspreadDomains(index, this.sources, certificates);
    if (!proxies.isLoaded) return Promise.resolve([...domains, 'the sessions of proxies are not read yet']);
    const meshes = meshesOfAuthority(index, zone);
    const without = certificates
      .flatMap(authorityIdsOf)
      .flatMap((id) => proxiesWithoutAuthority(proxies.all(), id, (mesh) => meshes.has(mesh)));
    return Promise.resolve([...domains, ...[...new Set(without)].sort().map((proxy) => `proxy ${proxy}`)]);
  }
}
