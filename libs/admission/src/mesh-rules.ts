import {
  Conflict,
  describeIdentity,
  globalIdentity,
  Unavailable,
  type Identity,
  type Registry,
  type Resource,
} from '@causeway/resources';
import { withDeadline, type Clock } from '@causeway/runtime';
import type { MeshOwner } from '@causeway/meshes';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { ConfiguredFields } from './validate-draft';

/** A resource cannot be deleted because other resources need it; the message names them. */
export class InUse extends Conflict {}

const CATCH_UP_TIMEOUT = 5_000;

/** What a control plane fills into documents: its `controllerName` into a Mesh that names nobody (row T000-06). */
export function configuredFields({ controllerName }: MeshOwner): ConfiguredFields {
  return { Mesh: { controllerName } };
}

/** True if the mesh exists. Reads the store if the index does not have it yet. */
export async function meshExists(mesh: string, store: ResourceStore, index: IndexReader): Promise<boolean> {
  const id: Identity = globalIdentity('Mesh', mesh);
  return index.get(id) !== undefined || (await store.get(id)) !== undefined;
}

/** Throws InUse if `mesh` has members, whatever their zone (docs/design.md §5, Deleting a Mesh). */
export function checkMeshEmpty(mesh: string, registry: Registry, index: IndexReader): void {
  const members = registry.kinds
    .filter((kind) => kind.scope === 'mesh')
    .flatMap((kind) => [...index.ofKind(kind.name)].filter((r: Resource) => r.id.mesh === mesh));
  if (members.length === 0) return;
  const named = members.slice(0, 5).map((member) => describeIdentity(member.id));
  const more = members.length > named.length ? ` and ${members.length - named.length} more` : '';
  throw new InUse(`Mesh ${mesh} is in use by ${named.join(', ')}${more}; delete them first`);
}

/** Waits until the index holds everything committed before the call: up to the revision. Throws Unavailable after 5 s. */
export async function catchUp(store: ResourceStore, index: IndexReader, clock: Clock): Promise<number> {
  const { revision } = await store.head();
  const tooLate = new Unavailable(`this replica has not reached revision ${revision} yet; try again`);
  await withDeadline(clock, CATCH_UP_TIMEOUT, tooLate, (signal) => index.reached(revision, signal));
  return revision;
}
