import {
  FieldPath,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Violation,
} from '@causeway/resources';

const DEEPEST = 64;

/**
 * A request body as JSON that every store can hold, or what is wrong with it: nesting beyond 64, numbers that JSON
 * cannot say, NUL and halves of surrogate pairs (Postgres refuses both in jsonb), keys called `__proto__`.
 */
export function readJsonObject(body: unknown): {
  readonly object: JsonObject;
  readonly violations: readonly Violation[];
} {
  if (!isJsonObject(body)) return { object: {}, violations: [FieldPath.at().violation('the body must be an object')] };
  return { object: body, violations: unsafeParts(body, FieldPath.at(), 0) };
}

function unsafeParts(value: JsonValue | undefined, at: FieldPath, depth: number): Violation[] {
  if (typeof value === 'string')
    return isSafeText(value) ? [] : [at.violation('must not hold NUL or half a surrogate pair')];
  if (typeof value === 'number')
    return Number.isFinite(value) ? [] : [at.violation(`must be a finite number; got ${value}`)];
  if (depth > DEEPEST) return [at.violation(`must not be nested deeper than ${DEEPEST}`)];
  if (isJsonArray(value)) return value.flatMap((item, i) => unsafeParts(item, at.index(i), depth + 1));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => unsafeEntry(key, item, at, depth));
  return [];
}

function unsafeEntry(key: string, item: JsonValue | undefined, at: FieldPath, depth: number): Violation[] {
  if (key === '__proto__' || !isSafeText(key)) return [at.violation('has a key that no document may have')];
  return unsafeParts(item, at.field(key), depth + 1);
}

function isSafeText(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}
