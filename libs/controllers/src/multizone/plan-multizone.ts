import {
  compareText,
  hasEffectiveLabels,
  isJsonObject,
  jsonEqual,
  withCondition,
  type Condition,
  type JsonObject,
  type JsonValue,
  type Labels,
  type Resource,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';

/** Maximum number of labels in a selector, each of which costs an index over all services. A stored selector with more matches nothing. */
const MAX_SELECTOR_LABELS = 256;

/** The condition that states whether a MeshMultiZoneService matches any MeshService (docs/reference/kuma-rest.md §8.5). */
const MESH_SERVICES_MATCHED = 'MeshServicesMatched';

/**
 * Returns the labels that the selector of a MeshMultiZoneService requires; undefined if it requires none and so matches nothing. Another zone may
 * have sent the selector, so values that are not text are ignored.
 */
export function requiredLabels(service: Resource): Labels | undefined {
  const selector = service.spec['selector'];
  const ofServices = isJsonObject(selector) ? selector['meshService'] : undefined;
  const required = isJsonObject(ofServices) ? ofServices['matchLabels'] : undefined;
  if (!isJsonObject(required)) return undefined;
  const labels = Object.entries(required).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  return labels.length === 0 || labels.length > MAX_SELECTOR_LABELS ? undefined : Object.fromEntries(labels);
}

/** Reports whether a MeshMultiZoneService matches a MeshService: same mesh, all required labels. */
export function isMatched(service: Resource, required: Labels, candidate: Resource): boolean {
  return candidate.id.mesh === service.id.mesh && hasEffectiveLabels(candidate, required);
}

/** Returns the patch that lists `matches` in the status of a MeshMultiZoneService; undefined if they are listed. */
export function planMultizone(service: Resource, matches: readonly Resource[], now: number): PatchChange | undefined {
  const before = service.status ?? {};
  const named = matches
    .map(({ id: { name, namespace, zone, mesh } }) => ({ name, namespace, zone, mesh }))
    .sort((a, b) => compareText(sortKey(a), sortKey(b)));
  const listed = sameMatches(before['meshServices'], named) ? before : { ...before, meshServices: named };
  const status: JsonObject = withCondition(listed, matched(service.generation, named.length), now);
  return status === before ? undefined : { type: 'patch', id: service.id, expect: service.revision, status };
}

type Match = { readonly name: string; readonly namespace: string; readonly zone: string; readonly mesh: string };

function sortKey({ name, namespace, zone, mesh }: Match): string {
  return `${name}/${namespace}/${zone}/${mesh}`;
}

function sameMatches(stored: JsonValue | undefined, named: readonly Match[]): boolean {
  return jsonEqual(stored ?? [], named);
}

function matched(observedGeneration: number, count: number): Condition {
  const type = MESH_SERVICES_MATCHED;
  if (count > 0) {
    const message = `Matched ${count} MeshService(s)`;
    return { type, status: 'True', reason: 'MatchesFound', message, observedGeneration };
  }
  const message = 'Selector does not match any MeshService in this zone';
  return { type, status: 'False', reason: 'NoMatchesFound', message, observedGeneration };
}
