import { FairQueue } from './inbound-scheduler';

/** Work that ends when the test ends it; `order` records what has begun. */
function bench(slots: number): {
  readonly order: string[];
  add(key: string, cost: number): Promise<void>;
  end(): Promise<void>;
} {
  const queue = new FairQueue(slots);
  const order: string[] = [];
  const running: (() => void)[] = [];
  return {
    order,
    add: (key, cost) =>
      queue.run(key, cost, () => {
        order.push(key);
        return new Promise<void>((resolve) => running.push(resolve));
      }),
    end: async () => {
      running.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('a fair queue', () => {
  it('begins work at once while there is room, one piece a peer', () => {
    const { add, order } = bench(2);
    void add('a', 1);
    void add('a', 1);
    void add('b', 1);
    void add('c', 1);
    expect(order).toEqual(['a', 'b']);
  });

  it('lets who had least go first: a flood waits behind itself', async () => {
    const { add, order, end } = bench(1);
    for (let i = 0; i < 5; i++) void add('flood', 500);
    for (let i = 0; i < 3; i++) void add('east', 1);
    for (let i = 0; i < 8; i++) await end();
    expect(order).toEqual(['flood', 'east', 'east', 'east', 'flood', 'flood', 'flood', 'flood']);
  });

  it('shares by cost between peers that always wait', async () => {
    const { add, order, end } = bench(1);
    for (let i = 0; i < 30; i++) void add('large', 3);
    for (let i = 0; i < 30; i++) void add('small', 1);
    for (let i = 0; i < 20; i++) await end();
    const large = order.filter((key) => key === 'large').length;
    expect(large).toBeGreaterThanOrEqual(4);
    expect(large).toBeLessThanOrEqual(7);
  });

  it('settles as the work does, and goes on after work that fails', async () => {
    const queue = new FairQueue(1);
    const failed = queue.run('a', 1, () => Promise.reject(new Error('no')));
    const done = queue.run('b', 1, () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    await expect(done).resolves.toBe('yes');
    expect(queue.isContended('c')).toBe(false);
  });
});
