import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
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
    const rss = run.processes().map(({ pid }) => memory(pid).rss_mb);
    report('start', {
      ...{ first: turn === 0, built: !run.output.includes('\nbuilding'), table_ms, running_ms },
      ...{ processes: rss.length, rss_mb: rss.reduce((sum, each) => sum + each, 0) },
    });
  } finally {
    run.signal('SIGTERM');
    await run.untilGone();
  }
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
