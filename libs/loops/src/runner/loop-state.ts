import type { Backoff } from '@causeway/runtime';
import type { WriteResult } from '@causeway/store';
import type { ControlLoop } from './control-loop';

/** Counters of one loop since the runner was created. */
export interface LoopStats {
  plans: number;
  writes: number;
  written: number;
  unchanged: number;
  refused: number;
  errors: number;
  /** Changes that only a full resync found: the incremental path missed them. */
  differences: number;
}

/** Counters of a runner, `loops` by the loop's name: plain numbers that only grow, for metrics. */
export interface RunnerStats {
  readonly loops: Record<string, LoopStats>;
  starts: number;
  resyncs: number;
  unavailable: number;
}

/** All counters at zero. */
function newLoopStats(): LoopStats {
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

/** State of one loop in the runner: its counters, its next turn, and its backoff. */
export class LoopState {
  readonly stats: LoopStats = newLoopStats();
  /** The time that its last plan set, ms since 1970. */
  wakeAt: number | undefined;
  /** Whether it was reset after the index was loaded: from then on it observes changes. */
  ready = false;
  private backoffUntil = 0;
  private unchangedWrites = 0;

  constructor(
    readonly loop: ControlLoop,
    private readonly backoff: Backoff,
  ) {}

  /** Reports whether the loop gets no turn because of its backoff. */
  isBackedOff(now: number): boolean {
    return this.backoffUntil > now;
  }

  /** Returns the time of its next turn without an event. */
  nextTurn(now: number): number | undefined {
    return this.isBackedOff(now) ? this.backoffUntil : this.wakeAt;
  }

  /** Records a write. A loop that writes twice in a row without changing anything is backed off, so that it cannot spin. */
  wrote(changed: boolean, now: number): void {
    if (changed) {
      this.unchangedWrites = 0;
      this.backoff.reset();
    } else if (++this.unchangedWrites > 1) {
      this.backoffUntil = now + this.backoff.next();
    }
  }

  /** Backs the loop off, longer each time until one of its writes changes something. */
  failed(now: number): void {
    this.stats.errors += 1;
    this.backoffUntil = now + this.backoff.next();
  }
}
