import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from './json';
import type { Kind } from './kind/kind';
import type { Resource } from './resource';

/** Maximum number of conditions of one resource (row T000-36). */
const MAX_CONDITIONS = 8;

/** A condition in the status of a resource, written by one control loop (docs/design.md §1, Conditions). */
export type Condition = {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Generation of the spec that the condition describes. */
  readonly observedGeneration: number;
};

/** Returns the stored condition of this type, or undefined. */
export function findCondition(status: JsonObject | undefined, type: string): JsonObject | undefined {
  return listConditions(status)
    .filter(isJsonObject)
    .find((condition) => condition['type'] === type);
}

/**
 * Returns `status` with `next` in place of the condition of its type; all others are unchanged and keep their position.
 * `lastTransitionTime` (RFC 3339) changes only if the condition's status does. Returns the same object if nothing
 * changes, and if `next` would be a ninth condition (row T000-36).
 */
export function withCondition(status: JsonObject, next: Condition, now: number): JsonObject {
  const stored = findCondition(status, next.type);
  const since = stored?.['status'] === next.status ? stored['lastTransitionTime'] : new Date(now).toISOString();
  const condition: JsonObject = { ...next, lastTransitionTime: since };
  if (jsonEqual(stored, condition)) return status;
  const conditions = keyedByType([...listConditions(status), condition]);
  if (!stored && conditions.length > MAX_CONDITIONS) return status;
  return { ...status, conditions };
}

/** Condition of an ingress, egress or address of a zone that must not be used because its proxy is gone; absent while it may be used. */
export const WITHDRAWN = 'Withdrawn';

/** Whether an ingress, egress or address of a zone must not be used. */
export function isWithdrawn({ status }: Pick<Resource, 'status'>): boolean {
  return findCondition(status, WITHDRAWN)?.['status'] === 'True';
}

/** Returns `status` without the conditions of these types; the same object if it has none of them. */
export function withoutConditions(status: JsonObject, types: readonly string[]): JsonObject {
  const all = listConditions(status);
  const kept = all.filter((condition) => !isOfType(condition, types));
  if (kept.length === all.length) return status;
  const { conditions: _, ...rest } = status;
  return kept.length === 0 ? rest : { ...rest, conditions: kept };
}

/**
 * Returns `status` with its conditions of these types replaced by those of `source`: one per type, at most 8, those of
 * `source` first.
 */
export function withConditionsFrom(status: JsonObject, types: readonly string[], source: JsonObject): JsonObject {
  const taken = keyedByType(listConditions(source).filter((condition) => isOfType(condition, types)));
  const rest = withoutConditions(status, types);
  if (taken.length === 0) return rest;
  const kept = keyedByType(listConditions(rest)).slice(0, Math.max(0, MAX_CONDITIONS - taken.length));
  return { ...rest, conditions: [...kept, ...taken] };
}

/**
 * Returns the status of a resource for readers: the stored one, with the fields that its kind derives, and with pending
 * conditions for those that no controller has written yet. Undefined if it would be empty. Computed at each read, never stored.
 */
export function statusAsRead(
  { derive, pending }: Pick<Kind, 'derive' | 'pending'>,
  { id, spec, status }: Pick<Resource, 'id' | 'spec' | 'status'>,
): JsonObject | undefined {
  const derived = derive({ name: id.name, mesh: id.mesh, namespace: id.namespace, spec });
  const waiting = pending.filter((type) => !findCondition(status, type)).map(pendingCondition);
  if (waiting.length === 0 && Object.keys(derived).length === 0) return status;
  const conditions = waiting.length === 0 ? {} : { conditions: [...waiting, ...listConditions(status)] };
  return { ...status, ...derived, ...conditions };
}

/** Returns a condition that no controller has written yet, as in the schema of XMesh (row T000-25). */
function pendingCondition(type: string): JsonObject {
  return {
    type,
    status: 'Unknown',
    reason: 'Pending',
    message: 'Waiting for controller',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  };
}

/** Keeps one condition per type, the last of several, at the position of the first. */
function keyedByType(conditions: readonly JsonValue[]): readonly JsonValue[] {
  const byType = new Map<JsonValue | undefined, JsonValue>();
  for (const condition of conditions) byType.set(isJsonObject(condition) ? condition['type'] : undefined, condition);
  return [...byType.values()];
}

function isOfType(condition: JsonValue, types: readonly string[]): boolean {
  return isJsonObject(condition) && types.some((type) => type === condition['type']);
}

function listConditions(status: JsonObject | undefined): readonly JsonValue[] {
  const conditions = status?.['conditions'];
  return isJsonArray(conditions) ? conditions : [];
}
