import { IdentityPath, Mesh, MeshIdentity, MeshTrust } from '@causeway/kinds';
import { Label, type Labels, type LabelSelector, type Resource } from '@causeway/resources';

/** Identifies the Meshes of this control plane (rows T000-03 to T000-05, T000-14). */
export interface MeshOwner {
  /** `CAUSEWAY_MESH_CONTROLLER_NAME`; a Mesh with another `controllerName` is foreign. */
  readonly controllerName: string;
  /** `CAUSEWAY_MESH_NAME`: the Mesh that is created at the start, and the mesh of documents that name none. */
  readonly expectedName: string;
}

/**
 * Membership questions that `designate` asks: of `Meshes`, or of the state that a batch will leave (`PendingMeshes`).
 */
export interface MeshMembership {
  readonly owner: MeshOwner;
  state(name: string): { readonly terminating: boolean } | undefined;
  listCandidates(namespace: string): readonly string[];
}

/**
 * Result of designating a mesh for a new resource: the mesh, or why there is none; `reason` is the text of the refusal.
 */
export type Designation =
  | { readonly ok: true; readonly mesh: string }
  | { readonly ok: false; readonly rule: 'overlap' | 'mismatch' | 'terminating'; readonly reason: string };

/**
 * Returns the mesh of a new resource in `namespace`; `mesh` is the one that its document or path names. Selectors that
 * select the namespace decide (rows T003-21 to T003-27): if several meshes select it, none gets the resource; if one
 * does, it must agree with the named mesh; if none does, the named mesh or else the expected one gets it. A named mesh
 * that is terminating accepts nothing. Does not check that the mesh exists. Callers must look up existing resources
 * themselves: a resource stays in the mesh where it was created.
 */
export function designate(meshes: MeshMembership, namespace: string, mesh: string | undefined): Designation {
  const named = mesh === undefined ? undefined : accepting(meshes, mesh);
  if (named?.ok === false) return named;
  const candidates = meshes.listCandidates(namespace);
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

/** Returns the mesh of a new resource of a kind without namespaces: the named mesh, unless it is terminating. */
export function accepting(meshes: MeshMembership, mesh: string): Designation {
  if (meshes.state(mesh)?.terminating !== true) return { ok: true, mesh };
  const reason = `unable to create new content in mesh ${mesh} because it is being terminated`;
  return { ok: false, rule: 'terminating', reason };
}

/**
 * Returns the selector by which a Mesh gets new members; undefined if the Mesh is foreign or terminating (row T003-27).
 */
export function readMemberSelector(
  { spec, labels }: Pick<Resource, 'spec' | 'labels'>,
  { controllerName }: MeshOwner,
): LabelSelector | undefined {
  if (!Mesh.isSpec(spec) || isTerminating(labels)) return undefined;
  return (spec.controllerName ?? controllerName) === controllerName ? spec.namespaceSelector : undefined;
}

/** Reports whether the labels of a Mesh exclude new members. */
export function isTerminating(labels: Labels): boolean {
  return labels[Label.terminating] === 'true';
}

/** Value of the label `causeway.io/made-with` of a resource that was created together with its Mesh. */
export const MADE_WITH_MESH = 'Mesh';

/** Kinds of the resources that control planes create together with a Mesh and delete after it. */
export const KINDS_MADE_FOR_MESH: readonly string[] = [MeshIdentity.name, IdentityPath.name, MeshTrust.name];

/**
 * Reports whether control planes created the resource for the Mesh itself: it is deleted after the Mesh, and does not block its deletion (row
 * T003-28).
 */
export function isMadeForMesh({ id, labels }: Pick<Resource, 'id' | 'labels'>): boolean {
  if (id.kind === MeshIdentity.name || id.kind === IdentityPath.name) return labels[Label.madeWith] === MADE_WITH_MESH;
  const isPublished = labels[Label.managedBy] !== undefined || labels[Label.derivedFrom] !== undefined;
  return id.kind === MeshTrust.name && isPublished;
}
