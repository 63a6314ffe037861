import { MeshIdentity } from '@causeway/kinds';
import type { IndexReader } from '@causeway/store';
import { findMeshAuthority, meshAuthoritySecrets } from './mesh-authority';
import { compareIdentity, EGRESS_PATH, isSignedHere, labelCount, resolveTrustDomain } from './workload-id';

/** The SPIFFE id of a zone's egress in a mesh. */
export interface EgressIdentity {
  readonly uri: string;
  /** Authority that signs for it: the zone's own, or that of the mesh (`Mesh.mtls`). */
  readonly authority: 'zone' | 'mesh';
}

/** A zone's egress in one mesh. */
export interface EgressSubject {
  readonly mesh: string;
  readonly zone: string;
}

/**
 * The identity of a zone's egress in a mesh, that all egresses of the zone have: in the trust domain of the MeshIdentity with the fewest
 * labels that this zone's authority signs for, then the oldest, then the first by name. In a mesh without one it is of `Mesh.mtls`, as
 * in Kuma 2.14, where the key of that authority is in this control plane. Undefined where there is neither.
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
  signed.sort((a, b) => labelCount(a) - labelCount(b) || compareIdentity(a, b));
  for (const identity of signed) {
    const found = resolveTrustDomain(identity, zone);
    if (found.ok) return { uri: `spiffe://${found.trustDomain}${EGRESS_PATH}`, authority: 'zone' };
  }
  const authority = findMeshAuthority(index, mesh);
  const isHere = authority && index.get(meshAuthoritySecrets(mesh, authority.backend).key) !== undefined;
  return isHere ? { uri: `spiffe://${mesh}${EGRESS_PATH}`, authority: 'mesh' } : undefined;
}
