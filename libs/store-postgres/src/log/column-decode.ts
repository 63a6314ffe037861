import { isJsonArray, isJsonObject, type FreedAddress, type JsonObject, type Labels } from '@causeway/resources';

/**
 * JSON columns as the rest of the program may rely on them. What we write always has these shapes; a row that a hand, an
 * older version or another tool has left must not stop a start. What is sound is handed on as it is, and costs no copy.
 */

/** Labels: the texts among the values of an object. */
export function labelsOf(column: unknown): Labels {
  if (!isJsonObject(column)) return {};
  return isTexts(column) ? column : textsOf(column);
}

/** A spec, or a status: an object, where there is one. */
export function objectOf(column: unknown): JsonObject | undefined {
  return isJsonObject(column) ? column : undefined;
}

/** Addresses that were freed: those of a list that say which and when. */
export function freedOf(column: unknown): readonly FreedAddress[] {
  const list: readonly unknown[] = isJsonArray(column) ? column : [];
  return list.every(isFreed) ? list : list.filter(isFreed);
}

function textsOf(column: JsonObject): Labels {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(column)) if (typeof value === 'string') texts[key] = value;
  return texts;
}

function isTexts(column: JsonObject): column is JsonObject & Labels {
  for (const key in column) if (typeof column[key] !== 'string') return false;
  return true;
}

function isFreed(value: unknown): value is FreedAddress {
  return isJsonObject(value) && typeof value['ip'] === 'string' && typeof value['at'] === 'number';
}
