import { ApiError, type ApiClient } from '@causeway/api-client';
import { deriveAwsName, isCovered, suffixFor } from '@causeway/appmesh';
import { isJsonObject, namespaceLabels, selectsLabels, type JsonObject, type LabelSelector } from '@causeway/resources';
import type { SourceDocument } from '../../documents';
import { objectAt, textAt, textsAt } from '../../render';
import { selectorAt, textsIn } from './selectors';

/** The MeshNaming that an import writes. */
const NAME = 'imported';

/** The suffixes that a mesh lacks for the names of imported VirtualServices. */
export interface LackingSuffixes {
  readonly mesh: string;
  /** All suffixes for the MeshNaming `imported`: existing and missing ones. */
  readonly all: readonly string[];
  readonly lacking: readonly string[];
}

/** Facts about a mesh, from files or from the control plane. */
interface MeshFacts {
  readonly selectors: Map<string, LabelSelector>;
  readonly namespaces: Map<string, Readonly<Record<string, string>>>;
  readonly suffixes: Map<string, Set<string>>;
  /** The suffixes of MeshNamings that an earlier import wrote. */
  readonly imported: Map<string, readonly string[]>;
}

/**
 * Returns the suffixes that an operator must set so that each imported VirtualService has its name, by mesh. The mesh is the one whose
 * `namespaceSelector` selects the namespace, in the files and, with an `api`, at the control plane; a service of no mesh, or of several, is refused
 * anyway.
 */
export async function lackingSuffixes(
  documents: readonly SourceDocument[],
  api?: Pick<ApiClient, 'list'>,
): Promise<readonly LackingSuffixes[]> {
  const facts: MeshFacts = { selectors: new Map(), namespaces: new Map(), suffixes: new Map(), imported: new Map() };
  if (api) await addStored(facts, api);
  const values = documents.map(({ value }) => value).filter(isJsonObject);
  for (const value of values) addManifest(facts, value);
  const lacking = new Map<string, Set<string>>();
  for (const value of values.filter((one) => textAt(one, 'kind') === 'VirtualService')) {
    const namespace = textAt(value, 'metadata', 'namespace') || 'default';
    const name = textAt(value, 'metadata', 'name');
    const awsName = textAt(value, 'spec', 'awsName') || deriveAwsName('VirtualService', { name, namespace });
    const mesh = findMesh(namespace, facts);
    const suffix = suffixFor(awsName, namespace);
    if (mesh === undefined || suffix === undefined) continue;
    if (!isCovered(facts.suffixes.get(mesh) ?? new Set(), awsName, namespace))
      lacking.set(mesh, (lacking.get(mesh) ?? new Set()).add(suffix));
  }
  return [...lacking].map(([mesh, suffixes]) => {
    const all = [...new Set([...(facts.imported.get(mesh) ?? []), ...suffixes])].sort();
    return { mesh, all, lacking: [...suffixes].sort() };
  });
}

/** Returns the MeshNaming that sets them. */
export function meshNaming({ mesh, all }: LackingSuffixes): JsonObject {
  return { type: 'MeshNaming', mesh, name: NAME, spec: { suffixes: [...all] } };
}

/** Returns the advice for an operator to get the names. */
export function suffixAdvice(lacking: LackingSuffixes): string {
  const command = `echo '${JSON.stringify(meshNaming(lacking))}' | causeway apply -f -`;
  return `to do: names under ${lacking.lacking.join(', ')} are no hostnames in mesh ${lacking.mesh} yet; a mesh-operator sets that by --set-suffixes, or by: ${command}`;
}

async function addStored({ selectors, namespaces, suffixes, imported }: MeshFacts, api: Pick<ApiClient, 'list'>) {
  const [meshes, spaces, namings] = await Promise.all(
    ['Mesh', 'Namespace', 'MeshNaming'].map((kind) => api.list({ kind }).catch(noneIfUnknown)),
  );
  for (const one of meshes?.documents ?? []) {
    const selector = selectorAt(one, 'spec', 'namespaceSelector');
    if (selector) selectors.set(textAt(one, 'name'), selector);
  }
  for (const one of spaces?.documents ?? []) namespaces.set(textAt(one, 'name'), textsIn(objectAt(one, 'labels')));
  for (const one of namings?.documents ?? []) {
    const mesh = textAt(one, 'mesh');
    const given = textsAt(objectAt(one, 'spec'), 'suffixes');
    suffixes.set(mesh, new Set([...(suffixes.get(mesh) ?? []), ...given]));
    if (textAt(one, 'name') === NAME) imported.set(mesh, given);
  }
}

/** An older control plane has no MeshNaming. */
function noneIfUnknown(error: unknown): undefined {
  if (!(error instanceof ApiError) || !['not-found', 'invalid', 'forbidden'].includes(error.code)) throw error;
}

function addManifest({ selectors, namespaces }: MeshFacts, value: JsonObject): void {
  const name = textAt(value, 'metadata', 'name');
  if (textAt(value, 'kind') === 'Namespace') namespaces.set(name, textsIn(objectAt(value, 'metadata', 'labels')));
  if (textAt(value, 'kind') !== 'Mesh') return;
  const selector = selectorAt(value, 'spec', 'namespaceSelector');
  if (selector) selectors.set(name, selector);
  else selectors.delete(name);
}

function findMesh(namespace: string, { selectors, namespaces }: MeshFacts): string | undefined {
  const labels = { ...namespaceLabels(namespace), ...namespaces.get(namespace) };
  const [mesh, another] = [...selectors].flatMap(([name, selector]) => (selectsLabels(selector, labels) ? [name] : []));
  return another === undefined ? mesh : undefined;
}
