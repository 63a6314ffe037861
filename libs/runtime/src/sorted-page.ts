import { inSlices, SLICE } from './sliced-work';

/** Requested range of a sorted list. */
export interface PageRange {
  readonly offset: number;
  readonly size: number;
}

/** A part of a list, and the length of the whole list. */
export interface SortedPage<T> {
  readonly total: number;
  readonly items: readonly T[];
}

/**
 * Sorts many items without blocking the event loop and returns a part of them. Undefined items are skipped, but count
 * in a slice because a filter costs time too. Items added to `items` meanwhile may be missing. Rejects with the
 * signal's reason if the signal aborts first.
 */
export async function sortedPage<T>(
  items: Iterable<T | undefined>,
  compare: (a: T, b: T) => number,
  { offset, size }: PageRange,
  signal: AbortSignal,
): Promise<SortedPage<T>> {
  const runs = new SortedRuns(compare);
  const page: T[] = [];
  let total = 0;
  const steps = function* (): Generator<unknown> {
    for (const item of items) {
      if (item !== undefined) runs.add(item);
      if (item !== undefined) total += 1;
      yield;
    }
    let place = 0;
    for (const item of runs) {
      if (place++ >= offset + size) return;
      if (place > offset) page.push(item);
      yield;
    }
  };
  await inSlices(steps(), signal);
  return { total, items: page };
}

/**
 * Sorts without one long sort: added items are sorted run by run, and the runs are merged while they are iterated.
 * Equal items keep the order in which they were added.
 */
export class SortedRuns<T> implements Iterable<T> {
  private readonly runs: T[][] = [];
  private last: T[] = [];

  constructor(private readonly compare: (a: T, b: T) => number) {}

  add(item: T): void {
    this.last.push(item);
    if (this.last.length === SLICE) this.endRun();
  }

  [Symbol.iterator](): Iterator<T> {
    this.endRun();
    return this.merged(0, this.runs.length);
  }

  private endRun(): void {
    if (this.last.length === 0) return;
    this.runs.push(this.last.sort(this.compare));
    this.last = [];
  }

  /** Merges the runs `from` ≤ n < `to`. */
  private *merged(from: number, to: number): Generator<T> {
    if (to - from < 2) return void (yield* this.runs[from] ?? []);
    const middle = (from + to) >> 1;
    const [left, right] = [this.merged(from, middle), this.merged(middle, to)];
    let [a, b] = [left.next(), right.next()];
    while (a.done !== true || b.done !== true) {
      if (b.done === true || (a.done !== true && this.compare(a.value, b.value) <= 0)) {
        yield a.value;
        a = left.next();
      } else {
        yield b.value;
        b = right.next();
      }
    }
  }
}
