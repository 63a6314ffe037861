import { MeshIdentity } from '@causeway/kinds';
import type { IndexReader } from '@causeway/store';
import { findMeshAuthority, meshAuthoritySecrets } from './mesh-authority';
import { compareIdentity, EGRESS_PATH, isSignedHere, countLabels, resolveTrustDomain } from './workload-id';

/** SPIFFE id of a zone's egress in a mesh. */
export interface EgressIdentity {
  readonly uri: string;
  /** Authority that signs for it: the zone's own, or that of the mesh (`Mesh.mtls`). */
  readonly authority: 'zone' | 'mesh';
}

/** Zone's egress in one mesh. */
export interface EgressSubject {
  readonly mesh: string;
  readonly zone: string;
}

/**
 * Returns the identity that all egresses of a zone have in a mesh: in the trust domain of the MeshIdentity signed by
 * this zone's authority that has the fewest labels, then the oldest, then the first by name. Without one, that of
 * `Mesh.mtls`, as in Kuma 2.14, if this control plane has its key. Undefined otherwise.
 */
export function findEgressIdentity(
  index: Pick<IndexReader, 'get' | 'ofKind'>,
  { mesh, zone }: EgressSubject,
): EgressIdentity | undefined {
  const signed = [...index.ofKind(MeshIdentity.name)]
    .filter((one) => MeshIdentity.is(one))
    .filter(
      ({ id, spec }) =>
        id.mesh === mesh &&
        (id.zone === '' || id.zone === zone) &&
        spec.selector?.dataplane &&
        isSignedHere(spec.provider),
    );
  signed.sort((a, b) => countLabels(a) - countLabels(b) || compareIdentity(a, b));
  for (const identity of signed) {
    const found = resolveTrustDomain(identity, zone);
    if (found.ok) return { uri: `spiffe://${found.trustDomain}${EGRESS_PATH}`, authority: 'zone' };
  }
  const authority = findMeshAuthority(index, mesh);
  const isHere = authority && index.get(meshAuthoritySecrets(mesh, authority.backend).key) !== undefined;
  return isHere ? { uri: `spiffe://${mesh}${EGRESS_PATH}`, authority: 'mesh' } : undefined;
}
