import { isTrustedHere } from '@causeway/controllers';
import { compareText, isJsonArray, isJsonObject, type Resource } from '@causeway/resources';

/** A trust domain and the certificates of its authorities, in PEM. */
export interface TrustDomain {
  readonly name: string;
  readonly pem: string;
}

/**
 * The trust domains of a mesh, by name. Several MeshTrusts of one domain are one entry with the certificates of all: Envoy
 * rejects a domain that is named twice. A domain without certificates is left out.
 */
export function trustDomainsOf(trusts: Iterable<Resource>, mesh: string, here: string): readonly TrustDomain[] {
  const domains = new Map<string, Set<string>>();
  for (const { id, spec } of trusts) {
    const { trustDomain, caBundles } = spec;
    if (!isTrustedHere(id, here) || id.mesh !== mesh || typeof trustDomain !== 'string' || trustDomain === '') continue;
    const bundles = domains.get(trustDomain) ?? new Set();
    for (const bundle of isJsonArray(caBundles) ? caBundles : []) {
      const pem = isJsonObject(bundle) && isJsonObject(bundle['pem']) ? bundle['pem']['value'] : undefined;
      if (typeof pem === 'string' && pem.trim() !== '') bundles.add(`${pem.trim()}\n`);
    }
    if (bundles.size > 0) domains.set(trustDomain, bundles);
  }
  return [...domains]
    .map(([name, bundles]) => ({ name, pem: [...bundles].sort().join('') }))
    .sort((a, b) => compareText(a.name, b.name));
}
