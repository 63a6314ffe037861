import { isJsonArray, isJsonObject, jsonEqual, type JsonObject, type JsonValue } from './json';

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

/** `status` without the conditions of these types; the same object when none of them stands. */
export function withoutConditions(status: JsonObject, types: readonly string[]): JsonObject {
  const all = conditionsOf(status);
  const kept = all.filter((condition) => !isOfType(condition, types));
  if (kept.length === all.length) return status;
  const { conditions: _, ...rest } = status;
  return kept.length === 0 ? rest : { ...rest, conditions: kept };
}

/** `status` with the conditions of these types as `source` has them: its own, if any, give way. */
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
