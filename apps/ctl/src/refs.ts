import { isJsonObject, type JsonObject, type Kind, type Registry } from '@causeway/resources';
import { kindOf, pathOf, UsageError } from './context';
import { objectAt, textAt } from './render';

/** Names one resource on a control plane. */
export interface ResourceRef {
  readonly kind: Kind;
  readonly mesh: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The place of resources whose words or documents name none. */
export interface Place {
  readonly mesh: string;
  readonly namespace?: string;
}

/** The resources of `KIND NAME...` or `KIND/NAME...`. Throws UsageError for words that are neither. */
export function refsOf(registry: Registry, words: readonly string[], place: Place): readonly ResourceRef[] {
  const [first = '', ...names] = words;
  if (words.every((word) => word.includes('/'))) {
    return words.map((word) => {
      const slash = word.indexOf('/');
      return refTo(kindOf(registry, word.slice(0, slash)), word.slice(slash + 1), place);
    });
  }
  if (names.length === 0 || words.some((word) => word.includes('/')))
    throw new UsageError('name resources as KIND NAME... or as KIND/NAME..., as in MeshService/redis');
  const kind = kindOf(registry, first);
  return names.map((name) => refTo(kind, name, place));
}

function refTo(kind: Kind, name: string, { mesh, namespace }: Place): ResourceRef {
  if (name === '') throw new UsageError(`a name is missing after ${kind.name}/`);
  return { kind, mesh, namespace, name };
}

/** The resource that a document describes; undefined if it has no kind or no name. */
export function refOfDocument(registry: Registry, value: unknown, place: Place): ResourceRef | undefined {
  if (!isJsonObject(value)) return undefined;
  const metadata = objectAt(value, 'metadata');
  const kind = registry.kind(textAt(value, 'type') || textAt(value, 'kind'));
  const name = textAt(value, 'name') || textAt(metadata, 'name');
  if (!kind || name === '') return undefined;
  const labelled = textAt(value, 'labels', 'kuma.io/mesh') || textAt(metadata, 'labels', 'kuma.io/mesh');
  const namespace = textAt(value, 'namespace') || textAt(metadata, 'namespace') || place.namespace;
  return {
    ...{ kind, name, mesh: textAt(value, 'mesh') || labelled || place.mesh },
    namespace: kind.namespaced ? namespace : undefined,
  };
}

/** The resource that an item of a list shows. */
export function refOfItem(kind: Kind, item: JsonObject): ResourceRef {
  return {
    ...{ kind, name: textAt(item, 'name'), mesh: textAt(item, 'mesh') },
    namespace: textAt(item, 'namespace') || undefined,
  };
}

/** Path and query of a resource. */
export function addressOf({ kind, mesh, namespace, name }: ResourceRef): {
  readonly path: string;
  readonly query: { readonly namespace: string | undefined };
} {
  return { path: pathOf(kind, mesh, name), query: { namespace } };
}

/** `MeshService redis`. */
export function titleOf({ kind, name }: ResourceRef): string {
  return `${kind.name} ${name}`;
}
