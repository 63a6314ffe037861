import type { Backoff } from '@causeway/runtime';
import type { ControlLoop } from './control-loop';
import { newLoopStats, type LoopStats } from './loop-stats';

/** A loop's place among the others: when it has its next turn. */
export class LoopState {
  readonly stats: LoopStats = newLoopStats();
  /** What its last plan asked for, ms since 1970. */
  wakeAt: number | undefined;
  /** It was reset since the index was loaded: from then on it is told of changes. */
  ready = false;
  private backoffUntil = 0;
  private unchangedWrites = 0;

  constructor(
    readonly loop: ControlLoop,
    private readonly backoff: Backoff,
  ) {}

  /** True while the loop is set aside. */
  isBackedOff(now: number): boolean {
    return this.backoffUntil > now;
  }

  /** When time alone gives it a turn. */
  nextTurn(now: number): number | undefined {
    return this.isBackedOff(now) ? this.backoffUntil : this.wakeAt;
  }

  /** A loop whose writes change nothing twice in a row is set aside: it must not spin. */
  wrote(fruitful: boolean, now: number): void {
    if (fruitful) {
      this.unchangedWrites = 0;
      this.backoff.reset();
    } else if (++this.unchangedWrites > 1) {
      this.backoffUntil = now + this.backoff.next();
    }
  }

  /** Sets the loop aside, longer each time until a write of it changes something. */
  failed(now: number): void {
    this.stats.errors += 1;
    this.backoffUntil = now + this.backoff.next();
  }
}
