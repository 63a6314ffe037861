import { SLICE } from './sliced-work';
import { SortedRuns } from './sorted-runs';

interface Item {
  readonly rank: number;
  readonly added: number;
}

test.each([0, 1, SLICE - 1, SLICE, SLICE + 1, 3 * SLICE + 7])(
  '%d items come in order, equal ones as they were added',
  (count) => {
    const items = Array.from({ length: count }, (_, added): Item => ({ rank: (added * 7_919) % 101, added }));
    const runs = new SortedRuns<Item>((a, b) => a.rank - b.rank);
    for (const item of items) runs.add(item);
    expect([...runs]).toEqual([...items].sort((a, b) => a.rank - b.rank || a.added - b.added));
  },
);

test('no run is longer than a slice: the comparisons between two items that are asked for are few', () => {
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
