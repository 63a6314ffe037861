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

/** Labels of one selector: each costs an index over all services. What was stored with more matches nothing. */
const MAX_SELECTOR_LABELS = 256;

/** Says whether a MeshMultiZoneService has services to stand for (rest.md §8.5). */
export const MESH_SERVICES_MATCHED = 'MeshServicesMatched';

/**
 * The labels that a MeshMultiZoneService asks of MeshServices; undefined where it asks nothing and so matches none.
 * Reads what a peer may have sent, hence tolerant: what is no text is passed over.
 */
export function wantedLabels(service: Resource): Labels | undefined {
  const selector = service.spec['selector'];
  const ofServices = isJsonObject(selector) ? selector['meshService'] : undefined;
  const wanted = isJsonObject(ofServices) ? ofServices['matchLabels'] : undefined;
  if (!isJsonObject(wanted)) return undefined;
  const labels = Object.entries(wanted).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  return labels.length === 0 || labels.length > MAX_SELECTOR_LABELS ? undefined : Object.fromEntries(labels);
}

/** Whether a MeshService is one of those a MeshMultiZoneService stands for: same mesh, all labels. */
export function isMatched(service: Resource, wanted: Labels, candidate: Resource): boolean {
  return candidate.id.mesh === service.id.mesh && hasEffectiveLabels(candidate, wanted);
}

/** What to write so that a MeshMultiZoneService names these matches; undefined when it does. */
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
