import type { FieldPath } from './violation';
import type { Violations } from './violations';

/** Deepest nesting of a document: far above what any kind needs, far below what exhausts a stack. */
export const DEEPEST_JSON = 64;

/**
 * Bytes of `value` as JSON in UTF-8. Counting stops soon after `most`: the result is then some number above it. Nesting
 * below `DEEPEST_JSON` levels counts as above `most`. Linear in the value, or in `most` where that is less.
 */
export function jsonBytes(value: unknown, most = Infinity): number {
  return bytesOf(value, most, 0);
}

function bytesOf(value: unknown, most: number, depth: number): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return value === undefined ? 0 : JSON.stringify(value).length;
  if (depth > DEEPEST_JSON) return Infinity;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += bytesOf(item, most - bytes, depth + 1) + 1;
      if (bytes > most) break;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    bytes += textBytes(key) + bytesOf(item, most - bytes, depth + 1) + 2;
    if (bytes > most) break;
  }
  return bytes;
}

function textBytes(text: string): number {
  return /["\\\u0000-\u001f]/.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
}

/** Escapes of NUL and of halves of surrogate pairs as JSON writes them, and the one key that no document may have. */
const SUSPECT = /\\u0000|\\ud[89a-f]|__proto__/;

/**
 * True where `value` is surely smaller than `bytes` and passes `checkStorable`: a fast look that almost every resource
 * passes. False means that `jsonBytes` and `checkStorable` must look closely. Linear in the value.
 */
export function isSurelyStorable(value: unknown, bytes: number): boolean {
  if (isDeeper(value, DEEPEST_JSON)) return false;
  const text = JSON.stringify(value);
  // A character of UTF-16 is at most three bytes of UTF-8.
  return text.length * 3 <= bytes && !SUSPECT.test(text);
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (most < 0) return true;
  for (const inner of Object.values(value)) if (isDeeper(inner, most - 1)) return true;
  return false;
}

/**
 * Notes what of `value` no store can hold: nesting beyond `DEEPEST_JSON`, numbers that JSON cannot say, NUL and halves of
 * surrogate pairs (Postgres refuses both in jsonb), keys called `__proto__`. Linear in the value.
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
    if (depth > DEEPEST_JSON) {
      found.add(at, 'too-deep', () => `must not be nested deeper than ${DEEPEST_JSON}`);
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

/** True for text that every store holds as it is: no NUL, no half of a surrogate pair. */
export function isText(text: string): boolean {
  return !text.includes('\u0000') && !/\p{Surrogate}/u.test(text);
}
