import type { Clock } from './clock';
import { BoundedMap } from './bounded-map';

/** How often something may happen: so many a second for long, and `burst` at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Most keys that are remembered; whose bucket is forgotten begins with a full one. */
const MOST_KEYS = 10_000;

/** Holds `burst` tokens and gains `perSecond`: limits how often something happens. */
export class TokenBucket {
  /** What it holds, in ms of waiting: exact where `elapsed` is. */
  private credit: number;
  /** By `Clock.elapsed`. */
  private at: number;

  constructor(
    private readonly rate: Rate,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {
    this.credit = this.waitFor(rate.burst);
    this.at = clock.elapsed();
  }

  /** Takes tokens; where there are too few it takes none and answers in how many ms there will be enough. */
  take(tokens = 1): number | undefined {
    const left = this.refilled() - this.waitFor(tokens);
    if (left < 0) return Math.ceil(-left);
    this.credit = left;
    return undefined;
  }

  /** Takes tokens that may not be there, into a debt of at most `mostDebt`; answers in how many ms it is paid. */
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
  private readonly buckets = new BoundedMap<TokenBucket>(MOST_KEYS);

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

  /** Takes tokens that may not be there: the key waits the longer, for at most two bursts. */
  charge(key: string, tokens: number): void {
    const bucket = this.of(key);
    bucket.charge(tokens, this.rate.burst);
    this.buckets.set(key, bucket);
  }

  private of(key: string): TokenBucket {
    return this.buckets.get(key) ?? new TokenBucket(this.rate, this.clock);
  }
}
