import { isMap, visit, type Document } from 'yaml';
import { shortened } from '@causeway/resources';

/** Longest line that is repeated with its quotes. */
const LONGEST_HINT = 400;

/** A template that YAML took for a map, since it is not in quotes. */
export interface UnquotedTemplate {
  readonly offset: number;
  readonly hint: string;
}

/**
 * The first `{{` that YAML read as a map in a map: whether that made a syntax error or, as in `{{ name }}`, a map
 * nobody meant. The seed's own YAML is written so (design.md §1).
 */
export function unquotedTemplate(document: Document.Parsed, text: string): UnquotedTemplate | undefined {
  const [error] = document.errors;
  const offset = mapInMap(document) ?? (error && beforeError(error.pos[0], text));
  return offset === undefined ? undefined : hintAt(offset, text);
}

/** As `unquotedTemplate` for a text of which only the place of the first error is known. */
export function templateBefore(error: number, text: string): UnquotedTemplate | undefined {
  const offset = beforeError(error, text);
  return offset === undefined ? undefined : hintAt(offset, text);
}

function hintAt(offset: number, text: string): UnquotedTemplate {
  const line = shortened(lineFrom(offset, text).trim(), LONGEST_HINT);
  const quoted = line.includes("'") ? JSON.stringify(line) : `'${line}'`;
  return { offset, hint: `a template must be in quotes, YAML takes "{{" for a map; write ${quoted}` };
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

/** Where the line of the first error has a value that begins with `{{`. */
function beforeError(error: number, text: string): number | undefined {
  const start = error === 0 ? 0 : text.lastIndexOf('\n', error - 1) + 1;
  const line = lineFrom(start, text);
  const value = /^[^'"{]*[:-][ \t]+\{\{/.exec(line);
  return value ? start + value[0].length - 2 : undefined;
}

function lineFrom(start: number, text: string): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? text.length : end);
}
