import {
  effectiveLabel,
  identityKey,
  isJsonObject,
  Label,
  type Identity,
  type JsonObject,
  type JsonValue,
} from '@causeway/resources';
import type { GeneratorRank } from './precedence';
import { parseTemplate, type Template, type TemplateSubject } from './template';

/** Kinds of services that get hostnames, by the field of the selector that names them. */
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

/** Selects the services of one kind that have all required labels; all of the kind if no label is required. */
interface ServiceSelector {
  readonly kind: string;
  readonly required: readonly RequiredLabel[];
}

/** Maximum number of labels in a selector, each of which costs an index over all services. A selector with more selects nothing. */
const MAX_SELECTOR_LABELS = 256;

/** A parsed HostnameGenerator. */
export interface ParsedGenerator extends GeneratorRank {
  readonly key: string;
  readonly selectors: readonly ServiceSelector[];
  /** Undefined if the text cannot be parsed (a synced one may be any Go template); `problem` has the reason. */
  readonly template: Template | undefined;
  readonly problem: string;
}

/** A stored HostnameGenerator. */
export interface GeneratorSource {
  readonly id: Identity;
  readonly creationOrder: number;
  readonly spec: JsonObject;
}

/**
 * Parses a generator and never fails, because a synced one may have any content: an invalid selector selects nothing,
 * and an invalid template gives addresses that are NotAvailable with the reason. `labels` and Kuma's `matchLabels` mean
 * the same (T001-12).
 */
export function parseGenerator(source: GeneratorSource, madeHere: boolean): ParsedGenerator {
  const selectors = serviceSelectors(source.spec['selector']);
  const crowded = selectors.some(({ required }) => required.length > MAX_SELECTOR_LABELS);
  const parsed = parseTemplate(typeof source.spec['template'] === 'string' ? source.spec['template'] : '');
  return {
    key: identityKey(source.id),
    id: source.id,
    creationOrder: source.creationOrder,
    madeHere,
    byOwner: parsed.ok && parsed.template.reads.labels.includes(Label.awsName),
    // Kuma's extensions name services in their own way; the templates of such generators are ignored here.
    selectors: source.spec['extension'] === undefined && !crowded ? selectors : [],
    template: parsed.ok ? parsed.template : undefined,
    problem: parsed.ok ? '' : `the template of HostnameGenerator ${source.id.name} cannot be used: ${parsed.reason}`,
  };
}

/** True if both make the same claims with the same precedence. */
export function sameGenerator(a: ParsedGenerator, b: ParsedGenerator): boolean {
  return (
    a.creationOrder === b.creationOrder &&
    a.madeHere === b.madeHere &&
    a.template?.text === b.template?.text &&
    a.problem === b.problem &&
    JSON.stringify(a.selectors) === JSON.stringify(b.selectors)
  );
}

/** True if `subject` has every required label, stored or implied. */
export function hasLabels(required: readonly RequiredLabel[], subject: TemplateSubject): boolean {
  for (const { key, value } of required) if (effectiveLabel(subject, key) !== value) return false;
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
