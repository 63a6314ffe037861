import {
  FieldPath,
  isJsonObject,
  unknownField,
  type JsonObject,
  type JsonValue,
  Violations,
} from '@causeway/resources';

/** The parts of a document before their types are checked; `at` holds the field of each part, for messages. */
export interface Envelope {
  readonly form: 'universal' | 'k8s';
  /** Undefined in the Universal form. */
  readonly apiVersion: JsonValue | undefined;
  readonly type: JsonValue | undefined;
  readonly mesh: JsonValue | undefined;
  readonly namespace: JsonValue | undefined;
  readonly name: JsonValue | undefined;
  readonly labels: JsonValue | undefined;
  readonly spec: JsonValue | undefined;
  readonly at: {
    readonly type: FieldPath;
    readonly namespace: FieldPath;
    readonly name: FieldPath;
    readonly labels: FieldPath;
  };
  readonly violations: Violations;
  readonly warnings: readonly string[];
}

/** Kinds whose spec fields Kuma writes at the top level (docs/reference/kuma-rest.md §2.1). */
const FLAT_KINDS: readonly string[] = [
  'Mesh',
  'Dataplane',
  'Zone',
  'ZoneIngress',
  'ZoneEgress',
  'Secret',
  'GlobalSecret',
];

const SERVER_OWNED = ['status', 'uid', 'creationTime', 'modificationTime', 'generation', 'kri', 'snis', 'annotations'];
const UNIVERSAL = ['type', 'mesh', 'namespace', 'name', 'labels', 'spec'];
const K8S = ['apiVersion', 'kind', 'metadata', 'spec', 'mesh'];
const METADATA = ['name', 'namespace', 'labels'];
const METADATA_IGNORED = [
  'uid',
  'generation',
  'creationTimestamp',
  'resourceVersion',
  'managedFields',
  'selfLink',
  'ownerReferences',
  'finalizers',
];

/** Splits a document into its parts. Fields that only the control plane writes are dropped, unknown ones are violations. */
export function openEnvelope(
  body: JsonObject,
  specFields: (type: JsonValue | undefined) => readonly string[],
): Envelope {
  return body['apiVersion'] === undefined ? openUniversal(body, specFields(body['type'])) : openK8s(body);
}

function openUniversal(body: JsonObject, specFields: readonly string[]): Envelope {
  const at = FieldPath.at();
  const flat = body['spec'] === undefined && FLAT_KINDS.some((kind) => kind === body['type']);
  const known = [...UNIVERSAL, ...SERVER_OWNED, ...(flat ? specFields : [])];
  const violations = unknownFields(body, known, at, (key) => misplaced(key, known, specFields));
  const topSpec = Object.fromEntries(Object.entries(body).filter(([key]) => flat && specFields.includes(key)));
  return {
    form: 'universal',
    apiVersion: undefined,
    type: body['type'],
    mesh: body['mesh'],
    namespace: body['namespace'],
    name: body['name'],
    labels: body['labels'],
    spec: flat ? topSpec : body['spec'],
    at: {
      type: at.field('type'),
      namespace: at.field('namespace'),
      name: at.field('name'),
      labels: at.field('labels'),
    },
    violations,
    warnings: [],
  };
}

function misplaced(key: string, known: readonly string[], specFields: readonly string[]): string {
  return specFields.includes(key) ? 'belongs under "spec"' : unknownField(key, known);
}

function openK8s(body: JsonObject): Envelope {
  const at = FieldPath.at();
  const given = body['metadata'];
  const metadata = isJsonObject(given) ? given : {};
  const inside = at.field('metadata');
  const violations = new Violations();
  if (typeof body['apiVersion'] !== 'string')
    violations.add(at.field('apiVersion'), 'wrong-type', () => 'must be a string');
  if (given === undefined) violations.add(inside, 'required', () => 'is required');
  else if (!isJsonObject(given)) violations.add(inside, 'wrong-type', () => 'must be an object');
  violations.merge(unknownFields(body, [...K8S, 'status'], at, (key) => unknownField(key, K8S)));
  const known = [...METADATA, ...METADATA_IGNORED, 'annotations'];
  violations.merge(unknownFields(metadata, known, inside, (key) => unknownField(key, METADATA)));
  return {
    form: 'k8s',
    apiVersion: body['apiVersion'],
    type: body['kind'],
    mesh: body['mesh'] ?? (isJsonObject(metadata['labels']) ? metadata['labels']['kuma.io/mesh'] : undefined),
    namespace: metadata['namespace'],
    name: metadata['name'],
    labels: metadata['labels'],
    spec: body['spec'],
    at: {
      type: at.field('kind'),
      namespace: inside.field('namespace'),
      name: inside.field('name'),
      labels: inside.field('labels'),
    },
    violations,
    warnings: metadata['annotations'] === undefined ? [] : ['metadata.annotations: are not kept'],
  };
}

/** Returns a violation for each field of `object` that is not in `known`. */
function unknownFields(
  object: JsonObject,
  known: readonly string[],
  at: FieldPath,
  reason: (key: string) => string,
): Violations {
  const found = new Violations();
  const names = new Set(known);
  for (const [key, value] of Object.entries(object))
    if (value !== undefined && !names.has(key)) found.add(at.field(key), 'unknown-field', () => reason(key));
  return found;
}
