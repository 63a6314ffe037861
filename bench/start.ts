import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { QuickstartRun } from '../test/e2e/quickstart-run';
import { until } from '../test/support/until';
import { memory } from './support/process-metrics';
import { numberSetting, report } from './support/report';

/**
 * `npm start`, installed and built, to the first printed table (docs/design.md §8) and to its end: for the first time, when
 * Postgres makes its files and the sample is applied, then again with the data of before. Resident memory of everything
 * that it started. Prints one JSON line a start. BENCH_STARTS (3).
 */
const STARTS = numberSetting('BENCH_STARTS', 3);
const TABLE = '\nWhat zone ';

async function start(dataDir: string, turn: number): Promise<void> {
  const began = performance.now();
  const since = (): number => Math.round(performance.now() - began);
  const run = new QuickstartRun(['npm', 'start'], { CAUSEWAY_DATA_DIR: dataDir });
  try {
    await until('the first table is printed', () => run.output.includes(TABLE), 120_000);
    const table_ms = since();
    await run.untilRunning();
    const running_ms = since();
    const rss = await memoryByName(run);
    report('start', {
      first: turn === 0,
      built: !run.output.includes('\nbundling'),
      table_ms,
      running_ms,
      processes: run.processes().length,
      rss_mb: rss.reduce((sum, [, each]) => sum + each, 0),
      rss_mb_of: Object.fromEntries(rss),
    });
  } finally {
    run.signal('SIGTERM');
    await run.untilGone();
  }
}

/** Resident memory of each part of the demo, of its starter, and of all processes of a Postgres or Redis, MB. */
async function memoryByName(run: QuickstartRun): Promise<readonly (readonly [string, number])[]> {
  const states = [...(await run.states())];
  const parts = new Map(states.map(([name, state]) => [Number(/pid (\d+)$/.exec(state)?.[1]), name]));
  const sums = new Map<string, number>();
  for (const { pid } of run.processes()) {
    const name = parts.get(pid) ?? readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    sums.set(name, (sums.get(name) ?? 0) + memory(pid).rss_mb);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-start-'));
  chmodSync(dataDir, 0o755); // Postgres may run under another account
  try {
    for (let turn = 0; turn < STARTS; turn++) await start(dataDir, turn);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
