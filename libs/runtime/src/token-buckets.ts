import type { Clock } from './clock';
import { BoundedMap } from './bounded-map';

/** A rate limit: `perSecond` on average, and bursts of up to `burst`. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Maximum number of buckets; an evicted key starts again with a full bucket. */
const MAX_KEYS = 10_000;

/** A token bucket: holds at most `burst` tokens and gains `perSecond`. */
export class TokenBucket {
  /** Tokens, expressed as ms of waiting, so that the count is as exact as `elapsed`. */
  private credit: number;
  /** Time at which `credit` was computed, by `Clock.elapsed`. */
  private at: number;

  constructor(
    private readonly rate: Rate,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {
    this.credit = this.waitFor(rate.burst);
    this.at = clock.elapsed();
  }

  /** Takes tokens. If there are too few, takes none and returns the ms until there are enough. */
  take(tokens = 1): number | undefined {
    const wait = this.wait(tokens);
    if (wait === undefined) this.credit -= this.waitFor(tokens);
    return wait;
  }

  /** Like `take`, but takes none. */
  wait(tokens = 1): number | undefined {
    const left = this.refilled() - this.waitFor(tokens);
    return left < 0 ? Math.ceil(-left) : undefined;
  }

  /** Takes tokens even into a debt of at most `mostDebt`; returns the ms until the debt is paid. */
  charge(tokens: number, mostDebt = Infinity): number {
    this.credit = Math.max(-this.waitFor(mostDebt), this.refilled() - this.waitFor(tokens));
    return Math.max(0, -this.credit);
  }

  private refilled(): number {
    const now = this.clock.elapsed();
    this.credit = Math.min(this.waitFor(this.rate.burst), this.credit + (now - this.at));
    this.at = now;
    return this.credit;
  }

  private waitFor(tokens: number): number {
    return tokens * (1_000 / this.rate.perSecond);
  }
}

/** One token bucket per key. */
export class TokenBuckets {
  private readonly buckets = new BoundedMap<TokenBucket>(MAX_KEYS);

  constructor(
    private readonly rate: Rate,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /** Like `take` of a bucket. */
  take(key: string): number | undefined {
    const bucket = this.of(key);
    const wait = bucket.take();
    if (wait === undefined) this.buckets.set(key, bucket);
    return wait;
  }

  /** Like `wait` of a bucket. */
  wait(key: string): number | undefined {
    return this.buckets.get(key)?.wait();
  }

  /** Takes tokens even into debt: the key then waits longer, for at most two bursts. */
  charge(key: string, tokens: number): void {
    const bucket = this.of(key);
    bucket.charge(tokens, this.rate.burst);
    this.buckets.set(key, bucket);
  }

  private of(key: string): TokenBucket {
    return this.buckets.get(key) ?? new TokenBucket(this.rate, this.clock);
  }
}
