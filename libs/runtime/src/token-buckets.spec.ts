import { FakeClock } from '@causeway/runtime';
import { TokenBuckets } from './token-buckets';

describe('token buckets', () => {
  const clock = new FakeClock();

  it('let a burst pass, then one at a time, each key for itself', () => {
    const buckets = new TokenBuckets(clock, { burst: 3, every: 500 });
    const take = (key: string): (number | undefined)[] => [1, 2, 3, 4].map(() => buckets.take(key));
    expect(take('a')).toEqual([undefined, undefined, undefined, 500]);
    expect(buckets.take('b')).toBeUndefined();
    clock.advance(499);
    expect(buckets.take('a')).toBe(1);
    clock.advance(1);
    expect([buckets.take('a'), buckets.take('a')]).toEqual([undefined, 500]);
    clock.advance(10_000);
    expect(take('a')).toEqual([undefined, undefined, undefined, 500]);
  });

  it('make whoever is charged wait longer, yet not without end', () => {
    const buckets = new TokenBuckets(clock, { burst: 10, every: 100 });
    for (let i = 0; i < 1_000; i++) buckets.charge('a', 9);
    expect(buckets.take('a')).toBe(1_100);
  });

  it('remember a bounded number of keys', () => {
    const buckets = new TokenBuckets(clock, { burst: 1, every: 1_000_000 });
    for (let i = 0; i <= 10_000; i++) buckets.take(`key ${i}`);
    expect(buckets.take('key 10000')).toBeDefined();
    expect(buckets.take('key 0')).toBeUndefined();
  });
});
