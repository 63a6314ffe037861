import { formatEtag, type NameQuery } from '@causeway/admission';
import {
  type ResourceIdentity,
  type ResourceMessage,
  type ResourceName,
  type SelectionMessage,
} from '@causeway/proto-gen';
import { InvalidQuery, parseLabelSelector, type ListScope } from '@causeway/queries';
import { FieldPath, shortened, type Identity, type Kind, type Registry, type Resource } from '@causeway/resources';

/** Maximum length of a label selector, in characters; as in a query of REST. */
const MAX_SELECTOR_LENGTH = 8_192;

/** Maximum length of the name of a zone, a namespace, a kind or a service, in characters, as in a query of REST. */
const MAX_NAME_LENGTH = 253;

/** Returns a resource as a message; `json` is its document. */
export function resourceMessage(resource: Resource, json: string): ResourceMessage {
  const { id, uid, generation, revision } = resource;
  return { id: identityMessage(id), json, uid, generation, revision, etag: formatEtag(resource) };
}

/** Returns an identity as a message. */
export function identityMessage({ kind, mesh, zone, namespace, name }: Identity): ResourceIdentity {
  return { kind, mesh, zone, namespace, name };
}

/** Reads the name of a resource in a request; its mesh defaults to `defaultMesh`. Throws InvalidQuery. */
export function readNameQuery(registry: Registry, name: ResourceName | undefined, defaultMesh: string): NameQuery {
  if (!name) throw refused('name', 'must be given: the resource');
  const kind = readKind(registry, name.kind, 'name.kind');
  if (name.name === '') throw refused('name.name', 'must be given');
  if (kind.scope !== 'mesh' && name.mesh !== '')
    throw refused('name.mesh', `must be empty: a ${kind.name} has no mesh`);
  if (!kind.namespaced && name.namespace !== '')
    throw refused('name.namespace', `must be empty: a ${kind.name} has no namespace`);
  return {
    kind,
    name: name.name,
    ...(kind.scope === 'mesh' ? { mesh: name.mesh || defaultMesh } : {}),
    ...(name.namespace === '' ? {} : { namespace: name.namespace }),
    ...(name.zone === undefined ? {} : { zone: name.zone }),
  };
}

/** Reads the scope of a list or watch; its mesh defaults to `defaultMesh`. Throws InvalidQuery. */
export function readListScope(
  registry: Registry,
  selection: SelectionMessage | undefined,
  defaultMesh: string,
): ListScope {
  if (!selection) throw refused('selection', 'must be given: the kind at least');
  const { mesh: named, expectedMesh, namespace, zone, nameContains, labelSelector } = selection;
  const kind = readKind(registry, selection.kind, 'selection.kind');
  if (kind.scope !== 'mesh' && named !== '')
    throw refused('selection.mesh', `must be empty: a ${kind.name} has no mesh`);
  if (expectedMesh && named !== '') throw refused('selection.mesh', 'must be empty where expected_mesh is set');
  const mesh = kind.scope === 'mesh' && expectedMesh ? defaultMesh : named;
  if (labelSelector.length > MAX_SELECTOR_LENGTH)
    throw refused('selection.label_selector', `must not be longer than ${MAX_SELECTOR_LENGTH} characters`);
  const labels = labelSelector === '' ? ({ ok: true, requirements: [] } as const) : parseLabelSelector(labelSelector);
  if (!labels.ok) throw refused('selection.label_selector', labels.reason);
  const name = nameContains === '' ? undefined : nameContains;
  return {
    kind: kind.name,
    mesh: mesh === '' ? undefined : mesh,
    selection: { name, namespace, zone, labels: labels.requirements },
  };
}

/** Reads the minimum revision of a request; 0 is none. */
export function readRevision(minRevision: number): number | undefined {
  return minRevision === 0 ? undefined : minRevision;
}

/** Reads a name in a request; undefined if it is absent. Throws InvalidQuery if it is too long. */
export function readName(field: string, text: string): string | undefined {
  if (text.length > MAX_NAME_LENGTH) throw refused(field, `must not be longer than ${MAX_NAME_LENGTH} characters`);
  return text || undefined;
}

/** Returns the error for a request that is wrong in one field, independent of stored data. */
export function refused(field: string, reason: string): InvalidQuery {
  return new InvalidQuery(`${field} ${reason}`, [FieldPath.at(field).violation(reason)]);
}

function readKind(registry: Registry, name: string, field: string): Kind {
  const kind = registry.kind(name);
  if (kind) return kind;
  if (name === '') throw refused(field, 'must be given');
  const guess = registry.suggestKind(name);
  const hint = guess === undefined ? '' : `, did you mean "${guess}"?`;
  throw refused(field, `is not a kind known here; got "${shortened(name, 80)}"${hint}`);
}
