import {
  checkName,
  FieldPath,
  Invalid,
  isJsonObject,
  Label,
  shortened,
  type JsonObject,
  type JsonValue,
  type Kind,
  type Labels,
  type Registry,
} from '@causeway/resources';
import type { DecodedDocument, Target } from './document';
import { checkSize } from '../document-size';
import { openEnvelope, type Envelope } from './document-forms';
import { DocumentReport, throwIfInvalid } from '../findings';
import { checkedBody } from '../json-safety';
import { dropIgnoredKumaFields, ignoredKumaFields } from '../kuma-leftovers';

/** What the readers of single parts share. */
interface DecodeContext {
  readonly kind: Kind;
  readonly envelope: Envelope;
  readonly target: Target;
  readonly found: DocumentReport;
}

/**
 * Reads a user's document: the Universal form, the Kubernetes form, or Kuma's flat form (design.md §1). What only the
 * control plane writes is ignored; unknown fields, wrong types and whatever differs from `target` are violations, all
 * of them collected. Throws Invalid when not even the kind can be told.
 */
export function decodeDocument(registry: Registry, body: unknown, target: Target = {}): DecodedDocument {
  const { object, violations } = checkedBody(body);
  throwIfInvalid(violations);
  const envelope = openEnvelope(object, (type) => specFieldsOf(kindNamed(registry, type) ?? target.kind));
  const found = new DocumentReport();
  found.violations.merge(envelope.violations);
  found.warn(...envelope.warnings);
  const reading = { kind: readKind(registry, envelope, target, found), envelope, target, found };
  if (!checkSize(reading.kind, envelope, found)) throw new Invalid(found.violations);
  const labels = readLabels(reading);
  const draft = {
    kind: reading.kind,
    mesh: readMesh(reading),
    namespace: readNamespace(reading, labels),
    name: readName(reading),
    labels,
    spec: readSpec(reading),
  };
  return { draft, labelsAt: envelope.at.labels, violations: found.violations, warnings: found.warnings };
}

function kindNamed(registry: Registry, type: JsonValue | undefined): Kind | undefined {
  return typeof type === 'string' ? registry.kind(type) : undefined;
}

/** Names of the fields that a document of this kind may have in its spec. */
function specFieldsOf(kind: Kind | undefined): readonly string[] {
  const schema: object = kind?.spec ?? {};
  const properties = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : {};
  return [...Object.keys(properties ?? {}), ...ignoredKumaFields(kind)];
}

function readKind(registry: Registry, envelope: Envelope, target: Target, found: DocumentReport): Kind {
  const given = kindNamed(registry, envelope.type);
  if (given && target.kind && given !== target.kind) {
    found.refuse(envelope.at.type, `must be "${target.kind.name}", as the address says; got "${given.name}"`);
  } else if (!given) {
    const missing = envelope.type === undefined || envelope.type === null;
    found.refuse(envelope.at.type, unknownKind(registry, envelope.type), missing ? 'required' : 'not-one-of');
  }
  const kind = target.kind ?? given;
  if (!kind) throw new Invalid(found.violations);
  return kind;
}

function unknownKind(registry: Registry, type: JsonValue | undefined): string {
  if (type === undefined || type === null) return 'is required';
  if (typeof type !== 'string') return 'must be a string';
  const guess = registry.suggestKind(type);
  return `is not a kind known here; got "${shortened(type, 80)}"${guess === undefined ? '' : `, did you mean "${guess}"?`}`;
}

/** A text part of the envelope; absent and `null` mean undefined, anything else that is no string is refused. */
function readText(value: JsonValue | undefined, at: FieldPath, found: DocumentReport): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  found.refuse(at, 'must be a string; put it in quotes', 'wrong-type');
  return undefined;
}

function readName({ kind, envelope, target, found }: DecodeContext): string {
  const at = envelope.at.name;
  if (envelope.name === undefined || envelope.name === null) found.refuse(at, 'is required', 'required');
  const name = readText(envelope.name, at, found);
  if (name === undefined) return target.name ?? '';
  found.violations.addAll(kind.checkName(name, at));
  refuseDifference(target.name, name, at, found);
  return name;
}

function readMesh({ kind, envelope, target, found }: DecodeContext): string {
  const at = FieldPath.at('mesh');
  const given = readText(envelope.mesh, at, found);
  if (kind.scope === 'global') {
    if (given !== undefined) found.refuse(at, `${kind.name} belongs to no mesh; leave it out`);
    return '';
  }
  if (given !== undefined) found.violations.addAll(checkName(given, at));
  const mesh = given ?? target.mesh ?? 'default';
  refuseDifference(target.mesh, mesh, at, found);
  return mesh;
}

function readNamespace({ kind, envelope, target, found }: DecodeContext, labels: Labels): string {
  const at = envelope.at.namespace;
  const given = readText(envelope.namespace, at, found);
  if (!kind.namespaced) {
    if (given === undefined) return '';
    if (envelope.form === 'k8s')
      found.warn(`${at.toString()}: ${kind.name} has no namespaces; "${shortened(given, 80)}" was dropped`);
    else found.refuse(at, `${kind.name} has no namespaces; leave it out`);
    return '';
  }
  const namespace = given ?? labels[Label.namespace] ?? target.namespace ?? 'default';
  if (!isNamespace(namespace)) {
    found.refuse(
      at,
      `must be lower-case letters, digits and '-', at most 63, starting and ending with a letter or digit; got "${namespace}"`,
    );
  }
  refuseDifference(target.namespace, namespace, at, found);
  return namespace;
}

/** RFC 1123 label: a namespace is also the value of a label and part of hostnames. */
function isNamespace(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

function refuseDifference(addressed: string | undefined, given: string, at: FieldPath, found: DocumentReport): void {
  if (addressed === undefined || addressed === given) return;
  found.refuse(at, `must be "${addressed}", as the address says; got "${given}"`);
}

function readLabels({ envelope, found }: DecodeContext): Labels {
  const { labels } = envelope;
  const at = envelope.at.labels;
  if (labels === undefined || labels === null) return {};
  if (!isJsonObject(labels)) {
    found.refuse(at, 'must be an object of strings', 'wrong-type');
    return {};
  }
  const texts = Object.entries(labels).flatMap(([key, value]): [string, string][] => {
    const text = readText(value ?? '', at.field(key), found);
    return text === undefined ? [] : [[key, text]];
  });
  return Object.fromEntries(texts);
}

function readSpec({ kind, envelope, found }: DecodeContext): JsonObject {
  const { spec } = envelope;
  if (spec === undefined || spec === null) return {};
  if (!isJsonObject(spec)) {
    found.refuse(FieldPath.at('spec'), 'must be an object', 'wrong-type');
    return {};
  }
  const { kept, warnings } = dropIgnoredKumaFields(kind, spec);
  found.warn(...warnings);
  return kept;
}
