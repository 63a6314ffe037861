import type { Clock } from '@causeway/runtime';

/** A bucket holds `burst` tokens and gains one each `every` ms. */
export interface BucketSize {
  readonly burst: number;
  readonly every: number;
}

interface Bucket {
  /** What it holds, in ms of waiting: exact where `elapsed` is. */
  readonly credit: number;
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
    const left = this.credit(key) - tokens * this.size.every;
    if (left < 0) return Math.ceil(-left);
    this.set(key, left);
    return undefined;
  }

  /** Takes tokens that may not be there: the key waits the longer. */
  charge(key: string, tokens: number): void {
    this.set(key, Math.max(-this.full, this.credit(key) - tokens * this.size.every));
  }

  private get full(): number {
    return this.size.burst * this.size.every;
  }

  private credit(key: string): number {
    const bucket = this.buckets.get(key);
    return bucket ? Math.min(this.full, bucket.credit + this.clock.elapsed() - bucket.at) : this.full;
  }

  private set(key: string, credit: number): void {
    this.buckets.delete(key);
    this.buckets.set(key, { credit, at: this.clock.elapsed() });
    if (this.buckets.size <= MOST_KEYS) return;
    const [oldest] = this.buckets.keys();
    if (oldest !== undefined) this.buckets.delete(oldest);
  }
}
