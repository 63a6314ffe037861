import {
  checkName,
  checkNamespace,
  checkStorable,
  describeGroups,
  FieldPath,
  listGroups,
  Invalid,
  isJsonObject,
  Label,
  parseApiVersion,
  shortened,
  Violations,
  type GroupedKind,
  type JsonObject,
  type JsonValue,
  type Kind,
  type KindAlias,
  type Labels,
  type NamedKind,
  type Registry,
} from '@causeway/resources';
import type { DecodedDocument, WriteTarget } from './document';
import { openEnvelope, type Envelope } from './document-forms';
import { checkSize, DocumentReport, throwIfInvalid } from './document-report';

const KUMA_API = 'kuma.io/v1alpha1';

/** Shared by the readers of the single parts. */
interface DecodeContext {
  readonly kind: Kind;
  readonly envelope: Envelope;
  readonly target: WriteTarget;
  readonly report: DocumentReport;
}

/**
 * Decodes a user's document: the Universal form, the Kubernetes form, or Kuma's flat form (docs/design.md §1). Fields that
 * only the control plane writes are ignored. Unknown fields, wrong types and every difference from `target` are
 * violations; all of them are collected. Throws Invalid if the kind is unknown or the document is too large.
 */
export function decodeDocument(registry: Registry, body: unknown, target: WriteTarget = {}): DecodedDocument {
  const { object, violations } = storableBody(body);
  throwIfInvalid(violations);
  const envelope = openEnvelope(object, (type) => listSpecFields(kindNamed(registry, type) ?? target.kind));
  const report = new DocumentReport();
  report.violations.merge(envelope.violations);
  report.warn(...envelope.warnings);
  const { kind, alias } = readKind(registry, envelope, target, report);
  const context = { kind, envelope, target, report };
  checkRequired(alias, envelope, report);
  if (!checkSize(context.kind, envelope, report)) throw new Invalid(report.violations);
  const labels = readLabels(context);
  const draft = {
    kind: context.kind,
    mesh: readMesh(context),
    namespace: readNamespace(context, labels),
    name: readName(context),
    labels,
    spec: readSpec(context),
  };
  const namedMesh = envelope.mesh ?? target.mesh ?? target.meshIfAbsent;
  const namesMesh = context.kind.scope === 'global' || namedMesh !== undefined;
  const meshInBody = envelope.mesh !== undefined && envelope.mesh !== null;
  const { violations: found, warnings } = report;
  return { draft, namesMesh, meshInBody, labelsAt: envelope.at.labels, violations: found, warnings };
}

/** Returns the body as JSON that every store accepts, with the violations of `checkStorable`. The body is not copied. */
function storableBody(body: unknown): { readonly object: JsonObject; readonly violations: Violations } {
  const violations = new Violations();
  const at = FieldPath.at();
  if (!isJsonObject(body)) {
    violations.add(at, 'wrong-type', () => 'the body must be an object');
    return { object: {}, violations };
  }
  checkStorable(body, at, violations);
  return { object: body, violations };
}

function kindNamed(registry: Registry, type: JsonValue | undefined): Kind | undefined {
  return typeof type === 'string' ? registry.kind(type) : undefined;
}

/** Returns the fields that the spec of this kind may have. */
function listSpecFields(kind: Kind | undefined): readonly string[] {
  const schema: object = kind?.spec ?? {};
  const properties = 'properties' in schema && typeof schema.properties === 'object' ? schema.properties : {};
  return [...Object.keys(properties ?? {}), ...ignoredKumaFields(kind)];
}

function readKind(registry: Registry, envelope: Envelope, target: WriteTarget, report: DocumentReport): NamedKind {
  const given = findNamedKind(registry, envelope, report);
  if (given && target.kind && given.kind.name !== target.kind.name) {
    report.refuse(envelope.at.type, `must be "${target.kind.name}", as the address says; got "${given.kind.name}"`);
  } else if (!given) {
    const missing = envelope.type === undefined || envelope.type === null;
    report.refuse(envelope.at.type, unknownKind(registry, envelope.type), missing ? 'required' : 'not-one-of');
  }
  const kind = target.kind ?? given?.kind;
  if (!kind) throw new Invalid(report.violations);
  return { kind, ...(given?.alias && { alias: given.alias }) };
}

/**
 * Returns the kind that a document names: by `type`, or by group, version and kind. Throws Invalid if kinds of this
 * name belong to other groups only: then the rest of the document is not checked.
 */
function findNamedKind(
  registry: Registry,
  { form, apiVersion, type }: Envelope,
  report: DocumentReport,
): NamedKind | undefined {
  if (typeof type !== 'string') return undefined;
  if (form === 'universal' || typeof apiVersion !== 'string') return registry.named(type);
  const sought = registry.find(apiVersion, type);
  if (sought.found) return sought;
  const { sameNamed } = sought;
  if (sameNamed.length === 0) return undefined;
  report.refuse(FieldPath.at('apiVersion'), foreignGroup(apiVersion, type, sameNamed), 'not-one-of');
  throw new Invalid(report.violations);
}

function foreignGroup(apiVersion: string, type: string, sameNamed: readonly GroupedKind[]): string {
  const { group } = parseApiVersion(apiVersion);
  const isKnown = sameNamed.some((kind) => listGroups(kind).some((one) => one.group === group));
  const isPolicy = sameNamed.some(({ declaredBy = '' }) => declaredBy !== '');
  const advice =
    isKnown || !isPolicy ? '' : `; a MetaresourceDefinition can declare ${type} of the group ${shortened(group, 80)}`;
  return `must be of ${describeGroups(sameNamed)}, as ${type} is here; got "${shortened(apiVersion, 80)}"${advice}`;
}

