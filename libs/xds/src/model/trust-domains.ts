import { isTrustedHere } from '@causeway/controllers';
import { enabledBackend, type MeshAuthority } from '@causeway/identity';
import { compareText, isJsonArray, isJsonObject, type Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';

/** A trust domain and the certificates of its authorities, in PEM. */
export interface TrustDomain {
  readonly name: string;
  readonly pem: string;
}

/** The mesh whose authority of `Mesh.mtls` may be another one after a change; undefined for other changes. */
export function meshOfAuthority({ id, before, after }: IndexChange): string | undefined {
  if (id.kind === 'Secret') return id.name.startsWith(`${id.mesh}.ca-builtin-cert-`) ? id.mesh : undefined;
  if (id.kind !== 'Mesh' || enabledBackend(before?.spec) === enabledBackend(after?.spec)) return undefined;
  return id.name;
}

/**
 * The trust domains of a mesh, by name. Several MeshTrusts of one domain are one entry with the certificates of all: Envoy
 * rejects a domain that is named twice. A domain without certificates is left out. The domain of the authority of `Mesh.mtls` is
 * the name of the mesh.
 */
export function trustDomainsOf(
  trusts: Iterable<Resource>,
  mesh: string,
  here: string,
  authority?: MeshAuthority,
): readonly TrustDomain[] {
  const domains = new Map<string, Set<string>>();
  if (authority) domains.set(mesh, new Set([`${authority.certificate.trim()}\n`]));
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
