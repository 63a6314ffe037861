/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** One line of a histogram, cumulative as Prometheus wants it. */
export interface HistogramBucket {
  readonly le: string;
  readonly count: number;
}

/** How long answers take. */
export class LatencyHistogram {
  private readonly counts = new Array<number>(BOUNDS.length + 1).fill(0);
  private total = 0;

  /** `took` in ms. */
  observe(took: number): void {
    const seconds = took / 1_000;
    const found = BOUNDS.findIndex((bound) => seconds <= bound);
    const slot = found < 0 ? BOUNDS.length : found;
    this.counts[slot] = (this.counts[slot] ?? 0) + 1;
    this.total += seconds;
  }

  /** Seconds in all. */
  get sum(): number {
    return this.total;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  buckets(): HistogramBucket[] {
    let count = 0;
    return this.counts.map((own, i) => {
      count += own;
      const bound = BOUNDS[i];
      return { le: bound === undefined ? '+Inf' : String(bound), count };
    });
  }
}
