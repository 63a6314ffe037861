import { sortedPage } from './sorted-page';

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

  test('leaves out what is undefined', async () => {
    const even = numbers.map((each) => (each % 2 === 0 ? each : undefined));
    expect(await sortedPage(even, byNumber, { offset: 1, size: 2 }, NEVER)).toEqual({ total: 1_250, items: [2, 4] });
  });

  test('gives others their turn', async () => {
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
