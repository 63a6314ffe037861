import {
  effectiveLabel,
  hasEffectiveLabels,
  isJsonObject,
  labelsMatch,
  labelValue,
  type Labels,
  type Resource,
  type SpecOf,
} from '@causeway/resources';
import type { Dataplane, MeshService } from '@causeway/kinds';
import type { SelectorTerm } from './attribute-index';

/** A Dataplane as its kind describes it. */
export type DataplaneResource = Resource<SpecOf<typeof Dataplane>>;
/** Where a Dataplane takes connections in. */
export type DataplaneInbound = NonNullable<DataplaneResource['spec']['networking']['inbound']>[number];
/** A MeshService as its kind describes it. */
export type ServiceResource = Resource<SpecOf<typeof MeshService>>;

/** A selector read once. */
export interface DataplaneSelector {
  /** Whoever matches has all of them. */
  readonly terms: readonly SelectorTerm[];
  readonly matches: (dataplane: DataplaneResource) => boolean;
}

const [ANY, NAME, LABEL, TAG] = ['any', 'name', 'label ', 'tag '] as const;

/**
 * What of a MeshService selects Dataplanes; undefined where nothing can match (kuma-2.14.md §1 Matching): all of
 * `dataplaneTags` on one inbound, without wildcards, `{}` none; `dataplaneLabels` `{}` all; a Dataplane without inbound
 * never. Service and Dataplanes are of one mesh, zone and namespace.
 */
export function selectorOf(service: ServiceResource): DataplaneSelector | undefined {
  const { dataplaneTags: tags, dataplaneLabels: labels, dataplaneRef: ref } = service.spec.selector ?? {};
  const scope = scopeOf(service);
  if (ref)
    return { terms: [{ attribute: NAME, value: `${scope}${ref.name}` }], matches: (d) => d.id.name === ref.name };
  if (labels) return isCrowded(labels.matchLabels) ? undefined : byLabels(scope, labels.matchLabels ?? {});
  if (!tags || isCrowded(tags)) return undefined;
  return Object.keys(tags).length > 0 ? byTags(scope, tags) : undefined;
}

/** Terms of one selector: each costs an index over all Dataplanes. What was stored with more matches nothing. */
const MAX_TERMS = 256;

function isCrowded(wanted: Labels | undefined): boolean {
  return wanted !== undefined && Object.keys(wanted).length > MAX_TERMS;
}

/** The inbounds that there are: a Dataplane that came with none of its required fields is one without inbound. */
export function inboundsOf({ spec }: DataplaneResource): readonly DataplaneInbound[] {
  const inbounds = spec.networking?.inbound ?? [];
  return inbounds.every(isJsonObject) ? inbounds : inbounds.filter((inbound) => isJsonObject(inbound));
}

/** The values of an attribute that a Dataplane has; none of one without inbound, which no selector matches. */
export function dataplaneValues(dataplane: DataplaneResource, attribute: string): readonly string[] {
  const inbounds = inboundsOf(dataplane);
  if (inbounds.length === 0) return [];
  const found = foundValues(dataplane, attribute, inbounds);
  const scope = scopeOf(dataplane);
  return [...new Set(found)].map((value) => `${scope}${value}`);
}

function foundValues(
  dataplane: DataplaneResource,
  attribute: string,
  inbounds: readonly { readonly tags?: Labels }[],
): readonly string[] {
  if (attribute === ANY) return [''];
  if (attribute === NAME) return [dataplane.id.name];
  if (attribute.startsWith(LABEL)) {
    const value = effectiveLabel(dataplane, attribute.slice(LABEL.length));
    return value === undefined ? [] : [value];
  }
  const tag = attribute.slice(TAG.length);
  return inbounds.flatMap(({ tags }) => (tags && labelValue(tags, tag)) ?? []);
}

function byLabels(scope: string, wanted: Labels): DataplaneSelector {
  const terms = Object.entries(wanted).map(([key, value]) => ({ attribute: LABEL + key, value: `${scope}${value}` }));
  return {
    terms: terms.length === 0 ? [{ attribute: ANY, value: scope }] : terms,
    matches: (dataplane) => hasEffectiveLabels(dataplane, wanted),
  };
}

function byTags(scope: string, wanted: Labels): DataplaneSelector {
  return {
    terms: Object.entries(wanted).map(([key, value]) => ({ attribute: TAG + key, value: `${scope}${value}` })),
    matches: (dataplane) => inboundsOf(dataplane).some(({ tags }) => labelsMatch(wanted, tags ?? {})),
  };
}

function scopeOf({ id }: ServiceResource | DataplaneResource): string {
  return `${id.mesh}/${id.zone}/${id.namespace}/`;
}
