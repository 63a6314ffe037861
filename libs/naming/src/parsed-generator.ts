import {
  effectiveLabel,
  identityKey,
  isJsonObject,
  type Identity,
  type JsonObject,
  type JsonValue,
} from '@causeway/resources';
import type { GeneratorRank } from './precedence';
import { parseTemplate, type Template, type TemplateSubject } from './template';

/** Kinds of service that get hostnames, by the selector field that names them. */
export const SERVICE_KINDS = {
  meshService: 'MeshService',
  meshMultiZoneService: 'MeshMultiZoneService',
  meshExternalService: 'MeshExternalService',
} as const;

/** One label that a service must have. */
export interface RequiredLabel {
  readonly key: string;
  readonly value: string;
}

/** The services of one kind that have all wanted labels; none wanted = all of the kind. */
export interface ServiceSelector {
  readonly kind: string;
  readonly required: readonly RequiredLabel[];
}

/** Labels that a selector may name: each costs an index over all services. One that names more selects nothing. */
const MAX_SELECTOR_LABELS = 256;

/** A HostnameGenerator, read and parsed once. */
export interface ParsedGenerator extends GeneratorRank {
  readonly key: string;
  readonly selectors: readonly ServiceSelector[];
  /** Absent when the text is no template of ours (a synced one may be any Go template); `problem` then says why. */
  readonly template: Template | undefined;
  readonly problem: string;
}

/** A HostnameGenerator as a store holds it. */
export interface GeneratorSource {
  readonly id: Identity;
  readonly creationOrder: number;
  readonly spec: JsonObject;
}

/**
 * Reads a generator. Never refuses: what came by sync may be anything, so a selector that cannot be read selects
 * nothing and a template that cannot be parsed gives NotAvailable with the reason. `labels` (seed) and `matchLabels`
 * (Kuma) mean the same (T001-12).
 */
export function parseGenerator(source: GeneratorSource, madeHere: boolean): ParsedGenerator {
  const selectors = serviceSelectors(source.spec['selector']);
  const crowded = selectors.some(({ required: wanted }) => wanted.length > MAX_SELECTOR_LABELS);
  const parsed = parseTemplate(typeof source.spec['template'] === 'string' ? source.spec['template'] : '');
  return {
    key: identityKey(source.id),
    id: source.id,
    creationOrder: source.creationOrder,
    madeHere,
    // An extension of Kuma's names services in ways unknown here; its template is not meant for us.
    selectors: source.spec['extension'] === undefined && !crowded ? selectors : [],
    template: parsed.ok ? parsed.template : undefined,
    problem: parsed.ok ? '' : `the template of HostnameGenerator ${source.id.name} cannot be used: ${parsed.reason}`,
  };
}

/** True when both would make the same claims with the same rank. */
export function sameGenerator(a: ParsedGenerator, b: ParsedGenerator): boolean {
  return (
    a.creationOrder === b.creationOrder &&
    a.madeHere === b.madeHere &&
    a.template?.text === b.template?.text &&
    a.problem === b.problem &&
    JSON.stringify(a.selectors) === JSON.stringify(b.selectors)
  );
}

/** True when `subject` has every wanted label, stored or implied. */
export function hasLabels(wanted: readonly RequiredLabel[], subject: TemplateSubject): boolean {
  for (const { key, value } of wanted) if (effectiveLabel(subject, key) !== value) return false;
  return true;
}

function serviceSelectors(selector: JsonValue | undefined): ServiceSelector[] {
  if (!isJsonObject(selector)) return [];
  return Object.entries(SERVICE_KINDS).flatMap(([field, kind]) => {
    const part = selector[field];
    if (!isJsonObject(part)) return [];
    return [{ kind, required: [...requiredLabels(part['labels']), ...requiredLabels(part['matchLabels'])] }];
  });
}

function requiredLabels(labels: JsonValue | undefined): RequiredLabel[] {
  if (!isJsonObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => (typeof value === 'string' ? [{ key, value }] : []));
}
