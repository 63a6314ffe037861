import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Maximum depth: no document of a kind is nested deeper. */
const MAX_DEPTH = 32;

/** Returns a value without the nulls that peers send for absent fields. Linear in it; values nested deeper than `depth` stay as they are. */
export function withoutNulls(value: JsonValue, depth = MAX_DEPTH): JsonValue {
  if (depth === 0) return value;
  if (isJsonArray(value)) return value.map((item) => withoutNulls(item, depth - 1));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(
    kept.map(([key, item]): [string, JsonValue] => [key, withoutNulls(item ?? '', depth - 1)]),
  ) satisfies JsonObject;
}
