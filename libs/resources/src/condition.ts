import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from './json';

/** One statement of one writer about a resource, in its status (docs/design.md §1, Conditions). */
export type Condition = {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** The generation that the statement is about. */
  readonly observedGeneration: number;
};

/** The stored condition of this type, or undefined. */
export function conditionOf(status: JsonObject | undefined, type: string): JsonObject | undefined {
  return conditionsOf(status)
    .filter(isJsonObject)
    .find((condition) => condition['type'] === type);
}

/**
 * `status` with `next` in place of the condition of its type; all other conditions are unchanged and keep their place.
 * `lastTransitionTime` (RFC 3339) changes only if the condition's status does. Returns the same object if nothing changes.
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

/** `status` without the conditions of these types. Returns the same object if it has none of them. */
export function withoutConditions(status: JsonObject, types: readonly string[]): JsonObject {
  const all = conditionsOf(status);
  const kept = all.filter((condition) => !isOfType(condition, types));
  if (kept.length === all.length) return status;
  const { conditions: _, ...rest } = status;
  return kept.length === 0 ? rest : { ...rest, conditions: kept };
}

/** `status` with its conditions of these types replaced by those of `source`. */
export function withConditionsOf(status: JsonObject, types: readonly string[], source: JsonObject): JsonObject {
  const taken = conditionsOf(source).filter((condition) => isOfType(condition, types));
  const rest = withoutConditions(status, types);
  return taken.length === 0 ? rest : { ...rest, conditions: [...conditionsOf(rest), ...taken] };
}

function isOfType(condition: JsonValue, types: readonly string[]): boolean {
  return isJsonObject(condition) && types.some((type) => type === condition['type']);
}

function conditionsOf(status: JsonObject | undefined): readonly JsonValue[] {
  const conditions = status?.['conditions'];
  return isJsonArray(conditions) ? conditions : [];
}
