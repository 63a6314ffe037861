import type { Clock } from '@causeway/runtime';

/** A bucket holds `burst` tokens and gains one each `every` ms. */
export interface BucketSize {
  readonly burst: number;
  readonly every: number;
}

interface Bucket {
  readonly tokens: number;
  /** By `Clock.elapsed`. */
  readonly at: number;
}

/** Most keys that are remembered; whose bucket is forgotten begins with a full one. */
const MOST_KEYS = 10_000;

/** One token bucket a key: limits how often something happens. Keys that are full again cost nothing. */
export class TokenBuckets {
  /** In the order of their last use. */
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly size: BucketSize,
  ) {}

  /** Takes tokens; where there are too few it takes none and answers in how many ms there will be enough. */
  take(key: string, tokens = 1): number | undefined {
    const left = this.left(key);
    if (left < tokens) return Math.ceil((tokens - left) * this.size.every);
    this.set(key, left - tokens);
    return undefined;
  }

  /** Takes tokens that may not be there: the key waits the longer. */
  charge(key: string, tokens: number): void {
    this.set(key, Math.max(-this.size.burst, this.left(key) - tokens));
  }

  private left(key: string): number {
    const { burst, every } = this.size;
    const bucket = this.buckets.get(key);
    return bucket ? Math.min(burst, bucket.tokens + (this.clock.elapsed() - bucket.at) / every) : burst;
  }

  private set(key: string, tokens: number): void {
    this.buckets.delete(key);
    this.buckets.set(key, { tokens, at: this.clock.elapsed() });
    if (this.buckets.size <= MOST_KEYS) return;
    const [oldest] = this.buckets.keys();
    if (oldest !== undefined) this.buckets.delete(oldest);
  }
}
