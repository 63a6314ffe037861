import { appendFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import type { ComparedFigure } from './comparison';

/** The ratios of all comparisons that were run, one JSON line each: a creep of a tenth a wave shows in them. */
const HISTORY = join(__dirname, '..', 'history.jsonl');

/** A comparison of a bench between two commits. */
export interface ComparedCommits {
  readonly bench: string;
  readonly before: string;
  /** The commit on which the working tree stands; it may have changes. */
  readonly after: string;
  readonly rounds: number;
  readonly figures: readonly ComparedFigure[];
}

/** Appends the ratios of a comparison, with the bench's settings and the class of this host. */
export function appendToHistory({ bench, before, after, rounds, figures }: ComparedCommits): void {
  const settings = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('BENCH_')));
  const host = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`;
  const ratios = Object.fromEntries(
    figures.flatMap(({ name, ratio }) => (ratio === undefined ? [] : [[name, Math.round(ratio * 1_000) / 1_000]])),
  );
  const line = { date: new Date().toISOString().slice(0, 10), bench, settings, before, after, host, rounds, ratios };
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`);
}
