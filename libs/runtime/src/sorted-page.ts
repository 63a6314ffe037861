import { inSlices } from './sliced-work';
import { SortedRuns } from './sorted-runs';

/** Which part of a sorted list is wanted. */
export interface PageRange {
  readonly offset: number;
  readonly size: number;
}

/** A part of a list, and how long all of it is. */
export interface SortedPage<T> {
  readonly total: number;
  readonly items: readonly T[];
}

/**
 * A part of many items in order, found without holding the event loop; undefined among them is left out, so that
 * looking at what does not count takes its share of a slice too. What is added to `items` meanwhile may be missing.
 * Rejects with the signal's reason when that aborts before.
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
