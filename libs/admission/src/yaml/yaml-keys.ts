import { isCollection, isScalar, visit, type Document, type Pair } from 'yaml';

/** A key that no document may have. */
export interface BadKey {
  readonly offset: number;
  readonly reason: string;
}

/**
 * The first key that is no text or stands twice in its map. The library's own check compares every key with every
 * other: two minutes for a map of 100,000.
 */
export function badKey(document: Document.Parsed): BadKey | undefined {
  let found: BadKey | undefined;
  visit(document, {
    Map: (_, map) => {
      found = badKeyAmong(map.items);
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

function badKeyAmong(pairs: readonly Pair[]): BadKey | undefined {
  const seen = new Set<string>();
  for (const { key } of pairs) {
    const offset = (isScalar(key) || isCollection(key) ? key.range?.[0] : undefined) ?? 0;
    const text = isScalar(key) ? keyText(key.value) : undefined;
    if (text === undefined) return { offset, reason: 'a key must be text' };
    if (seen.has(text)) return { offset, reason: `the key "${text}" stands twice` };
    seen.add(text);
  }
  return undefined;
}

/** Keys that look like numbers or truth values are text all the same. */
function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
