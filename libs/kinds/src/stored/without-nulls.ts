import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** No document of a kind is nested so deeply. */
const DEEPEST = 32;

/** A value without the nulls by which peers say that a field is absent. Linear in it; what is nested too deeply stays as it is. */
export function withoutNulls(value: JsonValue, depth = DEEPEST): JsonValue {
  if (depth === 0) return value;
  if (isJsonArray(value)) return value.map((item) => withoutNulls(item, depth - 1));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(
    kept.map(([key, item]): [string, JsonValue] => [key, withoutNulls(item ?? '', depth - 1)]),
  ) satisfies JsonObject;
}
