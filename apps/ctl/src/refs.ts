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
  const { mesh, namespace } = place;
  const toRef = (named: NamedResource): ResourceRef => ({ ...named, mesh, namespace });
  if (words.some((word) => word.includes('/'))) return words.map((word) => toRef(namedBy(registry, word)));
  const [first = '', ...names] = words;
  if (names.length === 0)
    throw new UsageError('name resources as KIND NAME... or as KIND/NAME..., as in MeshService/redis');
  const kind = kindOf(registry, first);
  return names.map((name) => toRef({ kind, name }));
}

/** Kind and name, without the place. */
export type NamedResource = Pick<ResourceRef, 'kind' | 'name'>;

/** What `KIND/NAME` names. Throws UsageError for other words. */
export function namedBy(registry: Registry, word: string): NamedResource {
  const [noun, name, more] = word.split('/');
  if (!noun || !name || more !== undefined)
    throw new UsageError(`"${word}" is no resource; write KIND/NAME each time, as in meshservice/redis`);
  return { kind: kindOf(registry, noun), name };
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
