import { Composer, type CST, type Document } from 'yaml';

interface TokenAtDepth {
  readonly token: CST.Token | null | undefined;
  readonly depth: number;
}

/** Depth of the nested collections of a token, and number of its keys and values. */
export interface TokenSize {
  readonly tooDeep: boolean;
  readonly nodes: number;
}

/**
 * Measures `token` and stops if it is nested deeper than `deepest`. The library composes nested collections by
 * recursion, and a stack overflow inside a regular expression ends the process. This function does not recurse.
 */
export function tokenSize(token: CST.Token, deepest: number): TokenSize {
  const open: TokenAtDepth[] = [{ token, depth: 0 }];
  let nodes = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.depth > deepest) return { tooDeep: true, nodes };
    if (next.token) nodes++;
    // Pushed one by one: passing all items as arguments would need a stack as long as the list.
    for (const inner of innerTokens(next)) open.push(inner);
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

/** Maximum number of stored errors of a text. */
const MAX_ERRORS = 20;

/** Thrown for a text with more than `MAX_ERRORS` errors; message and offset are those of the first error. */
export class TooManyErrors extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/**
 * Composes tokens to documents with their errors. Throws TooManyErrors, because the library creates an error with a
 * stack for each of 100,000 unpaired quotes. Warnings (of unknown tags) are dropped for the same reason.
 */
export function composeDocuments(tokens: Iterable<CST.Token>): readonly Document.Parsed[] {
  const composer = new Composer({ logLevel: 'silent', prettyErrors: false, uniqueKeys: false });
  const report: unknown = Reflect.get(composer, 'onError');
  let errors = 0;
  let first: { readonly message: string; readonly offset: number } | undefined;
  // `onError` is a private field of the composer; the specs with hostile texts fail if a new version has none.
  Reflect.set(composer, 'onError', (source: unknown, code: unknown, message: unknown, warning: unknown) => {
    if (warning === true) return;
    first ??= { message: String(message), offset: getOffset(source) };
    if (++errors > MAX_ERRORS) throw new TooManyErrors(first.message, first.offset);
    if (typeof report === 'function') Reflect.apply(report, composer, [source, code, message, warning]);
  });
  return [...composer.compose(tokens)];
}

/** Returns the offset of an error, which the composer gives as an offset, a range or a token. */
function getOffset(source: unknown): number {
  if (typeof source === 'number') return source;
  const offset: unknown = Array.isArray(source) ? source[0] : Reflect.get(Object(source), 'offset');
  return typeof offset === 'number' ? offset : 0;
}
