/** A value that JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object that JSON can say; absent keys read as `undefined`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for objects that are neither `null` nor arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for arrays, typed as read-only JSON. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** A field of the object itself, never what every object inherits: users may call a field `constructor`. */
export function ownField(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Deep equality as Postgres' jsonb sees it: key order and keys set to `undefined` do not count. */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (isJsonArray(a) && isJsonArray(b)) {
    return a.length === b.length && a.every((item, i) => jsonEqual(item, b[i]));
  }
  if (isJsonObject(a) && isJsonObject(b)) return objectsEqual(a, b);
  return false;
}

function objectsEqual(a: JsonObject, b: JsonObject): boolean {
  for (const key in a) if (!jsonEqual(ownField(a, key), ownField(b, key))) return false;
  for (const key in b) if (ownField(b, key) !== undefined && ownField(a, key) === undefined) return false;
  return true;
}
