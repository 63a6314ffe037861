import { IdentityPath, Mesh, MeshIdentity, MeshTrust } from '@causeway/kinds';
import { Label, type Labels, type LabelSelector, type Resource } from '@causeway/resources';

/** By what a control plane knows its Meshes (rows T000-03 to T000-05, T000-14). */
export interface MeshOwner {
  /** `CAUSEWAY_MESH_CONTROLLER_NAME`; a Mesh with another `controllerName` is somebody else's. */
  readonly controllerName: string;
  /** `CAUSEWAY_MESH_NAME`: the Mesh that is made at the start, and the mesh of documents that name none. */
  readonly expectedName: string;
}

/** What a designation asks: `Meshes`, or those that a batch is going to leave (`PendingMeshes`). */
export interface MeshMembership {
  readonly owner: MeshOwner;
  state(name: string): { readonly terminating: boolean } | undefined;
  candidatesOf(namespace: string): readonly string[];
}

/** To which mesh a new resource of a namespace belongs, or why to none; `reason` is the text of the refusal. */
export type Designation =
  | { readonly ok: true; readonly mesh: string }
  | { readonly ok: false; readonly rule: 'overlap' | 'mismatch' | 'terminating'; readonly reason: string };

/**
 * The mesh of a new resource in `namespace`; `mesh` is what its document or path names. Selectors that select the namespace
 * decide (rows T003-21 to T003-27): of several meshes none gets it; one must agree with what is named; without any it is
 * the named mesh, or the expected one; a named mesh that is terminating takes nothing. Whether that mesh exists is not asked here. Look-ups of resources that exist are the
 * caller's: a resource stays in the mesh where it was made.
 */
export function designate(meshes: MeshMembership, namespace: string, mesh: string | undefined): Designation {
  const named = mesh === undefined ? undefined : accepting(meshes, mesh);
  if (named?.ok === false) return named;
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
  return accepting(meshes, candidate ?? mesh ?? meshes.owner.expectedName);
}

/** As `designate`, for a new resource of a kind without namespaces: the mesh that it names, unless that is terminating. */
export function accepting(meshes: MeshMembership, mesh: string): Designation {
  if (meshes.state(mesh)?.terminating !== true) return { ok: true, mesh };
  const reason = `unable to create new content in mesh ${mesh} because it is being terminated`;
  return { ok: false, rule: 'terminating', reason };
}

/** The selector by which a Mesh gets new members: none where it is somebody else's or terminating (row T003-27). */
export function readMemberSelector(
  { spec, labels }: Pick<Resource, 'spec' | 'labels'>,
  { controllerName }: MeshOwner,
): LabelSelector | undefined {
  if (!Mesh.isSpec(spec) || isTerminating(labels)) return undefined;
  return (spec.controllerName ?? controllerName) === controllerName ? spec.namespaceSelector : undefined;
}

/** Whether the labels of a Mesh say that it takes no new members. */
export function isTerminating(labels: Labels): boolean {
  return labels[Label.terminating] === 'true';
}

/** The value of the label `causeway.io/made-with` of a resource that was made with its Mesh. */
export const MADE_WITH_MESH = 'Mesh';

/** The kinds of which control planes make resources with a Mesh, which go after it. */
export const KINDS_MADE_FOR_MESH: readonly string[] = [MeshIdentity.name, IdentityPath.name, MeshTrust.name];

/** Whether control planes made it for the Mesh itself: it goes after the Mesh, and so does not keep it (row T003-28). */
export function isMadeForMesh({ id, labels }: Pick<Resource, 'id' | 'labels'>): boolean {
  if (id.kind === MeshIdentity.name || id.kind === IdentityPath.name) return labels[Label.madeWith] === MADE_WITH_MESH;
  const isPublished = labels[Label.managedBy] !== undefined || labels[Label.derivedFrom] !== undefined;
  return id.kind === MeshTrust.name && isPublished;
}
