import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '@causeway/resources';

/** What one writer says of one aspect of a resource, in its status (design.md §1 Conditions). */
export type Condition = {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** The generation this was said of. */
  readonly observedGeneration: number;
};

/** The stored condition of this type, or undefined. */
export function conditionOf(status: JsonObject | undefined, type: string): JsonObject | undefined {
  return conditionsOf(status)
    .filter(isJsonObject)
    .find((condition) => condition['type'] === type);
}

/**
 * `status` with `next` in place of the condition of its type; the others stay as and where they are.
 * `lastTransitionTime` (RFC 3339) moves only when the condition's status does. The same object when nothing changes.
 */
export function withCondition(status: JsonObject, next: Condition, now: number): JsonObject {
  const stored = conditionOf(status, next.type);
  const since = stored?.['status'] === next.status ? stored['lastTransitionTime'] : new Date(now).toISOString();
  const condition: JsonObject = { ...next, lastTransitionTime: since };
  if (jsonEqual(stored, condition)) return status;
  const all = conditionsOf(status);
  const conditions = stored ? all.map((other) => (other === stored ? condition : other)) : [...all, condition];
  return { ...status, conditions };
}

function conditionsOf(status: JsonObject | undefined): readonly JsonValue[] {
  const conditions = status?.['conditions'];
  return isJsonArray(conditions) ? conditions : [];
}
