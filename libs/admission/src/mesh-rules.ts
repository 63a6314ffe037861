import {
  accepting,
  KINDS_MADE_FOR_MESH,
  designate,
  isMadeForMesh,
  type Designation,
  type MeshMembership,
  type Meshes,
  type MeshOwner,
} from '@causeway/meshes';
import { MetaresourceDefinition } from '@causeway/kinds';
import {
  Conflict,
  FieldPath,
  globalIdentity,
  Invalid,
  ownZone,
  type Identity,
  type Kind,
  type Registry,
  type ViolationRule,
} from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import { waitUntilReached, type IndexReader, type ReadSet, type ResourceStore } from '@causeway/store';
import type { AdmissionParts } from './admission-parts';
import { draftIdentity, type DecodedDocument } from './document/document';
import type { ConfiguredFields } from './validate-draft';

/** A resource cannot be deleted because other resources need it; the message counts them. */
export class InUse extends Conflict {}

/** The kinds from which `designate` decides the mesh of a namespace. */
const MEMBERSHIP_KINDS = ['Mesh', 'Namespace'];

const RULES: Readonly<Record<Extract<Designation, { ok: false }>['rule'], ViolationRule>> = {
  overlap: 'MeshMembershipConflict',
  mismatch: 'MeshMembershipMismatch',
  terminating: 'MeshTerminating',
};

const READ_ONLY = 'is read-only: the mesh is the one whose namespaceSelector selects the namespace; leave it out';

/** The wording of App Mesh's controller (T003-24). */
const noMesh = (namespace: string): string =>
  `failed to find matching mesh for namespace: ${namespace}, expecting 1 but found 0`;

/**
 * Returns default fields that a control plane adds to documents: its `controllerName` for a Mesh without one (row
 * T000-06).
 */
export function configuredFields({ controllerName }: MeshOwner): ConfiguredFields {
  return { Mesh: { controllerName } };
}

/** Returns whether the mesh exists. Reads the store if the index does not have it yet. */
export async function meshExists(mesh: string, store: ResourceStore, meshes: Meshes): Promise<boolean> {
  return meshes.state(mesh) !== undefined || (await store.get(globalIdentity('Mesh', mesh))) !== undefined;
}

/**
 * Returns the document with its mesh. If it names none: the one mesh that has a resource of its kind, namespace and name
 * (which stays there, row T003-25), else the mesh of its namespace, else the expected one. For a namespace of several
 * meshes it picks one, which `checkNewMember` refuses. Costs one look-up for each mesh that has resources of the kind.
 */
export function assignMesh(
  decoded: DecodedDocument,
  { index, controlPlane }: Pick<AdmissionParts, 'index' | 'controlPlane'>,
  meshes: MeshMembership,
): DecodedDocument {
  const { draft, namesMesh } = decoded;
  if (namesMesh) return decoded;
  const inMesh = (mesh: string): DecodedDocument => ({ ...decoded, draft: { ...draft, mesh } });
  const { expectedName } = meshes.owner;
  if (!draft.kind.namespaced) return inMesh(expectedName);
  const id = draftIdentity(draft, ownZone(controlPlane));
  const meshesOfKind = [...index.countByMesh(draft.kind.name).keys()];
  const [holder, ...others] = meshesOfKind.filter(
    (mesh) => meshes.state(mesh) !== undefined && index.get({ ...id, mesh }) !== undefined,
  );
  if (holder !== undefined && others.length === 0) return inMesh(holder);
  const [candidate = expectedName] = meshes.listCandidates(draft.namespace);
  return inMesh(candidate);
}

/**
 * Throws Invalid if a new resource may not be created in its mesh; `meshInBody`: its document names that mesh, which
 * documents of App Mesh's kinds do not (T003-25).
 */
export function checkNewMember(
  kind: Kind,
  { mesh, namespace }: Identity,
  meshes: MeshMembership,
  meshInBody: boolean,
): void {
  if (kind.scope !== 'mesh') return;
  const at = FieldPath.at('mesh');
  const isSelected = kind.meshFrom === 'namespace';
  if (isSelected && meshInBody) throw new Invalid([at.violation(READ_ONLY, 'not-allowed')]);
  if (!meshes.state(mesh)) throw new Invalid([at.violation(`there is no mesh "${mesh}"`)]);
  const designation = kind.namespaced ? designate(meshes, namespace, mesh) : accepting(meshes, mesh);
  const isLost = designation.ok && isSelected && meshes.listCandidates(namespace).length === 0;
  if (isLost) throw new Invalid([at.violation(noMesh(namespace), RULES.overlap)]);
  if (designation.ok) return;
  throw new Invalid([at.violation(designation.reason, RULES[designation.rule])]);
}

/**
 * Returns the read set from which a write of these kinds was decided: for members of meshes the reads of
 * `checkNewMember`, for declared kinds their definitions too; nothing for other kinds.
 */
export function membershipRead(made: readonly Kind[], revision = 0): { readonly unchanged?: ReadSet } {
  if (!made.some(({ scope }) => scope === 'mesh')) return {};
  const isDeclared = made.some(({ declaredBy }) => declaredBy !== '');
  const kinds = isDeclared ? [...MEMBERSHIP_KINDS, MetaresourceDefinition.name] : MEMBERSHIP_KINDS;
  return { unchanged: { revision, kinds } };
}

/**
 * Returns a text with the members of a mesh by kind, from all zones, except those that control planes created for the Mesh:
 * `MeshService: 2, Dataplane: 1`; undefined if there are none. The wording of the refusal is the seed's (row T003-28).
 */
export function describeMembers(mesh: string, registry: Registry, index: IndexReader): string | undefined {
  const counts = registry.kinds
    .filter((kind) => kind.scope === 'mesh')
    .map(({ name }) => ({ name, count: memberCount(name, mesh, index) }));
  const found = counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  if (found.length === 0) return undefined;
  const listed = found.map(({ name, count }) => `${name}: ${count}`).join(', ');
  return `objects belong to this mesh exists, please delete them to proceed. ${listed}`;
}

function memberCount(kind: string, mesh: string, index: IndexReader): number {
  const all = index.countByMesh(kind).get(mesh) ?? 0;
  if (all === 0 || !KINDS_MADE_FOR_MESH.includes(kind)) return all;
  return [...index.ofKind(kind)].filter((one) => one.id.mesh === mesh && !isMadeForMesh(one)).length;
}

/** Waits until the index holds everything committed before the call: up to the revision. Throws Unavailable after 5 s. */
export async function catchUp(store: ResourceStore, index: IndexReader, clock: Clock): Promise<number> {
  const { revision } = await store.head();
  await waitUntilReached(index, revision, clock);
  return revision;
}
