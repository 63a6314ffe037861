import { isMap, visit, type Document } from 'yaml';

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
  const offset = mapInMap(document) ?? beforeError(document, text);
  if (offset === undefined) return undefined;
  const line = text.slice(offset).split('\n', 1)[0]?.trim() ?? '';
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
function beforeError(document: Document.Parsed, text: string): number | undefined {
  const [error] = document.errors;
  if (!error) return undefined;
  const start = text.lastIndexOf('\n', error.pos[0] - 1) + 1;
  const line = text.slice(start).split('\n', 1)[0] ?? '';
  const value = /^[^'"{]*[:-][ \t]+\{\{/.exec(line);
  return value ? start + value[0].length - 2 : undefined;
}
