import type { ResourceRef, ResourceSelection } from '@causeway/api-client';
import { parseKri } from '@causeway/naming';
import {
  isJsonObject,
  ownField,
  type Identity,
  type JsonObject,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';
import { requireKind, UsageError } from './context';
import { objectAt, textAt } from './render';

/** The defaults of mesh, zone and namespace for resources whose words or documents name none. */
export interface Place {
  /** Empty for the mesh that the control plane expects. */
  readonly mesh?: string | undefined;
  readonly namespace?: string | undefined;
  /** The zone of origin, empty for the global. */
  readonly zone?: string | undefined;
}

/** A kind and a name. */
export interface NamedResource {
  readonly kind: Kind;
  readonly name: string;
}

/** Returns the reference of a resource for a control plane. */
export function refTo({ kind, name }: NamedResource, place: Place): ResourceRef {
  return { ...placeIn(kind, place), kind: kind.name, name };
}

/** Returns the selection of resources of a kind at a place; without a mesh those of all meshes. */
export function toSelection(kind: Kind, place: Place, labelSelector?: string): ResourceSelection {
  return { ...placeIn(kind, place), kind: kind.name, ...(labelSelector === undefined ? {} : { labelSelector }) };
}

function placeIn(kind: Kind, { mesh, namespace, zone }: Place): Partial<Record<'mesh' | 'namespace' | 'zone', string>> {
  return {
    ...(kind.scope === 'mesh' && mesh !== undefined ? { mesh } : {}),
    ...(namespace === undefined ? {} : { namespace }),
    ...(zone === undefined ? {} : { zone }),
  };
}

/** Parses `KIND NAME...` or `KIND/NAME...`. Throws UsageError for other words. */
export function parseRefs(registry: Registry, words: readonly string[], place: Place): readonly ResourceRef[] {
  if (words.some((word) => word.includes('/'))) return words.map((word) => refTo(namedBy(registry, word), place));
  const [first = '', ...names] = words;
  if (names.length === 0)
    throw new UsageError('name resources as KIND NAME... or as KIND/NAME..., as in MeshService/redis');
  const kind = requireKind(registry, first);
  return names.map((name) => refTo({ kind, name }, place));
}

/** Parses `KIND/NAME`. Throws UsageError for other words. */
export function namedBy(registry: Registry, word: string): NamedResource {
  const [noun, name, more] = word.split('/');
  if (!noun || !name || more !== undefined)
    throw new UsageError(`"${word}" is no resource; write KIND/NAME each time, as in meshservice/redis`);
  return { kind: requireKind(registry, noun), name };
}

/** Returns the resource that a document describes; undefined if it has no kind or no name. */
export function readRef(registry: Registry, value: unknown, place: Place): ResourceRef | undefined {
  if (!isJsonObject(value)) return undefined;
  const metadata = objectAt(value, 'metadata');
  const kind = kindOfDocument(registry, value);
  const name = textAt(value, 'name') || textAt(metadata, 'name');
  if (!kind || name === '') return undefined;
  const labelled = textAt(value, 'labels', 'kuma.io/mesh') || textAt(metadata, 'labels', 'kuma.io/mesh');
  const namespace = textAt(value, 'namespace') || textAt(metadata, 'namespace') || place.namespace;
  const mesh = textAt(value, 'mesh') || labelled || place.mesh;
  return refTo({ kind, name }, { mesh, namespace: kind.namespaced ? namespace : undefined });
}

/** Returns the kind of a document: by its group and kind in the Kubernetes form. Undefined for other projects' documents. */
function kindOfDocument(registry: Registry, value: JsonObject): Kind | undefined {
  const apiVersion = ownField(value, 'apiVersion');
  if (typeof apiVersion !== 'string') return registry.kind(readType(value));
  const sought = registry.find(apiVersion, readType(value));
  return sought.found ? sought.kind : undefined;
}

/** Returns the type of a document, in either form; empty if it has none. */
export function readType(document: JsonObject): string {
  return textAt(document, 'type') || textAt(document, 'kind');
}

/** Returns the resource of an item of a list. */
export function itemToRef(kind: Kind, item: JsonObject): ResourceRef {
  const namespace = textAt(item, 'namespace') || undefined;
  return refTo({ kind, name: textAt(item, 'name') }, { mesh: textAt(item, 'mesh'), namespace });
}

/** Returns `MeshService redis`. */
export function formatTitle({ kind, name }: ResourceRef): string {
  return `${kind} ${name}`;
}

/** Resources of one kind: all, or the named ones. */
export interface Selection {
  readonly kind: Kind;
  readonly names: readonly string[];
}

/**
 * Parses the arguments of a command: `KIND[,KIND...]`, `KIND[,KIND...] NAME...` or `KIND/NAME...`. Kinds come in the
 * order of the arguments, each once. Throws UsageError.
 */
export function parseSelections(registry: Registry, [first = '', ...rest]: readonly string[]): readonly Selection[] {
  if (!first.includes('/')) {
    const kinds = new Set(first.split(',').map((noun) => requireKind(registry, noun)));
    return [...kinds].map((kind) => ({ kind, names: rest }));
  }
  const byKind = new Map<Kind, string[]>();
  for (const each of [first, ...rest]) {
    const { kind, name } = namedBy(registry, each);
    byKind.set(kind, [...(byKind.get(kind) ?? []), name]);
  }
  return [...byKind].map(([kind, names]) => ({ kind, names }));
}

/** Returns a resource in the form of `-o name`, which commands accept: `meshservice/redis`. */
export function formatNoun(kind: Kind, name: string): string {
  return `${kind.name.toLowerCase()}/${name}`;
}

/** Name of a resource in a request. */
export type Reference = Omit<Identity, 'kind'>;

/** Returns the reference of a document; the zone is empty for resources made on the global. */
export function readReference(body: JsonObject): Reference {
  const at = (key: string): string => textAt(body, key);
  return {
    mesh: at('mesh'),
    zone: textAt(body, 'labels', 'kuma.io/zone'),
    namespace: at('namespace'),
    name: at('name'),
  };
}

/** Converts a document to a resource for the rules of the engine. Missing fields are empty: the rules do not use them. */
export function toResource(kind: Kind, document: JsonObject): Resource {
  const labels = Object.entries(objectAt(document, 'labels')).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  // Labels do not contain the zone of identity: a copy in a zone has the origin `global` wherever it was made.
  const parsed = parseKri(textAt(document, 'kri'));
  const zone = parsed.ok && kind.sync.zoneInIdentity ? parsed.kri.zone : '';
  const status = ownField(document, 'status');
  return {
    id: { ...readReference(document), kind: kind.name, zone },
    labels: Object.fromEntries(labels),
    spec: objectAt(document, 'spec'),
    ...(isJsonObject(status) ? { status } : {}),
    uid: '',
    generation: 0,
    creationOrder: 0,
    createdAt: 0,
    modifiedAt: 0,
    revision: 0,
    freed: [],
    origin: { incarnation: '', revision: 0, committedAt: 0 },
  };
}
