import type { FieldPath, Violations } from './violation';

/** A JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object; absent keys read as `undefined`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined;
}

/** True for objects other than `null` and arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for arrays, typed as read-only JSON. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns an own field of the object, never an inherited one: users may call a field `constructor`. */
export function ownField(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Deep equality like that of jsonb in Postgres: key order and keys with value `undefined` are ignored. */
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

/** Maximum nesting of a document: far more than any kind needs, far less than overflows a stack. */
const MAX_JSON_DEPTH = 64;

/**
 * Returns the size of `value` as JSON in UTF-8, bytes. Counting stops soon after `most`; the result is then any number above
 * `most`. Nesting deeper than `MAX_JSON_DEPTH` counts as more than `most`. Linear in the smaller of value and `most`.
 */
export function jsonBytes(value: unknown, most = Infinity): number {
  return countBytes(value, most, 0);
}

function countBytes(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : JSON.stringify(value).length;
  if (depth > MAX_JSON_DEPTH) return Infinity;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += countBytes(item, most - bytes, depth + 1) + 1;
      if (bytes > most) break;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    bytes += textBytes(key) + countBytes(item, most - bytes, depth + 1) + 2;
    if (bytes > most) break;
  }
  return bytes;
}

function textBytes(text: string): number {
  return /["\\\u0000-\u001f]/.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
}

/** JSON escapes of NUL and of lone surrogates, and the only key that no document may have. */
const SUSPECT = /\\u0000|\\ud[89a-f]|__proto__/;

/**
 * True if `value` is certainly smaller than `bytes` and passes `checkStorable`: a fast check that almost every resource
 * passes. If false, `jsonBytes` and `checkStorable` decide. Linear in the value.
 */
export function isSurelyStorable(value: unknown, bytes: number): boolean {
  if (isDeeper(value, MAX_JSON_DEPTH)) return false;
  const text = JSON.stringify(value);
  // One UTF-16 code unit is at most three bytes of UTF-8.
  return text.length * 3 <= bytes && !SUSPECT.test(text);
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most < 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, most - 1)) return true;
  return false;
}

/**
 * Adds violations for values that stores cannot hold: nesting deeper than `MAX_JSON_DEPTH`, numbers that are not finite,
 * NUL and lone surrogates (Postgres refuses both in jsonb), keys called `__proto__`. Linear in the value.
 */
export function checkStorable(value: unknown, at: FieldPath, found: Violations): void {
  checkValue(value, at, found, 0);
}

function checkValue(value: unknown, at: FieldPath, found: Violations, depth: number): void {
  if (typeof value === 'string') {
    if (!isText(value)) found.add(at, 'not-text', () => 'must not hold NUL or half a surrogate pair');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) found.add(at, 'wrong-type', () => `must be a finite number; got ${value}`);
  } else if (typeof value === 'object' && value !== null) {
    if (depth > MAX_JSON_DEPTH) {
      found.add(at, 'too-deep', () => `must not be nested deeper than ${MAX_JSON_DEPTH}`);
    } else if (Array.isArray(value)) {
      value.forEach((item, i) => checkValue(item, at.index(i), found, depth + 1));
    } else {
      for (const [key, item] of Object.entries(value)) {
        if (key === '__proto__' || !isText(key)) found.add(at, 'not-text', () => 'has a key that no document may have');
        else checkValue(item, at.field(key), found, depth + 1);
      }
    }
  }
}

/** True for text without NUL and lone surrogates, which every store can hold. */
function isText(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}

/** Limits of a large body: far more than any document of a kind has. */
const MAX_JSON_SHAPE = { values: 50_000, keys: 5_000 } as const;

/**
 * Returns why a value has too many parts to be parsed on the main thread; undefined if it does not. Hundreds of
 * thousands of empty objects or digits, and objects with very many keys, take longer than anything else of their size.
 * Does not recurse.
 */
export function jsonShapeViolation(value: unknown): string | undefined {
  const open: unknown[] = [value];
  let values = 0;
  while (open.length > 0) {
    const next = open.pop();
    if (++values > MAX_JSON_SHAPE.values) return `it has more than ${MAX_JSON_SHAPE.values} keys and values`;
    if (typeof next !== 'object' || next === null) continue;
    const inner: unknown[] = Object.values(next);
    if (!Array.isArray(next) && inner.length > MAX_JSON_SHAPE.keys)
      return `an object in it has more than ${MAX_JSON_SHAPE.keys} keys`;
    if (values + open.length + inner.length > MAX_JSON_SHAPE.values)
      return `it has more than ${MAX_JSON_SHAPE.values} keys and values`;
    for (const one of inner) open.push(one);
  }
  return undefined;
}

/** Returns the number of keys and values of a value, itself included. Does not recurse. */
export function countJsonValues(value: unknown): number {
  const open: unknown[] = [value];
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    values += 1;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) open.push(inner);
  }
  return values;
}
