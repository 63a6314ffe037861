import { effectiveLabels, type Labels, type Resource, type SpecOf } from '@causeway/resources';
import type { Dataplane, MeshService } from '@causeway/kinds';
import { labelsMatch } from '@causeway/resources';
import { pairsOf, type Pair } from './pair-index';

/** A Dataplane as its kind describes it. */
export type DataplaneResource = Resource<SpecOf<typeof Dataplane>>;
/** A MeshService as its kind describes it. */
export type ServiceResource = Resource<SpecOf<typeof MeshService>>;

/** A selector read once: what a Dataplane must carry, and where it must be. */
export interface DataplaneSelector {
  readonly scope: string;
  /** All of them are carried by whoever matches; any of them finds all candidates. */
  readonly pairs: readonly Pair[];
  readonly matches: (dataplane: DataplaneResource) => boolean;
}

/**
 * What of a MeshService selects Dataplanes; undefined where nothing can match (kuma-2.14.md §1 Matching): all of
 * `dataplaneTags` on one inbound, without wildcards, `{}` none; `dataplaneLabels` `{}` all; a Dataplane without inbound
 * never. Service and Dataplanes are of one mesh, zone and namespace.
 */
export function selectorOf(service: ServiceResource): DataplaneSelector | undefined {
  const { dataplaneTags: tags, dataplaneLabels: labels, dataplaneRef: ref } = service.spec.selector ?? {};
  const scope = scopeOf(service);
  if (ref) return { scope, pairs: namePair(scope, ref.name), matches: (dataplane) => dataplane.id.name === ref.name };
  if (labels) return byLabels(scope, labels.matchLabels ?? {});
  return tags && Object.keys(tags).length > 0 ? byTags(scope, tags) : undefined;
}

/** Everything by which selectors may look for this Dataplane; nothing for one that none can match. */
export function pairsOfDataplane(dataplane: DataplaneResource): readonly Pair[] {
  const scope = scopeOf(dataplane);
  const inbounds = dataplane.spec.networking.inbound ?? [];
  if (inbounds.length === 0) return [];
  const tags = inbounds.flatMap((inbound) => pairsOf(`${scope}/tag`, inbound.tags ?? {}));
  const labels = pairsOf(`${scope}/label`, effectiveLabels(dataplane));
  return [...new Set([...anyPair(scope), ...namePair(scope, dataplane.id.name), ...labels, ...tags])];
}

function byLabels(scope: string, wanted: Labels): DataplaneSelector {
  const pairs = pairsOf(`${scope}/label`, wanted);
  const matches = (dataplane: DataplaneResource): boolean => labelsMatch(wanted, effectiveLabels(dataplane));
  return { scope, pairs: pairs.length === 0 ? anyPair(scope) : pairs, matches };
}

function byTags(scope: string, wanted: Labels): DataplaneSelector {
  const matches = (dataplane: DataplaneResource): boolean =>
    (dataplane.spec.networking.inbound ?? []).some((inbound) => labelsMatch(wanted, inbound.tags ?? {}));
  return { scope, pairs: pairsOf(`${scope}/tag`, wanted), matches };
}

function scopeOf({ id }: ServiceResource | DataplaneResource): string {
  return `${id.mesh}/${id.zone}/${id.namespace}`;
}

function anyPair(scope: string): readonly Pair[] {
  return [`${scope}/any`];
}

function namePair(scope: string, name: string): readonly Pair[] {
  return pairsOf(`${scope}/name`, { name });
}
