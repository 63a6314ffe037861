import type { Climb } from './climb';
import type { EntryPoint } from './entry-point';

/** One line of the table: what an entry point costs at most. */
export interface Row {
  readonly entry: string;
  readonly largest: number;
  readonly shapes: number;
  /** Longest hold of the event loop at any size up to the largest, ms, and by which shape. */
  readonly hold: number;
  readonly shape: string;
  /** Largest exponent of growth; absent where everything is below the floor. */
  readonly growth: number | undefined;
}

/** The rows of all entry points that were climbed, in their order. */
export function rowsOf(entries: readonly EntryPoint[], climbs: readonly Climb[]): readonly Row[] {
  const byEntry = grouped(climbs);
  return entries.flatMap(({ name, largest }) => {
    const own = byEntry.get(name) ?? [];
    const [longest] = [...own].sort((a, b) => holdOf(b) - holdOf(a));
    if (!longest) return [];
    const { growth } = longest;
    return [{ entry: name, largest, shapes: own.length, hold: holdOf(longest), shape: longest.shape, growth }];
  });
}

/** Growth is shown of holds above it, ms: below, one collection of garbage makes any exponent. */
const SHOWN = 10;

/** The table as Markdown. */
export function markdown(rows: readonly Row[]): string {
  const lines = rows.map(({ entry, largest, hold, shape, growth }) => {
    const cells = [entry, sizeText(largest), hold < 0.1 ? '< 0.1 ms' : `${hold.toFixed(1)} ms`, code(shape)];
    return `| ${[...cells, growth === undefined || hold < SHOWN ? 'below 10 ms' : `n^${growth.toFixed(2)}`].join(' | ')} |`;
  });
  return [
    '| entry point | largest input | longest hold | by | growth |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

function grouped(climbs: readonly Climb[]): Map<string, Climb[]> {
  const groups = new Map<string, Climb[]>();
  for (const climb of climbs) groups.set(climb.entry, [...(groups.get(climb.entry) ?? []), climb]);
  return groups;
}

function holdOf({ steps }: Climb): number {
  return Math.max(0, ...steps.map(({ ms }) => ms));
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${Math.round(bytes / 1024)} KiB`;
}

function code(shape: string): string {
  return `\`${shape
    .replace(/[^ -~]/g, '?')
    .replace(/[|`]/g, '.')
    .slice(0, 60)}\``;
}
