import { certificatesOfTrust, isTrustedHere, readBundle } from '@causeway/controllers';
import { findEnabledBackend, type MeshAuthority } from '@causeway/identity';
import { compareText, type Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';

/** A trust domain and the certificates of its authorities, in PEM. */
export interface TrustDomain {
  readonly name: string;
  readonly pem: string;
}

/** Returns the mesh whose `Mesh.mtls` authority a change may replace; undefined for other changes. */
export function meshOfAuthority({ id, before, after }: IndexChange): string | undefined {
  if (id.kind === 'Secret') return id.name.startsWith(`${id.mesh}.ca-builtin-cert-`) ? id.mesh : undefined;
  if (id.kind !== 'Mesh' || findEnabledBackend(before?.spec) === findEnabledBackend(after?.spec)) return undefined;
  return id.name;
}

/**
 * Returns the trust domains of a mesh, by name. MeshTrusts of one domain become one entry with all their certificates, because Envoy rejects a domain
 * that is named twice. Texts that are not the certificate of an authority are left out, and so are domains without any: Envoy would reject the whole
 * secret. Expired certificates stay: Envoy accepts no peer by them. The domain of the `Mesh.mtls` authority is the name of the mesh.
 */
export function computeTrustDomains(
  trusts: Iterable<Resource>,
  mesh: string,
  here: string,
  authority?: MeshAuthority,
): readonly TrustDomain[] {
  const domains = new Map<string, Set<string>>();
  const shared = new Set(authority ? readBundle(authority.certificate, '').usable.map(({ pem }) => pem) : []);
  if (shared.size > 0) domains.set(mesh, shared);
  for (const trust of trusts) {
    const { id, spec } = trust;
    const { trustDomain } = spec;
    if (!isTrustedHere(id, here) || id.mesh !== mesh || typeof trustDomain !== 'string' || trustDomain === '') continue;
    const bundles = domains.get(trustDomain) ?? new Set();
    for (const { pem } of certificatesOfTrust(trust).usable) bundles.add(pem);
    if (bundles.size > 0) domains.set(trustDomain, bundles);
  }
  return [...domains]
    .map(([name, bundles]) => ({ name, pem: [...bundles].sort().join('') }))
    .sort((a, b) => compareText(a.name, b.name));
}
