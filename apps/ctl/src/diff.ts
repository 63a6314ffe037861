import { isJsonObject } from '@causeway/resources';
import type { Paint } from './colour';
import { formatYaml } from './render';

type DiffLine = readonly [sign: ' ' | '-' | '+', text: string];

/** Number of context lines around a change. */
const CONTEXT = 3;
/** Above this number of line pairs, differing parts are shown as completely removed and added. */
const MAX_PAIRS = 4_000_000;

/** Returns the changes between two documents, as a unified diff of their YAML in red and green; undefined is no document. */
export function unifiedDiff(before: unknown, after: unknown, paint: Paint): readonly string[] {
  const lines = diffLines(yamlLines(orderedLike(before, after)), yamlLines(after));
  const near = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(([sign]) => sign !== ' '),
  );
  const shown: string[] = [];
  let [old, now] = [1, 1];
  for (const [i, line] of lines.entries()) {
    if (near[i] && !near[i - 1]) shown.push(hunkHead(lines, near, { from: i, old, now }));
    if (near[i]) shown.push(colored(line, paint));
    if (line[0] !== '+') old += 1;
    if (line[0] !== '-') now += 1;
  }
  return shown;
}

/** Returns a value with its keys in the order of another: a different order is no difference. */
function orderedLike(value: unknown, model: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(model)) return value.map((item, i) => orderedLike(item, model[i]));
  if (!isJsonObject(value) || !isJsonObject(model)) return value;
  const keys = new Set([...Object.keys(model).filter((key) => Object.hasOwn(value, key)), ...Object.keys(value)]);
  return Object.fromEntries([...keys].map((key) => [key, orderedLike(value[key], model[key])]));
}

function yamlLines(document: unknown): readonly string[] {
  if (document === undefined || document === null) return [];
  return formatYaml(document, { lineWidth: 0 }).trimEnd().split('\n');
}

function hunkHead(
  lines: readonly DiffLine[],
  near: readonly boolean[],
  { from, old, now }: { readonly from: number; readonly old: number; readonly now: number },
): string {
  const end = near.indexOf(false, from);
  const hunk = lines.slice(from, end < 0 ? undefined : end);
  const count = (sign: string): number => hunk.filter(([one]) => one !== sign).length;
  const [removed, added] = [count('+'), count('-')];
  return `@@ -${removed === 0 ? old - 1 : old},${removed} +${added === 0 ? now - 1 : now},${added} @@`;
}

function colored([sign, text]: DiffLine, paint: Paint): string {
  return paint(sign === ' ' ? undefined : sign === '-' ? 'red' : 'green', `${sign}${text}`);
}

/** Returns the shortest list of removed, added and kept lines; an equal beginning and end cost nothing. */
function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  const kept = (text: string): DiffLine => [' ', text];
  return [
    ...before.slice(0, start).map(kept),
    ...changedLines(before.slice(start, oldEnd), after.slice(start, newEnd)),
    ...before.slice(oldEnd).map(kept),
  ];
}

/** Diffs by the longest common subsequence, removed lines before added ones. */
function changedLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const removed = before.map((text): DiffLine => ['-', text]);
  const added = after.map((text): DiffLine => ['+', text]);
  if (before.length * after.length > MAX_PAIRS) return [...removed, ...added];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push([' ', before[i] ?? '']);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push(['-', before[i++] ?? '']);
    else lines.push(['+', after[j++] ?? '']);
  }
  return [...lines, ...removed.slice(i), ...added.slice(j)];
}
