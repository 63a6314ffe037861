import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';
import { UsageError } from './context';

/** One step of a path: a key, an index of a list, all elements, or the elements in which a field has a value. */
type Step =
  | { readonly type: 'key'; readonly key: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'where'; readonly path: readonly Step[]; readonly equal: boolean; readonly value: string };

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'path'; readonly path: readonly Step[] }
  | { readonly type: 'range'; readonly path: readonly Step[]; readonly body: readonly Part[] };

/** A compiled template or path. */
export type JsonPath<T> = (value: JsonValue) => T;

const KEY = /^\.((?:[A-Za-z0-9_/-]|\\.)+)/;
const QUOTED_KEY = /^\[(?:'([^']*)'|"([^"]*)")\]/;
const INDEX = /^\[(-?\d{1,9})\]/;
const ALL = /^(\[\*\]|\.\*)/;
const WHERE = /^\[\?\(@(\.[^=!]+?)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([^)]*?))\s*\)\]/;

/**
 * Compiles a template like kubectl's `-o jsonpath=`: text, and in braces paths (`.a.b`, `[0]`, `[-1]`, `[*]`, `['key']`, `[?(@.a=="b")]`), quoted
 * text and `range PATH` … `end`. The values of a path are joined by blanks. Throws UsageError for anything else.
 */
export function jsonPathTemplate(template: string): JsonPath<string> {
  const parts = parseParts([...splitTokens(template)]);
  return (value) => render(parts, value);
}

/** Compiles a path; the braces are optional, as in `--sort-by=.spec.template`. */
export function jsonPath(path: string): JsonPath<JsonValue[]> {
  const steps = parseSteps(path.replace(/^\{(.*)\}$/s, '$1').replace(/^(?![.[@$])/, '.'));
  return (value) => find(steps, value);
}

/** Yields tokens: text outside braces with the prefix `t`, the content of braces with the prefix `{`. */
function* splitTokens(template: string): Generator<string> {
  for (const [token] of template.matchAll(/\{(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^{}"'])*\}|[^{]+|\{/g)) {
    if (token === '{') throw new UsageError(`jsonpath: a "{" in "${template}" has no "}"`);
    yield token.startsWith('{') ? `{${token.slice(1, -1).trim()}` : `t${token}`;
  }
}

/** Consumes tokens until the end, or until the `end` of a range. */
function parseParts(tokens: string[], inRange = false): Part[] {
  const parts: Part[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    const inner = token.slice(1);
    const quoted = /^(["'])(.*)\1$/s.exec(inner)?.[2];
    if (token.startsWith('t')) parts.push({ type: 'text', text: inner });
    else if (quoted !== undefined) parts.push({ type: 'text', text: unescaped(quoted) });
    else if (inner === 'end' && inRange) return parts;
    else if (/^range\s/.test(inner))
      parts.push({ type: 'range', path: parseSteps(inner.slice(6).trim()), body: parseParts(tokens, true) });
    else parts.push({ type: 'path', path: parseSteps(inner) });
  }
  if (inRange) throw new UsageError('jsonpath: a {range …} has no {end}');
  return parts;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, char: string) => ({ n: '\n', t: '\t' })[char] ?? char);
}

function parseSteps(path: string): Step[] {
  const steps: Step[] = [];
  let rest = path.replace(/^[$@]/, '');
  if (rest === '.') return steps;
  while (rest !== '') {
    const [step, length] = stepAt(rest) ?? [];
    if (!step || length === undefined) throw new UsageError(`jsonpath: cannot read "${rest}" of "${path}"`);
    steps.push(step);
    rest = rest.slice(length);
  }
  return steps;
}

function stepAt(rest: string): [Step, number] | undefined {
  const all = ALL.exec(rest);
  if (all) return [{ type: 'all' }, all[0].length];
  const key = KEY.exec(rest);
  if (key) return [{ type: 'key', key: (key[1] ?? '').replaceAll(/\\(.)/g, '$1') }, key[0].length];
  const quoted = QUOTED_KEY.exec(rest);
  if (quoted) return [{ type: 'key', key: quoted[1] ?? quoted[2] ?? '' }, quoted[0].length];
  const index = INDEX.exec(rest);
  if (index) return [{ type: 'index', index: Number(index[1]) }, index[0].length];
  const where = WHERE.exec(rest);
  if (!where) return undefined;
  const [text, path = '', sign, single, double, bare] = where;
  return [
    { type: 'where', path: parseSteps(path), equal: sign === '==', value: single ?? double ?? bare ?? '' },
    text.length,
  ];
}

function find(path: readonly Step[], value: JsonValue): JsonValue[] {
  return path.reduce<JsonValue[]>((values, step) => values.flatMap((each) => follow(step, each)), [value]);
}

function follow(step: Step, value: JsonValue): JsonValue[] {
  const found = isJsonArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  const present = found.filter((each) => each !== undefined);
  if (step.type === 'all') return present;
  if (step.type === 'where') return present.filter((each) => find(step.path, each).some(isText(step)) === step.equal);
  const one = step.type === 'index' ? elementAt(value, step.index) : isJsonObject(value) ? value[step.key] : undefined;
  return one === undefined ? [] : [one];
}

function isText({ value }: { readonly value: string }): (found: JsonValue) => boolean {
  return (found) => formatValue(found) === value;
}

function elementAt(value: JsonValue, index: number): JsonValue | undefined {
  return isJsonArray(value) ? value.at(index) : undefined;
}

function formatValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function render(parts: readonly Part[], value: JsonValue): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      const found = find(part.path, value);
      return part.type === 'path'
        ? found.map(formatValue).join(' ')
        : found.map((each) => render(part.body, each)).join('');
    })
    .join('');
}
