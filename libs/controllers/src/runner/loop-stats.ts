import type { WriteResult } from '@causeway/store';

/** Counters of one loop since the runner was made. */
export interface LoopStats {
  plans: number;
  writes: number;
  written: number;
  unchanged: number;
  refused: number;
  errors: number;
  /** Changes that only a full resync found: a sign that the incremental path missed something. */
  differences: number;
}

/** Counters of a runner; `loops` by name of the loop. Plain numbers that only grow, for whoever exports metrics. */
export interface RunnerStats {
  readonly loops: Record<string, LoopStats>;
  starts: number;
  resyncs: number;
  unavailable: number;
}

/** All counters at zero. */
export function newLoopStats(): LoopStats {
  return { plans: 0, writes: 0, written: 0, unchanged: 0, refused: 0, errors: 0, differences: 0 };
}

/** Counts one answered write; returns how many changes were written. */
export function countResults(stats: LoopStats, result: WriteResult): number {
  const of = (type: string): number => result.results.filter((r) => r.type === type).length;
  const written = of('written');
  stats.writes += 1;
  stats.written += written;
  stats.unchanged += of('unchanged');
  stats.refused += of('refused');
  return written;
}
