import {
  effectiveLabel,
  isGeneratedFrom,
  isJsonArray,
  hasEffectiveLabels,
  isJsonObject,
  labelsMatch,
  labelValue,
  type Labels,
  type Resource,
  type SpecOf,
} from '@causeway/resources';
import { nodeServiceName } from '@causeway/appmesh';
import { Dataplane, MeshService } from '@causeway/kinds';
import type { SelectorTerm } from './selector-matcher';

/** A Dataplane, typed by its kind. */
export type DataplaneResource = Resource<SpecOf<typeof Dataplane>>;
/** One inbound listener of a Dataplane. */
export type DataplaneInbound = NonNullable<DataplaneResource['spec']['networking']['inbound']>[number];
/** A MeshService, typed by its kind. */
export type ServiceResource = Resource<SpecOf<typeof MeshService>>;

/** The parsed selector of a MeshService. */
export interface DataplaneSelector {
  /** Terms that every matching Dataplane has. */
  readonly terms: readonly SelectorTerm[];
  readonly matches: (dataplane: DataplaneResource) => boolean;
}

/** Prefix of the names of services generated for VirtualNodes. */
const NODE_PREFIX = nodeServiceName('');
const [ANY, NAME, LABEL, TAG] = ['any', 'name', 'label ', 'tag '] as const;

/**
 * Returns the selector of a MeshService; undefined if nothing can match (docs/reference/kuma-2.14.md §1 Matching). All `dataplaneTags` must be on one
 * inbound, without wildcards, and `{}` selects none; `dataplaneLabels: {}` selects all. Never selects a Dataplane without inbounds, or whose host has
 * no grant for the service (docs/reference/enrolments.md). Service and Dataplanes have the same mesh, zone and namespace.
 */
export function findSelector(service: ServiceResource): DataplaneSelector | undefined {
  const selector = ofSpec(service);
  if (!selector) return undefined;
  const names = grantsFor(service);
  return { ...selector, matches: (dataplane) => isGranted(dataplane, names) && selector.matches(dataplane) };
}

/** Returns the names that grant a host the service: its own, and for a VirtualNode's service also the node's. */
function grantsFor({ id, labels }: ServiceResource): readonly string[] {
  const isOfNode = isGeneratedFrom(labels) && id.name.startsWith(NODE_PREFIX);
  return isOfNode ? [id.name, id.name.slice(NODE_PREFIX.length)] : [id.name];
}

/** Whether a registered Dataplane's credential grants the service, regardless of its tags and labels. */
function isGranted({ spec: { grantedServices } }: DataplaneResource, names: readonly string[]): boolean {
  return !isJsonArray(grantedServices) || names.some((name) => grantedServices.includes(name));
}

function ofSpec(service: ServiceResource): DataplaneSelector | undefined {
  const { dataplaneTags: tags, dataplaneLabels: labels, dataplaneRef: ref } = service.spec.selector ?? {};
  const scope = formatScope(service);
  if (ref)
    return { terms: [{ attribute: NAME, value: `${scope}${ref.name}` }], matches: (d) => d.id.name === ref.name };
  if (labels) return isCrowded(labels.matchLabels) ? undefined : byLabels(scope, labels.matchLabels ?? {});
  if (!tags || isCrowded(tags)) return undefined;
  return Object.keys(tags).length > 0 ? byTags(scope, tags) : undefined;
}

/** Maximum number of terms of one selector, each of which costs an index over all Dataplanes. A stored selector with more matches nothing. */
const MAX_TERMS = 256;

function isCrowded(wanted: Labels | undefined): boolean {
  return wanted !== undefined && Object.keys(wanted).length > MAX_TERMS;
}

/** Cache of validated Dataplanes: validation costs their inbounds, and many callers need it. */
const known = new WeakMap<Resource, DataplaneResource>();

/** Returns a stored resource as Dataplane; undefined if it is not one. Stored resources never change, so each is checked once. */
export function asDataplane(resource: Resource | undefined): DataplaneResource | undefined {
  if (resource?.id.kind !== Dataplane.name) return undefined;
  const before = known.get(resource);
  if (before || !Dataplane.is(resource)) return before;
  known.set(resource, resource);
  return resource;
}

/** Returns the readable inbounds: a Dataplane of another zone may lack required fields. */
export function listInbounds({ spec }: DataplaneResource): readonly DataplaneInbound[] {
  const inbounds = spec.networking?.inbound ?? [];
  return inbounds.every(isJsonObject) ? inbounds : inbounds.filter((inbound) => isJsonObject(inbound));
}

/** Returns a Dataplane's values of an attribute; none for a Dataplane without inbounds, which no selector matches. */
export function dataplaneValues(dataplane: DataplaneResource, attribute: string): readonly string[] {
  const inbounds = listInbounds(dataplane);
  if (inbounds.length === 0) return [];
  const found = foundValues(dataplane, attribute, inbounds);
  const scope = formatScope(dataplane);
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
    matches: (dataplane) => listInbounds(dataplane).some(({ tags }) => labelsMatch(wanted, tags ?? {})),
  };
}

function formatScope({ id }: ServiceResource | DataplaneResource): string {
  return `${id.mesh}/${id.zone}/${id.namespace}/`;
}

/**
 * Yields the Dataplanes that serve `service`, by the rule of its `dataplaneProxies` counts; yields undefined for each
 * that does not, so that the caller can yield to the event loop.
 */
export function* selectedDataplanes(
  service: Resource,
  dataplanes: Iterable<Resource>,
): Generator<Resource | undefined> {
  const selector = MeshService.is(service) ? findSelector(service) : undefined;
  if (!selector) return;
  for (const each of dataplanes) {
    const one = asDataplane(each);
    yield one && selects(selector, one) ? each : undefined;
  }
}

function selects({ terms, matches }: DataplaneSelector, one: DataplaneResource): boolean {
  return terms.every(({ attribute, value }) => dataplaneValues(one, attribute).includes(value)) && matches(one);
}
