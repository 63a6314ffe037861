import { rcodeName, typeName } from './wire/codes';

/** Reason why a query or a connection got no answer. */
export type DropReason = 'malformed' | 'rate' | 'connections';

/** Result of a forwarded query; `limit`: too many were pending. */
export type ForwardResult = 'answered' | 'failed' | 'limit';

/** Record types below this number have a counter each; all others share one. */
const TYPES_COUNTED = 256;
const OTHER = 0;

/** Upper bounds of the buckets, in seconds. */
const BOUNDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** A histogram of durations in Prometheus' form. */
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

  /** Sum of all times, in seconds. */
  get sum(): number {
    return this.total;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** Cumulative counts by upper bound; the last bound is `+Inf`. */
  buckets(): { readonly le: string; readonly count: number }[] {
    let count = 0;
    return this.counts.map((own, i) => {
      count += own;
      const bound = BOUNDS[i];
      return { le: bound === undefined ? '+Inf' : String(bound), count };
    });
  }
}

/** Counts queries by type and response code, and measures latencies. Cheap enough to be called for every query. */
export class DnsMetrics {
  /** Latencies of a sample of the authoritative answers. */
  readonly ownLatency = new LatencyHistogram();
  /** Latencies of all forwarded queries. */
  readonly forwardLatency = new LatencyHistogram();
  private readonly answerCounts = new Map<number, number>();
  private readonly dropCounts: Record<DropReason, number> = { malformed: 0, rate: 0, connections: 0 };
  private readonly forwardCounts: Record<ForwardResult, number> = { answered: 0, failed: 0, limit: 0 };

  answered(type: number, rcode: number): void {
    const slot = (type < TYPES_COUNTED ? type : OTHER) + rcode * TYPES_COUNTED;
    this.answerCounts.set(slot, (this.answerCounts.get(slot) ?? 0) + 1);
  }

  /** `took` in ms. */
  forwarded(result: ForwardResult, took: number): void {
    this.forwardCounts[result] += 1;
    if (result !== 'limit') this.forwardLatency.observe(took);
  }

  dropped(reason: DropReason): void {
    this.dropCounts[reason] += 1;
  }

  /** Number of queries answered so far, by type and response code. */
  answers(): { readonly type: string; readonly result: string; readonly count: number }[] {
    return [...this.answerCounts].map(([slot, count]) => {
      const type = slot % TYPES_COUNTED;
      return {
        type: type === OTHER ? 'other' : typeName(type),
        result: rcodeName((slot - type) / TYPES_COUNTED),
        count,
      };
    });
  }

  /** Number of queries and connections without an answer, by reason. */
  drops(): { readonly reason: string; readonly count: number }[] {
    return Object.entries(this.dropCounts).map(([reason, count]) => ({ reason, count }));
  }

  /** Number of forwarded queries, by result. */
  forwardResults(): { readonly result: string; readonly count: number }[] {
    return Object.entries(this.forwardCounts).map(([result, count]) => ({ result, count }));
  }
}
