import { FakeClock } from '../testing/fake-clock';
import { TokenBucket, TokenBuckets } from './token-buckets';

describe('token buckets', () => {
  const clock = new FakeClock();

  it('let a burst pass, then one at a time, each key for itself', () => {
    const buckets = new TokenBuckets({ burst: 3, perSecond: 2 }, clock);
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

  it('make a charged key wait longer, but not without end', () => {
    const buckets = new TokenBuckets({ burst: 10, perSecond: 10 }, clock);
    for (let i = 0; i < 1_000; i++) buckets.charge('a', 9);
    expect(buckets.take('a')).toBe(1_100);
  });

  it('allow a debt where the caller waits until it is paid', () => {
    const bucket = new TokenBucket({ burst: 2, perSecond: 4 }, clock);
    expect([bucket.charge(2), bucket.charge(30), bucket.take()]).toEqual([0, 7_500, 7_750]);
    clock.advance(7_500);
    expect([bucket.charge(0), bucket.take()]).toEqual([0, 250]);
    clock.advance(1_000_000);
    expect([bucket.take(3), bucket.take(2), bucket.take()]).toEqual([250, undefined, 250]);
  });

  it('remember a bounded number of keys', () => {
    const buckets = new TokenBuckets({ burst: 1, perSecond: 0.001 }, clock);
    for (let i = 0; i <= 10_000; i++) buckets.take(`key ${i}`);
    expect(buckets.take('key 10000')).toBeDefined();
    expect(buckets.take('key 0')).toBeUndefined();
  });
});
