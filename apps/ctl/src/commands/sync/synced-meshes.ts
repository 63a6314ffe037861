import { parse } from 'yaml';
import type { ApiClient } from '@causeway/api-client';
import { DEFAULT_MESH_OWNER, Meshes, type MeshState } from '@causeway/meshes';
import {
  identityKey,
  isJsonObject,
  ownField,
  type JsonObject,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';
import { toResource, toSelection } from '../../refs';
import { textAt } from '../../render';

/**
 * Returns the meshes that a global serves, with their parameters: `config` are its settings. Parameters objects are listed only if a Mesh names one,
 * because older globals do not know their kinds.
 */
export async function servedMeshes(
  global: ApiClient,
  registry: Registry,
  config: JsonObject,
): Promise<readonly MeshState[]> {
  const meshes = await listKind(global, registry.kind('Mesh'));
  const named = new Set(meshes.map(({ spec }) => textIn(spec['parametersRef'], 'kind')));
  const rows = [...meshes];
  for (const kind of ['MeshParameters', 'ConfigMap']) {
    if (named.has(kind)) rows.push(...(await listKind(global, registry.kind(kind))));
  }
  const byKey = new Map(rows.map((row) => [identityKey(row.id), row]));
  const index = {
    get: (id: Resource['id']) => byKey.get(identityKey(id)),
    ofKind: (kind: string) => rows.filter(({ id }) => id.kind === kind),
    getVersion: () => 1,
  };
  const owner = {
    expectedName: textAt(config, 'CAUSEWAY_MESH_NAME') || DEFAULT_MESH_OWNER.expectedName,
    controllerName: textAt(config, 'CAUSEWAY_MESH_CONTROLLER_NAME') || DEFAULT_MESH_OWNER.controllerName,
  };
  return new Meshes({ index, owner, parse }).served();
}

/** Returns all resources of a kind at a control plane; empty for a kind that is unknown here. */
export async function listKind(api: ApiClient, kind: Kind | undefined): Promise<readonly Resource[]> {
  if (!kind) return [];
  // Of two Meshes with one range the older keeps it.
  return (await api.list(toSelection(kind, {}))).documents.map((item) => ({
    ...toResource(kind, item),
    creationOrder: Date.parse(textAt(item, 'creationTime')) || 0,
  }));
}

function textIn(value: unknown, field: string): string {
  const found = isJsonObject(value) ? ownField(value, field) : undefined;
  return typeof found === 'string' ? found : '';
}
