import type { Meshes } from './meshes';

/** To which mesh a new resource of a namespace belongs, or why to none; `reason` is the text of the refusal. */
export type Designation =
  | { readonly ok: true; readonly mesh: string }
  | { readonly ok: false; readonly rule: 'overlap' | 'mismatch' | 'terminating'; readonly reason: string };

/**
 * The mesh of a new resource in `namespace`; `mesh` is what its document or path names. Selectors that select the namespace
 * decide (rows T003-21 to T003-27): of several meshes none gets it; one must agree with what is named; without any it is
 * the named mesh, or the expected one. Whether that mesh exists is not asked here. Look-ups of resources that exist are the
 * caller's: a resource stays in the mesh where it was made.
 */
export function designate(meshes: Meshes, namespace: string, mesh: string | undefined): Designation {
  const candidates = meshes.candidatesOf(namespace);
  if (candidates.length > 1) {
    return {
      ok: false,
      rule: 'overlap',
      reason: `found multiple matching meshes for namespace: ${namespace}, expecting 1 but found ${candidates.length}: ${candidates.join(',')}`,
    };
  }
  const [candidate] = candidates;
  if (candidate !== undefined && mesh !== undefined && mesh !== candidate) {
    return {
      ok: false,
      rule: 'mismatch',
      reason: `namespace "${namespace}" belongs to mesh "${candidate}" by its namespaceSelector; got mesh "${mesh}"`,
    };
  }
  const designated = candidate ?? mesh ?? meshes.owner.expectedName;
  if (meshes.state(designated)?.terminating === true) {
    return {
      ok: false,
      rule: 'terminating',
      reason: `unable to create new content in mesh ${designated} because it is being terminated`,
    };
  }
  return { ok: true, mesh: designated };
}
