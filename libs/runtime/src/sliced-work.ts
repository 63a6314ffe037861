import type { Clock } from './clock';

/** Number of items per slice; at 20 to 50 µs per item, a slice blocks the event loop for 20 to 50 ms. */
export const SLICE = 1_000;

/**
 * Work on many items that must not block the event loop: `advance` does one slice, a bounded number of items, and the
 * caller yields to the event loop in between. Each step of the iterator must process at most one item.
 */
export class SlicedWork {
  private left: Iterator<unknown> | undefined;

  /** `slice`: number of items per slice; larger than the default for items that cost much less than 20 µs. */
  constructor(private readonly slice = SLICE) {}

  /** Starts new work and drops the rest of the previous work. */
  begin(steps: Iterable<unknown>): void {
    this.left = steps[Symbol.iterator]();
  }

  /** Does the next slice; true if nothing is left. Throws errors of steps. */
  advance(): boolean {
    for (let i = 0; this.left && i < this.slice; i++) if (this.left.next().done === true) this.left = undefined;
    return this.left === undefined;
  }
}

/** Resolves in the next turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Does all steps and yields to the event loop after each slice; rejects with errors of steps. After `signal` has
 * aborted it does no further slice and rejects with the signal's reason.
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

/** Options of `inTimedSlices`. */
export interface TimedSlices {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly signal?: AbortSignal;
  /** Called after each slice. */
  readonly each?: () => void;
}

/** Maximum duration of a slice of `inTimedSlices`, ms. */
const SLICE_TIME = 5;

/** Like `inSlices`, for items of very different cost: a slice ends with the step that reaches 5 ms. */
export async function inTimedSlices(steps: Iterable<unknown>, { clock, signal, each }: TimedSlices): Promise<void> {
  signal?.throwIfAborted();
  let began = clock.elapsed();
  for (const _ of steps) {
    if (clock.elapsed() - began < SLICE_TIME) continue;
    each?.();
    await yieldToEventLoop();
    signal?.throwIfAborted();
    began = clock.elapsed();
  }
  each?.();
}

/** Returns the items in order, in batches of at most `size`. */
export function* splitIntoBatches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
