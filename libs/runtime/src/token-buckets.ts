import type { Clock } from './clock';
import { BoundedMap } from './bounded-map';

/** A rate limit: `perSecond` in the long run, and `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Maximum number of kept keys; an evicted key starts with a full bucket. */
const MAX_KEYS = 10_000;

/** A token bucket: holds at most `burst` tokens and gains `perSecond`. */
export class TokenBucket {
  /** The tokens as ms of waiting; exact where `elapsed` is. */
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

  /** Takes tokens. Where there are too few it takes none and returns in how many ms there will be enough. */
  take(tokens = 1): number | undefined {
    const wait = this.wait(tokens);
    if (wait === undefined) this.credit -= this.waitFor(tokens);
    return wait;
  }

  /** As `take`, but takes none. */
  wait(tokens = 1): number | undefined {
    const left = this.refilled() - this.waitFor(tokens);
    return left < 0 ? Math.ceil(-left) : undefined;
  }

  /** Takes tokens even into a debt of at most `mostDebt`; returns in how many ms the debt is paid. */
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

/** One token bucket a key. */
export class TokenBuckets {
  private readonly buckets = new BoundedMap<TokenBucket>(MAX_KEYS);

  constructor(
    private readonly rate: Rate,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /** As a bucket's `take`. */
  take(key: string): number | undefined {
    const bucket = this.of(key);
    const wait = bucket.take();
    if (wait === undefined) this.buckets.set(key, bucket);
    return wait;
  }

  /** As a bucket's `wait`. */
  wait(key: string): number | undefined {
    return this.buckets.get(key)?.wait();
  }

  /** Takes tokens even into debt: the key waits longer, for at most two bursts. */
  charge(key: string, tokens: number): void {
    const bucket = this.of(key);
    bucket.charge(tokens, this.rate.burst);
    this.buckets.set(key, bucket);
  }

  private of(key: string): TokenBucket {
    return this.buckets.get(key) ?? new TokenBucket(this.rate, this.clock);
  }
}
