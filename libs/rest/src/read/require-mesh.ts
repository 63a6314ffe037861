import { globalIdentity, NotFound } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** Throws NotFound unless the mesh exists here (design.md §6: 404 for a mesh in the URL). */
export function requireMesh(index: IndexReader, mesh: string): void {
  if (index.get(globalIdentity('Mesh', mesh))) return;
  throw new NotFound(`Mesh ${mesh} does not exist`);
}
