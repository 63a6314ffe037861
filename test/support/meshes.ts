import { parse } from 'yaml';
import { DEFAULT_MESH_OWNER, Meshes, type MeshOwner } from '@causeway/meshes';
import type { MeshesOptions } from '@causeway/meshes/testing';

/** Returns the meshes of an index for a control plane with this owner. */
export function meshesOf(index: MeshesOptions['index'], owner: MeshOwner = DEFAULT_MESH_OWNER): Meshes {
  return new Meshes({ index, owner, parse });
}

/** The same in a zone with these ranges by kind. */
export function meshesOfZone(index: MeshesOptions['index'], ranges: Readonly<Record<string, string>>): Meshes {
  const settings = Object.entries(ranges).map(([owner, range]) => ({ owner, range }));
  return new Meshes({ index, owner: DEFAULT_MESH_OWNER, parse, zoneRanges: { settings, force: false } });
}
