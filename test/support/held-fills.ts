import type { FillRunner } from '@causeway/store';

/** Fills of derived tables that a test takes a step at a time, the oldest first. */
export class HeldFills {
  private readonly fills: Iterator<unknown>[] = [];

  readonly run: FillRunner = (steps) => void this.fills.push(steps[Symbol.iterator]());

  /** Takes one step of the oldest fill. */
  take(): void {
    if (this.fills[0]?.next().done === true) this.fills.shift();
  }

  /** Takes one step of the newest fill. */
  takeNewest(): void {
    if (this.fills.at(-1)?.next().done === true) this.fills.pop();
  }

  finish(): void {
    while (this.fills.length > 0) this.take();
  }
}
