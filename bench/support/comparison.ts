/** Figures of one run of a bench, by their path in its JSON line, such as `west.cpu_s`. */
export type Figures = ReadonlyMap<string, number>;

/** One figure in two versions, over all rounds. */
export interface ComparedFigure {
  readonly name: string;
  /** Medians. */
  readonly before: number;
  readonly after: number;
  /** Median of the rounds' `after / before`; undefined where the figure was 0 before in each of them. */
  readonly ratio: number | undefined;
  /** Least and largest ratio of a round. */
  readonly spread: readonly [number, number] | undefined;
}

/** One round: the same bench against both versions. */
export interface Round {
  readonly before: Figures;
  readonly after: Figures;
}

/** Reads the numbers of a bench's JSON lines; if a bench prints several lines, their names include the line. Throws if there are none. */
export function readFigures(output: string): Figures {
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  if (lines.length === 0) throw new Error('the bench printed no JSON line');
  const figures = new Map<string, number>();
  for (const [n, line] of lines.entries()) collect(JSON.parse(line), lines.length > 1 ? [String(n + 1)] : [], figures);
  return figures;
}

function collect(value: unknown, path: readonly string[], figures: Map<string, number>): void {
  if (typeof value === 'number') figures.set(path.join('.'), value);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) if (key !== 'load_before') collect(inner, [...path, key], figures);
}

/** Compares what both versions have in every round; a ratio above 1 means that the figure grew. */
export function compareRounds(rounds: readonly Round[]): readonly ComparedFigure[] {
  const names = [...(rounds[0]?.before.keys() ?? [])];
  const inAll = names.filter((name) => rounds.every(({ before, after }) => before.has(name) && after.has(name)));
  return inAll.map((name) => {
    const pairs = rounds.map(({ before, after }) => [before.get(name) ?? 0, after.get(name) ?? 0] as const);
    const ratios = pairs.flatMap(([before, after]) => (before === 0 ? [] : [after / before]));
    return {
      name,
      before: median(pairs.map(([before]) => before)),
      after: median(pairs.map(([, after]) => after)),
      ratio: ratios.length === 0 ? undefined : median(ratios),
      spread: ratios.length === 0 ? undefined : [Math.min(...ratios), Math.max(...ratios)],
    };
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/** The comparison as a table that people read. */
export function comparisonTable(figures: readonly ComparedFigure[]): string {
  const short = (value: number): string => String(Math.round(value * 100) / 100);
  const rows = figures.map(({ name, before, after, ratio, spread }) => {
    const range = spread ? spread.map(short).join(' to ') : '';
    return `| ${name} | ${short(before)} | ${short(after)} | ${ratio === undefined ? '' : short(ratio)} | ${range} |`;
  });
  return ['| figure | before | after | ratio | of one round |', '| --- | --- | --- | --- | --- |', ...rows].join('\n');
}
