import type { CST } from 'yaml';

interface TokenAtDepth {
  readonly token: CST.Token | null | undefined;
  readonly depth: number;
}

/** How deep collections are nested in a token, as far as `deepest`, and how many keys and values it has. */
export interface TokenSize {
  readonly tooDeep: boolean;
  readonly nodes: number;
}

/**
 * Measures `token`, and stops where it is deeper than `deepest`. Composing nested collections recurses, and a stack
 * that runs out inside a regular expression ends the process, so this looks first, without recursion.
 */
export function tokenSize(token: CST.Token, deepest: number): TokenSize {
  const open: TokenAtDepth[] = [{ token, depth: 0 }];
  let nodes = 0;
  for (let place = open.pop(); place; place = open.pop()) {
    if (place.depth > deepest) return { tooDeep: true, nodes };
    if (place.token) nodes++;
    // One by one: a list of all items as arguments would need a stack as long.
    for (const inner of innerTokens(place)) open.push(inner);
  }
  return { tooDeep: false, nodes };
}

function innerTokens({ token, depth }: TokenAtDepth): TokenAtDepth[] {
  if (!token) return [];
  if (token.type === 'document') return [{ token: token.value, depth }];
  if (!('items' in token)) return [];
  return token.items.flatMap((item) => [
    { token: item.key, depth: depth + 1 },
    { token: item.value, depth: depth + 1 },
  ]);
}
