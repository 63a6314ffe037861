import type { Meshes } from '@causeway/meshes';
import { parseGenerator, SERVICE_KINDS, type ClaimTable } from '@causeway/naming';
import {
  findCondition,
  identityKey,
  isMadeHere,
  Label,
  type ControlPlane,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { GENERATOR } from '../services/plan-service';
import { VIP_ALLOCATED } from '../vip/vip-status';

/** The kinds that get hostnames. */
export const NAMED_KINDS: readonly string[] = Object.values(SERVICE_KINDS);

/** The control plane of a zone; the global gives no hostnames. */
export type ZoneControlPlane = Extract<ControlPlane, { role: 'zone' }>;

/** The meshes that have hostnames; without it those that have a Mesh. */
export type ServedMeshes = Pick<Meshes, 'served' | 'isServed' | 'state'>;

/** The owner of the claims of a table. */
export interface ClaimsOf {
  readonly cp: ZoneControlPlane;
  readonly meshes?: ServedMeshes | undefined;
}

/**
 * Puts every row of `index` with claims into `table`, one row a step, and yields it. Changes of the index between two steps go to `applyToClaims` as
 * usual; a row may be put twice without effect.
 */
export function* fillClaims(table: ClaimTable, index: IndexReader, of: ClaimsOf): Generator<Resource> {
  fillMeshes(table, index, of.meshes);
  // Generators before services: then each service makes all its claims at once.
  for (const kind of ['HostnameGenerator', ...NAMED_KINDS]) {
    for (const resource of index.ofKind(kind)) {
      put(table, identityKey(resource.id), resource, of.cp);
      yield resource;
    }
  }
}

/** Adds the meshes that have hostnames. */
export function fillMeshes(table: ClaimTable, index: IndexReader, meshes: ServedMeshes | undefined): void {
  if (!meshes) for (const { id } of index.ofKind('Mesh')) table.addMesh(id.name);
  for (const { name } of meshes?.served() ?? []) table.addMesh(name);
}

/** Applies one change of the index to `table`; a change of another kind does nothing. */
export function applyToClaims(table: ClaimTable, { key, id, after }: IndexChange, { cp, meshes }: ClaimsOf): void {
  if (id.kind === 'Mesh') applyMesh(table, id.name, meshes ? meshes.isServed(id.name) : after !== undefined);
  else if (after) put(table, key, after, cp);
  else if (id.kind === 'HostnameGenerator') table.removeGenerator(key);
  else if (NAMED_KINDS.includes(id.kind)) table.removeService(key);
}

function applyMesh(table: ClaimTable, name: string, isServed: boolean): void {
  if (isServed) table.addMesh(name);
  else table.removeMesh(name);
}

function put(table: ClaimTable, key: ResourceKey, resource: Resource, cp: ZoneControlPlane): void {
  const { kind } = resource.id;
  if (kind === 'HostnameGenerator') table.upsertGenerator(parseGenerator(resource, isMadeHere(resource, cp)));
  else if (NAMED_KINDS.includes(kind)) table.upsertService(resource, key, unreachableReason(resource));
}

/**
 * Returns why a service cannot be reached by its names, which are then NotAvailable; undefined if unknown. A generated service without available
 * instances is unreachable in every zone, because its state is synced. A service that a user wrote may be served without Dataplanes, so its state is
 * no reason. A pending allocation of an address is no reason; an exhausted range is.
 */
function unreachableReason({ labels, spec, status }: Resource): string | undefined {
  if (labels[Label.managedBy] === GENERATOR && spec['state'] === 'Unavailable')
    return 'unreachable: none of its instances is available';
  if (status === undefined || status['vip'] !== undefined) return undefined;
  const denied = findCondition(status, VIP_ALLOCATED);
  if (denied?.['status'] !== 'False') return undefined;
  const { message } = denied;
  return `unreachable: it has no virtual IP${typeof message === 'string' ? `, ${message}` : ''}`;
}
