import {
  escapedLine,
  escapedLines,
  escapedYaml,
  hasUnprintable,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@causeway/resources';
import { Document, isScalar, visit } from 'yaml';
import { withoutColours } from './colour';

/** The forms of output a user can ask for. */
export const outputs = ['table', 'yaml', 'json'] as const;
export type Output = (typeof outputs)[number];

/** Lines of columns, each as wide as its widest cell. Cells may have colours. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columnWidths(head, rows);
  return [head, ...rows].map((row) => tableLine(row, widths)).join('\n');
}

/** The width of the widest cell of each column. */
export function columnWidths(head: readonly string[], rows: readonly (readonly string[])[]): readonly number[] {
  return head.map((title, i) => rows.reduce((widest, row) => Math.max(widest, widthOf(row[i] ?? '')), title.length));
}

/** One line of a table; a cell that is wider than its column moves the rest of the line. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, i) => inOneLine(cell) + ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell))))
    .join('  ')
    .trimEnd();
}

/** The columns that a cell takes on a terminal; colours take none. */
function widthOf(cell: string): number {
  return escapedLine(withoutColours(cell)).length;
}

/** A cell of a table has one line, whatever its text holds. */
const inOneLine = (cell: string): string => escapedLine(cell);

/**
 * Formats JSON with two spaces, or YAML. Characters that control a terminal are escaped by the grammar: read again it
 * is the same value.
 */
export function structured(value: unknown, output: 'yaml' | 'json'): string {
  return output === 'json' ? escapedLines(JSON.stringify(value, null, 2)) : formatYaml(value).trimEnd();
}

/** A value as YAML; texts with anything unprintable are in double quotes, with escapes. */
export function formatYaml(value: unknown, options: { readonly lineWidth?: number } = {}): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === 'string' && hasUnprintable(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapedYaml(document.toString(options));
}

/** The object at a path of keys, or empty. */
export function objectAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject {
  let here = value;
  for (const key of path) here = isJsonObject(here) ? here[key] : undefined;
  return isJsonObject(here) ? here : {};
}

/** The text at a path of keys in one printable line, or empty. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
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

/** The service that a line of an answer is about: `MeshService east/default/redis`. */
export function serviceName(line: JsonObject): string {
  const service = objectAt(line, 'service');
  const path = ['zone', 'namespace', 'name'].map((key) => textAt(service, key)).filter((part) => part !== '');
  return `${textAt(service, 'kind')} ${path.join('/')}`;
}

/** The objects of the list at `key`; empty if there is no list. */
export function listAt(value: JsonObject, key: string): readonly JsonObject[] {
  const found = value[key];
  return isJsonArray(found) ? found.filter(isJsonObject) : [];
}

/** The texts of the list at `key`, each in one printable line; empty if there is no list. */
export function textsAt(value: JsonObject, key: string): readonly string[] {
  const found = value[key];
  return isJsonArray(found) ? found.filter((item) => typeof item === 'string').map(escapedLine) : [];
}
