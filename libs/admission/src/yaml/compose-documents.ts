import { Composer, type CST, type Document } from 'yaml';

/** Errors that are kept of a text: enough to tell what is wrong. */
const MOST_ERRORS = 20;

/** A text has more than `MOST_ERRORS` errors; it speaks of the first of them. */
export class TooManyErrors extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/**
 * The documents of these tokens, with their errors. Throws TooManyErrors instead of making an error with its stack for
 * each of 100,000 quotes without a partner. Warnings (of tags that nobody knows) are left out for the same reason.
 */
export function composeDocuments(tokens: Iterable<CST.Token>): readonly Document.Parsed[] {
  const composer = new Composer({ logLevel: 'silent', prettyErrors: false, uniqueKeys: false });
  const note: unknown = Reflect.get(composer, 'onError');
  let errors = 0;
  let first: { readonly message: string; readonly offset: number } | undefined;
  // The composer reports through this field of its own; the specs of hostile texts show when it no longer does.
  Reflect.set(composer, 'onError', (source: unknown, code: unknown, message: unknown, warning: unknown) => {
    if (warning === true) return;
    first ??= { message: String(message), offset: offsetOf(source) };
    if (++errors > MOST_ERRORS) throw new TooManyErrors(first.message, first.offset);
    if (typeof note === 'function') Reflect.apply(note, composer, [source, code, message, warning]);
  });
  return [...composer.compose(tokens)];
}

/** The composer names a place by an offset, a range, or a token. */
function offsetOf(source: unknown): number {
  if (typeof source === 'number') return source;
  const offset: unknown = Array.isArray(source) ? source[0] : Reflect.get(Object(source), 'offset');
  return typeof offset === 'number' ? offset : 0;
}
