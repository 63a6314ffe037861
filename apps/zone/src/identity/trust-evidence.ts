import {
  meshesOfAuthority,
  proxiesWithoutAuthority,
  unspreadDomains,
  zonesWithout,
  type ProxyDirectory,
} from '@causeway/controllers';
import { listAuthorityIds, type TrustEvidence, type TrustGaps } from '@causeway/identity';
import { MeshTrust } from '@causeway/kinds';
import type { IndexReader } from '@causeway/store';

/** Sources of the evidence of a zone. */
export interface TrustEvidenceSources {
  readonly index: IndexReader;
  /** The proxies of the zone at all replicas. */
  readonly proxies: Pick<ProxyDirectory, 'all' | 'isLoaded' | 'heardUpTo'>;
  readonly zone: string;
  readonly isFederated: boolean;
}

/**
 * Finds the zones and proxies that have not received the authorities of the zone: zones without its trust domains, connected proxies of this zone,
 * and those of other zones.
 */
export class ZoneTrustEvidence implements TrustEvidence {
  constructor(private readonly sources: TrustEvidenceSources) {}

  gaps(certificates: readonly string[]): Promise<TrustGaps> {
    const { index, proxies, zone, isFederated } = this.sources;
    const domains = unspreadDomains(index, this.sources, certificates);
    if (!proxies.isLoaded)
      return Promise.resolve({ missing: [...domains, 'the sessions of proxies are not read yet'], unheard: [] });
    const meshes = meshesOfAuthority(index, zone);
    const ids = certificates.flatMap(listAuthorityIds);
    const without = ids.flatMap((id) => proxiesWithoutAuthority(proxies.all(), id, (mesh) => meshes.has(mesh)));
    const own = [...new Set(without)].sort().map((proxy) => `proxy ${proxy}`);
    const unknown = this.isHeard() ? [] : ['not all proxies are known that connected before the trust was sent'];
    const others = isFederated ? zonesWithout(index, { zone, meshes }, ids) : { missing: [], unheard: [] };
    return Promise.resolve({ missing: [...domains, ...own, ...unknown, ...others.missing], unheard: others.unheard });
  }

  /** Reports whether each replica has reported its proxies since the trust changed: the trust that the global distributes, else the zone's own. */
  private isHeard(): boolean {
    const { index, proxies, zone, isFederated } = this.sources;
    const heardUpTo = proxies.heardUpTo(index.point?.incarnation ?? '');
    for (const { id, revision } of index.ofKind(MeshTrust.name))
      if (id.zone === (isFederated ? '' : zone) && revision > heardUpTo) return false;
    return true;
  }
}
