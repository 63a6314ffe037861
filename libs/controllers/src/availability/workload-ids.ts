import {
  findEnabledBackend,
  selectIdentity,
  findMeshAuthority,
  meshAuthoritySecrets,
  listKumaSpiffeIds,
  readPresetPath,
  listSpiffeIds,
  type MeshIdentityResource,
  groupIdentitiesByMesh,
} from '@causeway/identity';
import { compareText, type JsonObject } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { DataplaneResource, ServiceResource } from '@causeway/dataplanes';

/** Maximum number of ids of one service: the limit of the kind. */
const MAX_IDENTITIES = 1_024;

/** `spec.identities` of a MeshService. */
export type ServiceIdentities = NonNullable<ServiceResource['spec']['identities']>;

/**
 * The SPIFFE ids of Dataplanes by the MeshIdentities of their meshes. An id is computed once for each stored state of a Dataplane; MeshIdentities are
 * read at the first id after the last `reset`.
 */
export class WorkloadIds {
  private byMesh: ReadonlyMap<string, readonly MeshIdentityResource[]> = new Map();
  /** Meshes whose `Mesh.mtls` authority signs in this zone. */
  private signed: ReadonlySet<string> = new Set();
  /** The index from which the forms of preset paths are read. */
  private index: Pick<IndexReader, 'get'> | undefined;
  /** The index to read before the next id. */
  private unread: Pick<IndexReader, 'get' | 'ofKind'> | undefined;
  private known = new WeakMap<DataplaneResource, readonly string[]>();

  /** Makes the next id read the MeshIdentities and the authorities of meshes again: many changes cost one read. */
  reset(index: Pick<IndexReader, 'get' | 'ofKind'>): void {
    this.unread = index;
  }

  private read(index: Pick<IndexReader, 'get' | 'ofKind'>): void {
    this.index = index;
    this.byMesh = groupIdentitiesByMesh(index);
    this.signed = new Set([...index.ofKind('Mesh')].map(({ id }) => id.name).filter((mesh) => canSign(index, mesh)));
    this.known = new WeakMap();
  }

  /**
   * Returns the ids of a Dataplane: the one of its MeshIdentity, and while the form of ids changes also the previous one; without a MeshIdentity
   * those of `Mesh.mtls`, if this zone can sign for the mesh; empty if the MeshIdentity that selects it gives it no id.
   */
  listIds(dataplane: DataplaneResource): readonly string[] {
    if (this.unread) this.read(this.unread);
    this.unread = undefined;
    const known = this.known.get(dataplane);
    if (known) return known;
    const identity = selectIdentity(dataplane, this.byMesh.get(dataplane.id.mesh) ?? []);
    const ids =
      identity && this.index ? listSpiffeIds(dataplane, identity, readPresetPath(this.index, dataplane.id)) : [];
    const uris = !identity && this.signed.has(dataplane.id.mesh) ? listKumaSpiffeIds(dataplane) : ids;
    this.known.set(dataplane, uris);
    return uris;
  }
}

/** Reports whether this zone has the key of a mesh's authority: under a Kuma global only. */
function canSign(index: Pick<IndexReader, 'get'>, mesh: string): boolean {
  const authority = findMeshAuthority(index, mesh);
  return authority !== undefined && index.get(meshAuthoritySecrets(mesh, authority.backend).key) !== undefined;
}

/** Reports whether a change may add or remove ids of `Mesh.mtls`. */
export function movesMeshAuthority({ id, before, after }: IndexChange): boolean {
  if (id.kind === 'Secret') return id.name.startsWith(`${id.mesh}.ca-builtin-`) && (!before || !after);
  return id.kind === 'Mesh' && findEnabledBackend(before?.spec) !== findEnabledBackend(after?.spec);
}

/** Returns the identities of a service with these SPIFFE ids, sorted; only the first ones up to the limit of the kind. */
export function serviceIdentities(uris: Iterable<string>): ServiceIdentities {
  const sorted = [...new Set(uris)].sort(compareText).slice(0, MAX_IDENTITIES);
  return sorted.map((value) => ({ type: 'SpiffeID', value }));
}

/** Returns the part of a spec with the identities; without any the field is left out. */
export function identitiesPart(identities: ServiceIdentities): JsonObject {
  return identities.length === 0 ? {} : { identities: identities.map(({ type, value }) => ({ type, value })) };
}
