import { isCollection, isMap, isScalar, visit, type Document, type Pair } from 'yaml';
import { shortened } from '@causeway/resources';

/** A problem of a text, and its position. */
export interface DocumentFault {
  readonly offset: number;
  readonly reason: string;
}

/**
 * Returns the first key that is not text or is repeated in its map. The library's own check compares every key with
 * every other key: two minutes for a map of 100,000.
 */
export function badKey(document: Document.Parsed): DocumentFault | undefined {
  let found: DocumentFault | undefined;
  visit(document, {
    Map: (_, map) => {
      found = badKeyAmong(map.items);
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

function badKeyAmong(pairs: readonly Pair[]): DocumentFault | undefined {
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

/** Returns a key as text, even if YAML reads it as a number or boolean. */
function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** Maximum length of a line that a hint repeats with quotes. */
const MAX_HINT_LENGTH = 400;

/**
 * Finds the first template (`{{ … }}`) without quotes. YAML reads it as a map in a map, which is a syntax error or, as
 * in `{{ name }}`, an unintended map. The YAML in the seed has such templates (docs/design.md §1).
 */
export function unquotedTemplate(document: Document.Parsed, text: string): DocumentFault | undefined {
  const [error] = document.errors;
  const offset = mapInMap(document) ?? (error && templateInLine(error.pos[0], text));
  return offset === undefined ? undefined : quoteHint(offset, text);
}

/** Like `unquotedTemplate`, for a text that could not be composed: `error` is the offset of its first error. */
export function templateBefore(error: number, text: string): DocumentFault | undefined {
  const offset = templateInLine(error, text);
  return offset === undefined ? undefined : quoteHint(offset, text);
}

function quoteHint(offset: number, text: string): DocumentFault {
  const line = shortened(lineFrom(offset, text).trim(), MAX_HINT_LENGTH);
  const quoted = line.includes("'") ? JSON.stringify(line) : `'${line}'`;
  return { offset, reason: `a template must be in quotes, YAML takes "{{" for a map; write ${quoted}` };
}

function mapInMap(document: Document.Parsed): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map: (_, map) => {
      const [first] = map.items;
      if (map.flow !== true || !first || !isMap(first.key) || first.key.flow !== true) return undefined;
      found = map.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** Returns the offset of a value that begins with `{{` in the line of the first error. */
function templateInLine(error: number, text: string): number | undefined {
  const start = error === 0 ? 0 : text.lastIndexOf('\n', error - 1) + 1;
  const line = lineFrom(start, text);
  const value = /^[^'"{]*[:-][ \t]+\{\{/.exec(line);
  return value ? start + value[0].length - 2 : undefined;
}

function lineFrom(start: number, text: string): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? text.length : end);
}
