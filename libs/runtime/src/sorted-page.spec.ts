import { SLICE } from './sliced-work';
import { sortedPage, SortedRuns } from './sorted-page';

const byNumber = (a: number, b: number): number => a - b;

const NEVER = new AbortController().signal;

describe('sortedPage', () => {
  const numbers = Array.from({ length: 2_500 }, (_, i) => (i * 7) % 2_500);

  test.each([
    [0, 3, [0, 1, 2]],
    [1_200, 2, [1_200, 1_201]],
    [2_498, 5, [2_498, 2_499]],
    [9_000, 5, []],
    [3, 0, []],
  ])('from %i, %i of them', async (offset, size, items) => {
    expect(await sortedPage(numbers, byNumber, { offset, size }, NEVER)).toEqual({ total: 2_500, items });
  });

  test('skips undefined items', async () => {
    const even = numbers.map((each) => (each % 2 === 0 ? each : undefined));
    expect(await sortedPage(even, byNumber, { offset: 1, size: 2 }, NEVER)).toEqual({ total: 1_250, items: [2, 4] });
  });

  test('yields to the event loop', async () => {
    let [turns, done] = [0, false];
    const turn = (): void => {
      turns += 1;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    await sortedPage(numbers, byNumber, { offset: 0, size: 1 }, NEVER);
    done = true;
    expect(turns).toBeGreaterThanOrEqual(2);
  });
});

interface Item {
  readonly rank: number;
  readonly added: number;
}

describe('SortedRuns', () => {
  test.each([0, 1, SLICE - 1, SLICE, SLICE + 1, 3 * SLICE + 7])(
    '%d items come in order, equal ones as they were added',
    (count) => {
      const items = Array.from({ length: count }, (_, added): Item => ({ rank: (added * 7_919) % 101, added }));
      const runs = new SortedRuns<Item>((a, b) => a.rank - b.rank);
      for (const item of items) runs.add(item);
      expect([...runs]).toEqual([...items].sort((a, b) => a.rank - b.rank || a.added - b.added));
    },
  );

  test('no run is longer than a slice: few comparisons between two items', () => {
    let compared = 0;
    const runs = new SortedRuns<number>((a, b) => ((compared += 1), a - b));
    for (let i = 0; i < 8 * SLICE; i++) {
      const before = compared;
      runs.add((i * 7_919) % 10_007);
      expect(compared - before).toBeLessThan(SLICE * 10);
    }
    compared = 0;
    for (const first of runs) {
      expect(first).toBe(0);
      break;
    }
    expect(compared).toBeLessThan(8);
  });
});
