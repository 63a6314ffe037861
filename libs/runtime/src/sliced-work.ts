/** Items in a slice; at 20 to 50 µs each it holds the event loop for 20 to 50 ms. */
export const SLICE = 1_000;

/**
 * Work on many items that must not hold the event loop: `advance` does one slice of it, a bounded number of items, and
 * the caller lets others have their turn in between. Each step of the iterator is at most one item's work.
 */
export class SlicedWork {
  private left: Iterator<unknown> | undefined;

  /** Items in a slice: for those that cost much less than 20 µs each it may be larger. */
  constructor(private readonly slice = SLICE) {}

  /** Begins other work; what was left of the former is forgotten. */
  begin(steps: Iterable<unknown>): void {
    this.left = steps[Symbol.iterator]();
  }

  /** Does the next slice; true when nothing is left. What a step throws is thrown here. */
  advance(): boolean {
    for (let i = 0; this.left && i < this.slice; i++) if (this.left.next().done === true) this.left = undefined;
    return this.left === undefined;
  }
}

/** Resolves once others have had their turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Does all of it, with a turn for others after each slice; rejects with what a step throws. Does no further slice once
 * `signal` has aborted, and rejects with its reason then. For steps that cost very little or much, `slice` of them a turn.
 */
export async function inSlices(steps: Iterable<unknown>, signal: AbortSignal, slice = SLICE): Promise<void> {
  signal.throwIfAborted();
  const work = new SlicedWork(slice);
  work.begin(steps);
  while (!work.advance()) {
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
}
