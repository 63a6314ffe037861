import { MeshIdentity } from '@causeway/kinds';
import { revokedIds, type ChangingIds } from '@causeway/policies';
import type { IndexReader } from '@causeway/store';
import { changingIds } from './identity-paths';
import { resolveTrustDomain } from './workload-id';

/** Trust domains of a zone in a mesh, sorted: those that identify the zone, and those that may belong to it. */
export interface ZoneDomains {
  readonly sure: readonly string[];
  readonly possible: readonly string[];
}

/** Name that no zone has: a trust domain that a template gives for it too does not identify a zone. */
const NO_ZONE = 'no-zone';

/**
 * Returns the trust domains of a zone: that of the zone's name, and those that MeshIdentities assign there. A
 * MeshIdentity that assigns the same in other zones does not identify the zone; neither does the authority of
 * `Mesh.mtls`, whose domain is the mesh. `here`: any other zone.
 */
export function computeZoneDomains(
  index: Pick<IndexReader, 'ofKind'>,
  mesh: string,
  { of, here }: { readonly of: string; readonly here: string },
): ZoneDomains {
  const sure = new Set([`${mesh}.${of}.mesh.local`]);
  const possible = new Set([mesh]);
  for (const identity of index.ofKind(MeshIdentity.name)) {
    if (!MeshIdentity.is(identity) || identity.id.mesh !== mesh) continue;
    const isThere = identity.id.zone === '' || identity.id.zone === of;
    const given = isThere ? resolveTrustDomain(identity, of) : undefined;
    if (given?.ok !== true) continue;
    const elsewhere = resolveTrustDomain(identity, of === NO_ZONE ? here : NO_ZONE);
    const isItsOwn = identity.id.zone === of || !elsewhere.ok || elsewhere.trustDomain !== given.trustDomain;
    (isItsOwn ? sure : possible).add(given.trustDomain);
  }
  return { sure: [...sure].sort(), possible: [...sure, ...possible].sort() };
}

/** Returns the zones in which the form of a mesh's ids changes, each trusted for its own trust domains only. */
export function findChangingIds(
  index: Pick<IndexReader, 'ofKind'>,
  mesh: string,
  here: string,
): readonly ChangingIds[] {
  return changingIds(index, mesh, (of) => computeZoneDomains(index, mesh, { of, here }).possible);
}

/** Returns the revoked ids of a mesh: those that its settings name, in both forms while the form of ids changes. */
export function listRevokedIds(
  index: Pick<IndexReader, 'ofKind'>,
  { mesh, zone }: { readonly mesh: string; readonly zone: string },
  revoked: readonly string[],
): readonly string[] {
  return revoked.length === 0 ? revoked : revokedIds(revoked, findChangingIds(index, mesh, zone));
}
