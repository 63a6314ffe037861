import type { Clock } from './clock';

/** Settings that distinguish an occasional turn from a busy phase, and that pace the latter. */
export interface PaceOptions {
  /** Number of turns in a row without a pause. */
  readonly burst: number;
  /** Interval between the starts of further turns, ms, until a turn finds no work. */
  readonly interval: number;
}

/**
 * Batches the work of a loop that is always busy. A turn costs about the same for one item as for ten (a statement, a
 * commit, a message), so a busy loop that waits a few ms between turns does far less work for the same items; a loop
 * with occasional work never waits.
 */
export class BusyPacer {
  private turns = 0;
  private startedAt = -Infinity;

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly options: PaceOptions,
  ) {}

  /** Records that a turn begins. */
  begin(): void {
    this.turns += 1;
    this.startedAt = this.clock.elapsed();
  }

  /** Records that there was no work: the next turns follow without a pause. */
  rest(): void {
    this.turns = 0;
  }

  /** Time until the next turn should begin, ms; 0 = now. */
  get delay(): number {
    if (this.turns < this.options.burst) return 0;
    return Math.max(0, this.startedAt + this.options.interval - this.clock.elapsed());
  }
}
