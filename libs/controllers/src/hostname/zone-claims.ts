import { parseGenerator, SERVICE_KINDS, type ClaimTable } from '@causeway/naming';
import { identityKey, isMadeHere, type ControlPlane, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { unreachableReason } from './unreachable';

/** The kinds that get hostnames. */
export const NAMED_KINDS: readonly string[] = Object.values(SERVICE_KINDS);

/** The control plane of a zone: only zones name services. */
export type ZoneControlPlane = Extract<ControlPlane, { role: 'zone' }>;

/**
 * Takes everything in `index` into `table`, one row a step; yields it. Changes of the index in between are given to
 * `applyToClaims` as ever: each row is met as it is then, and meeting it twice changes nothing.
 */
export function* fillClaims(table: ClaimTable, index: IndexReader, cp: ZoneControlPlane): Generator<Resource> {
  // Rules before services: then each service makes its claims in one go.
  for (const kind of ['Mesh', 'HostnameGenerator', ...NAMED_KINDS]) {
    for (const resource of index.ofKind(kind)) {
      put(table, identityKey(resource.id), resource, cp);
      yield resource;
    }
  }
}

/** Takes one change of the index into `table`; what has nothing to do with hostnames changes nothing. */
export function applyToClaims(table: ClaimTable, { key, id, after }: IndexChange, cp: ZoneControlPlane): void {
  if (after) put(table, key, after, cp);
  else if (id.kind === 'Mesh') table.removeMesh(id.name);
  else if (id.kind === 'HostnameGenerator') table.removeGenerator(key);
  else if (NAMED_KINDS.includes(id.kind)) table.removeService(key);
}

function put(table: ClaimTable, key: string, resource: Resource, cp: ZoneControlPlane): void {
  const { kind, name } = resource.id;
  if (kind === 'Mesh') table.addMesh(name);
  else if (kind === 'HostnameGenerator') table.upsertGenerator(parseGenerator(resource, isMadeHere(resource, cp)));
  else if (NAMED_KINDS.includes(kind)) table.upsertService(resource, key, unreachableReason(resource));
}
