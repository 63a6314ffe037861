import {
  escapedLine,
  escapedLines,
  escapedYaml,
  hasUnprintable,
  isJsonArray,
  isJsonObject,
  type JsonObject,
} from '@causeway/resources';
import { Document, isScalar, visit } from 'yaml';
import { withoutColours } from './colour';

/** The forms of output a user can ask for. */
export const outputs = ['table', 'yaml', 'json'] as const;
export type Output = (typeof outputs)[number];

/** Formats columns, each as wide as its widest cell. Cells may have colours. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columnWidths(head, rows);
  return [head, ...rows].map((row) => tableLine(row, widths)).join('\n');
}

/** Returns the width of the widest cell of each column. */
export function columnWidths(head: readonly string[], rows: readonly (readonly string[])[]): readonly number[] {
  return head.map((title, i) =>
    rows.reduce((widest, row) => Math.max(widest, measureWidth(row[i] ?? '')), title.length),
  );
}

/** Formats one line of a table; a cell that is wider than its column moves the rest of the line. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, i) => inOneLine(cell) + ' '.repeat(Math.max(0, (widths[i] ?? 0) - measureWidth(cell))))
    .join('  ')
    .trimEnd();
}

/** Returns the printed width of a cell, without its colours. */
function measureWidth(cell: string): number {
  return escapedLine(withoutColours(cell)).length;
}

/** Returns a cell as one line, whatever its text contains. */
const inOneLine = (cell: string): string => escapedLine(cell);

/**
 * Formats JSON with two spaces, or YAML. Characters that control a terminal are escaped in the syntax of the format, so that parsing returns the same
 * value.
 */
export function structured(value: unknown, output: 'yaml' | 'json'): string {
  return output === 'json' ? escapedLines(JSON.stringify(value, null, 2)) : formatYaml(value).trimEnd();
}

/** Formats a value as YAML; texts with unprintable characters are in double quotes, with escapes. */
export function formatYaml(value: unknown, options: { readonly lineWidth?: number } = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string' && hasUnprintable(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapedYaml(document.toString(options));
}

/** Returns the object at a path of keys, or an empty one. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  let here = value;
  for (const key of path) here = isJsonObject(here) ? here[key] : undefined;
  return isJsonObject(here) ? here : {};
}

/** Returns the text at a path of keys in one printable line, or an empty one. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const last = path.at(-1) ?? '';
  const found = objectAt(value, ...path.slice(0, -1))[last];
  return found === undefined || found === null || typeof found === 'object' ? '' : escapedLine(String(found));
}

/** Formats the time since `time` (RFC 3339), in the largest unit that fits. */
export function age(time: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1_000));
  if (Number.isNaN(seconds)) return '';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** Returns the service in a line of an answer: `MeshService east/default/redis`. */
export function serviceName(line: unknown): string {
  const service = objectAt(line, 'service');
  const path = ['zone', 'namespace', 'name'].map((key) => textAt(service, key)).filter((part) => part !== '');
  return `${textAt(service, 'kind')} ${path.join('/')}`;
}

/** Returns the objects of the list at `key`; empty if there is no list. */
export function listAt(value: unknown, key: string): readonly JsonObject[] {
  const found = objectAt(value)[key];
  return isJsonArray(found) ? found.filter(isJsonObject) : [];
}

/** Returns the texts of the list at `key`, each in one printable line; empty if there is no list. */
export function textsAt(value: unknown, key: string): readonly string[] {
  const found = objectAt(value)[key];
  return isJsonArray(found) ? found.filter((item) => typeof item === 'string').map(escapedLine) : [];
}

/** Returns an answer with each of its texts in one printable line. */
export function inLines<T>(answer: T): T;
export function inLines(answer: unknown): unknown {
  if (typeof answer === 'string') return escapedLine(answer);
  if (Array.isArray(answer)) return answer.map((item: unknown) => inLines(item));
  if (!isJsonObject(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, inLines(value)]));
}

/** Joins the parts that are present and not empty. */
export function joinGiven(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter(Boolean).join(separator);
}

/** Returns the path of a resource, such as `east/default/default/redis`, without empty parts. */
export function pathTo(id: {
  readonly zone?: string | undefined;
  readonly mesh?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}): string {
  return joinGiven([id.zone, id.mesh, id.namespace, id.name], '/');
}
