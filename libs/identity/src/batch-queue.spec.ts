import { BatchQueue } from './batch-queue';

describe('a queue of batches', () => {
  it('joins what waits, at most as many as a batch has, and goes on after a batch that failed', async () => {
    const batches: (readonly number[])[] = [];
    const queue = new BatchQueue((inputs: readonly number[]) => {
      batches.push(inputs);
      return inputs.includes(1) ? Promise.reject(new Error('one')) : Promise.resolve(inputs.map((n) => 10 * n));
    }, 3);
    const results = await Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map((n) => queue.add(n)));
    expect(batches).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
    const outcomes = results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)));
    expect(outcomes).toEqual(['Error: one', 'Error: one', 'Error: one', 30, 40, 50, 60]);
    expect(await queue.add(7)).toBe(70);
  });

  it('rejects an input without a result', async () => {
    const queue = new BatchQueue(() => Promise.resolve([1]), 10);
    const [first, second] = await Promise.allSettled([queue.add('a'), queue.add('b')]);
    expect([first?.status, second?.status]).toEqual(['fulfilled', 'rejected']);
  });
});
