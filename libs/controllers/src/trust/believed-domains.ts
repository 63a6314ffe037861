import { compareText, type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** Maximum number of trust domains of a mesh that its status names. */
const MAX_DOMAINS = 1_024;

/** Reports whether proxies of a zone trust a MeshTrust: the zone's own and the global's. */
export function isTrustedHere({ kind, zone }: Identity, here: string): boolean {
  return kind === 'MeshTrust' && (zone === here || zone === '');
}

/** Returns the trust domains that proxies of a zone accept in a mesh, sorted. Linear in the MeshTrusts. */
export function believedDomains(index: IndexReader, mesh: string, here: string): readonly string[] {
  const domains = new Set<string>();
  for (const { id, spec } of index.ofKind('MeshTrust')) {
    const { trustDomain } = spec;
    if (isTrustedHere(id, here) && id.mesh === mesh && typeof trustDomain === 'string') domains.add(trustDomain);
  }
  return [...domains].sort(compareText).slice(0, MAX_DOMAINS);
}
