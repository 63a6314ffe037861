import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { programToStart } from '../test/support/built-programs';
import { numberSetting, report } from './support/report';

/**
 * Start to end of the built `causeway version --client` (docs/design.md §8), of `causeway --help`, which loads every command, and
 * of Node with an empty program, which nothing can be faster than. Prints one JSON line. BENCH_STARTS (40).
 */
const STARTS = numberSetting('BENCH_STARTS', 40);
const PROGRAM = programToStart('ctl');

/** Median and 95th percentile of a number of runs, in ms. */
function measure(args: readonly string[]): { readonly p50_ms: number; readonly p95_ms: number } {
  const times = Array.from({ length: STARTS }, () => {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: is it built?`);
    return performance.now() - began;
  }).sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.floor((times.length - 1) * share)] ?? 0);
  return { p50_ms: at(0.5), p95_ms: at(0.95) };
}

measure(['-e', '0']); // the first runs read files that are cached afterwards
report('cli-start', {
  starts: STARTS,
  version_client: measure([PROGRAM, 'version', '--client']),
  help: measure([PROGRAM, '--help']),
  node_alone: measure(['-e', '0']),
});
