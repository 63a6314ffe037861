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
    if (!isScalar(key) || key.value === null) return { offset, reason: 'a key must be text' };
    const text = String(key.value);
    if (seen.has(text)) return { offset, reason: `the key "${text}" stands twice` };
    seen.add(text);
  }
  return undefined;
}
