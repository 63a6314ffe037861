import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { stringify } from 'yaml';

/** The forms of output a user can ask for. */
export const outputs = ['table', 'yaml', 'json'] as const;
export type Output = (typeof outputs)[number];

/** Lines of columns, each as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}

/** JSON with two spaces or YAML. */
export function structured(value: unknown, output: 'yaml' | 'json'): string {
  return output === 'json'
    ? JSON.stringify(value, null, 2)
    : stringify(value, { aliasDuplicateObjects: false }).trimEnd();
}

/** The object at a path of keys, or empty. */
export function objectAt(value: JsonValue | undefined, ...path: readonly string[]): JsonObject {
  let here = value;
  for (const key of path) here = isJsonObject(here) ? here[key] : undefined;
  return isJsonObject(here) ? here : {};
}

/** The text at a path of keys, or empty. */
export function textAt(value: JsonValue | undefined, ...path: readonly string[]): string {
  const last = path.at(-1) ?? '';
  const found = objectAt(value, ...path.slice(0, -1))[last];
  return found === undefined || found === null || typeof found === 'object' ? '' : String(found);
}

/** How long ago `time` (RFC 3339) was, in the largest unit that fits. */
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
