import { splitIntoBatches, inSlices, SLICE, SlicedWork } from './sliced-work';

describe('SlicedWork', () => {
  const counting = (items: number, seen: number[]): Iterable<number> => ({
    *[Symbol.iterator]() {
      for (let i = 0; i < items; i++) yield seen.push(i);
    },
  });

  it('does a slice at a time and says when nothing is left', () => {
    const [work, seen]: [SlicedWork, number[]] = [new SlicedWork(), []];
    work.begin(counting(2 * SLICE + 1, seen));
    const done = [0, 0, 0].map(() => [work.advance(), seen.length]);
    expect(done).toEqual([
      [false, SLICE],
      [false, 2 * SLICE],
      [true, 2 * SLICE + 1],
    ]);
    expect(work.advance()).toBe(true);
  });

  it('drops earlier work when new work begins', () => {
    const [work, first, second]: [SlicedWork, number[], number[]] = [new SlicedWork(), [], []];
    work.begin(counting(2 * SLICE, first));
    work.advance();
    work.begin(counting(1, second));
    expect([work.advance(), first.length, second.length]).toEqual([true, SLICE, 1]);
  });

  it('takes the size of a slice', () => {
    const [work, seen]: [SlicedWork, number[]] = [new SlicedWork(3), []];
    work.begin(counting(7, seen));
    expect([work.advance(), seen.length]).toEqual([false, 3]);
    expect([work.advance(), work.advance(), seen.length]).toEqual([false, true, 7]);
  });

  it('has nothing to do before anything was begun', () => expect(new SlicedWork().advance()).toBe(true));
});

describe('inSlices', () => {
  /** Goes on for ever, and aborts when it has gone so far. */
  class Endless {
    steps = 0;
    readonly controller = new AbortController();

    constructor(private readonly until: number) {}

    *[Symbol.iterator](): Generator<unknown> {
      for (;;) {
        if (++this.steps === this.until) this.controller.abort(new Error('gone'));
        yield;
      }
    }
  }

  it('ends with the slice in which the signal aborts', async () => {
    const work = new Endless(2_500);
    await expect(inSlices(work, work.controller.signal)).rejects.toThrow('gone');
    expect(work.steps).toBe(3 * SLICE);
  });

  it('does nothing when the signal has aborted', async () => {
    const work = new Endless(2_500);
    work.controller.abort(new Error('gone'));
    await expect(inSlices(work, work.controller.signal)).rejects.toThrow('gone');
    expect(work.steps).toBe(0);
  });
});

test.each([
  [[], []],
  [[1], [[1]]],
  [
    [1, 2, 3],
    [[1, 2], [3]],
  ],
  [
    [1, 2, 3, 4],
    [
      [1, 2],
      [3, 4],
    ],
  ],
])('batchesOf cuts %j into batches of two', (items, batches) => {
  expect([...splitIntoBatches(items, 2)]).toEqual(batches);
});
