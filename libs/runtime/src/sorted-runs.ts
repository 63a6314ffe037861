import { SLICE } from './sliced-work';

/**
 * Items in order without one long sort: they are sorted a run at a time as they come, and the runs are merged as they
 * are asked for. Equal ones come in the order in which they were added.
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

  /** The runs from `from` up to `to` as one. */
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
