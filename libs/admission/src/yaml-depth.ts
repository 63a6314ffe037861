import type { CST } from 'yaml';

interface Place {
  readonly token: CST.Token | null | undefined;
  readonly depth: number;
}

/**
 * True when collections in `token` are nested deeper than `limit`. Composing nested collections recurses, and a stack
 * that runs out inside a regular expression ends the process, so this looks first, without recursion.
 */
export function isDeeperThan(token: CST.Token, limit: number): boolean {
  const open: Place[] = [{ token, depth: 0 }];
  for (let place = open.pop(); place; place = open.pop()) {
    if (place.depth > limit) return true;
    open.push(...placesIn(place));
  }
  return false;
}

function placesIn({ token, depth }: Place): Place[] {
  if (!token) return [];
  if (token.type === 'document') return [{ token: token.value, depth }];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) => [
    { token: item.key, depth: depth + 1 },
    { token: item.value, depth: depth + 1 },
  ]);
}