/** Refuses a document that uses an alias but lacks a field that documents with that alias must have (row T000-06). */
function checkRequired(alias: KindAlias | undefined, { spec }: Envelope, report: DocumentReport): void {
  if (!alias) return;
  for (const field of alias.required)
    if (!isJsonObject(spec) || spec[field] === undefined)
      report.refuse(FieldPath.at('spec').field(field), `is required of kind ${alias.name}`, 'required');
}

function unknownKind(registry: Registry, type: JsonValue | undefined): string {
  if (type === undefined || type === null) return 'is required';
  if (typeof type !== 'string') return 'must be a string';
  const guess = registry.suggestKind(type);
  return `is not a kind known here; got "${shortened(type, 80)}"${guess === undefined ? '' : `, did you mean "${guess}"?`}`;
}

/** Reads a string of the envelope. Absent and `null` become undefined; any other value that is not a string is refused. */
function readText(value: JsonValue | undefined, at: FieldPath, report: DocumentReport): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  report.refuse(at, 'must be a string; put it in quotes', 'wrong-type');
  return undefined;
}

function readName({ kind, envelope, target, report }: DecodeContext): string {
  const at = envelope.at.name;
  if (envelope.name === undefined || envelope.name === null) report.refuse(at, 'is required', 'required');
  const name = readText(envelope.name, at, report);
  if (name === undefined) return target.name ?? '';
  report.violations.addAll(kind.checkName(name, at));
  refuseDifference(target.name, name, at, report);
  return name;
}

function readMesh({ kind, envelope, target, report }: DecodeContext): string {
  const at = FieldPath.at('mesh');
  const given = readText(envelope.mesh, at, report);
  if (kind.scope === 'global') {
    if (given !== undefined) report.refuse(at, `${kind.name} belongs to no mesh; leave it out`);
    return '';
  }
  if (given !== undefined) report.violations.addAll(checkName(given, at));
  const mesh = given ?? target.mesh ?? target.meshIfAbsent ?? 'default';
  refuseDifference(target.mesh, mesh, at, report);
  return mesh;
}

function readNamespace({ kind, envelope, target, report }: DecodeContext, labels: Labels): string {
  const at = envelope.at.namespace;
  const given = readText(envelope.namespace, at, report);
  if (!kind.namespaced) {
    if (given === undefined) return '';
    // Kuma stores its kinds without namespaces in its system namespace.
    if (envelope.form === 'k8s' && kind.apiVersion === KUMA_API)
      report.warn(`${at.toString()}: ${kind.name} has no namespaces; "${shortened(given, 80)}" was dropped`);
    else report.refuse(at, `${kind.name} has no namespaces; leave it out`);
    return '';
  }
  const namespace = given ?? labels[Label.namespace] ?? target.namespace ?? 'default';
  report.violations.addAll(checkNamespace(namespace, at));
  refuseDifference(target.namespace, namespace, at, report);
  return namespace;
}

function refuseDifference(addressed: string | undefined, given: string, at: FieldPath, report: DocumentReport): void {
  if (addressed === undefined || addressed === given) return;
  report.refuse(at, `must be "${addressed}", as the address says; got "${given}"`);
}

function readLabels({ envelope, report }: DecodeContext): Labels {
  const { labels } = envelope;
  const at = envelope.at.labels;
  if (labels === undefined || labels === null) return {};
  if (!isJsonObject(labels)) {
    report.refuse(at, 'must be an object of strings', 'wrong-type');
    return {};
  }
  const texts = Object.entries(labels).flatMap(([key, value]): [string, string][] => {
    const text = readText(value ?? '', at.field(key), report);
    return text === undefined ? [] : [[key, text]];
  });
  return Object.fromEntries(texts);
}

function readSpec({ kind, envelope, report }: DecodeContext): JsonObject {
  const { spec } = envelope;
  if (spec === undefined || spec === null) return {};
  if (!isJsonObject(spec)) {
    report.refuse(FieldPath.at('spec'), 'must be an object', 'wrong-type');
    return {};
  }
  const { kept, warnings } = dropIgnoredKumaFields(kind, spec);
  report.warn(...warnings);
  return kept;
}

/**
 * Spec fields of Kuma's documents that have no effect here and are dropped with this warning. Fields whose loss would
 * weaken a mesh (constraints) are not listed: they are refused.
 */
const IGNORED_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Mesh: {
    skipCreatingInitialPolicies: 'was dropped: no policies are created with a mesh here',
  },
};

/** Returns a user's spec without the fields of `IGNORED_FIELDS`. */
function dropIgnoredKumaFields(
  kind: Kind,
  spec: JsonObject,
): { readonly kept: JsonObject; readonly warnings: readonly string[] } {
  const ignored = IGNORED_FIELDS[kind.name] ?? {};
  const dropped = Object.keys(spec).filter((key) => Object.hasOwn(ignored, key));
  if (dropped.length === 0) return { kept: spec, warnings: [] };
  return {
    kept: Object.fromEntries(Object.entries(spec).filter(([key]) => !dropped.includes(key))),
    warnings: dropped.map((key) => `spec.${key}: ${ignored[key] ?? ''}`),
  };
}

/** Returns the names in `IGNORED_FIELDS` for a kind. */
function ignoredKumaFields(kind: Kind | undefined): readonly string[] {
  return Object.keys((kind && IGNORED_FIELDS[kind.name]) ?? {});
}
