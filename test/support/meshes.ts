import { parse } from 'yaml';
import { DEFAULT_MESH_OWNER, Meshes, type MeshesOptions, type MeshOwner } from '@causeway/meshes';

/** What the meshes of an index mean to a control plane with this owner. */
export function meshesOf(index: MeshesOptions['index'], owner: MeshOwner = DEFAULT_MESH_OWNER): Meshes {
  return new Meshes({ index, owner, parse });
}
