import type { Clock } from './clock';

/** How a `BusyPacer` distinguishes an occasional turn from a busy stretch, and how it paces the latter. */
export interface PaceOptions {
  /** Turns in a row that follow each other at once. */
  readonly burst: number;
  /** ms from the start of one turn to the next after that, until there was nothing to do. */
  readonly interval: number;
}

/**
 * Batches the work of a loop that never comes to rest. A turn costs about the same for one item as for ten (a
 * statement, a commit, a message), so a busy loop that waits a few ms between turns does far less work for the same
 * items; a loop with occasional work never waits.
 */
export class BusyPacer {
  private turns = 0;
  private startedAt = -Infinity;

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly options: PaceOptions,
  ) {}

  /** A turn begins. */
  begin(): void {
    this.turns += 1;
    this.startedAt = this.clock.elapsed();
  }

  /** There was nothing to do: the next turns follow at once. */
  rest(): void {
    this.turns = 0;
  }

  /** ms until the next turn should begin; 0 = now. */
  get delay(): number {
    if (this.turns < this.options.burst) return 0;
    return Math.max(0, this.startedAt + this.options.interval - this.clock.elapsed());
  }
}
