import type { ForwardResult } from './forward/forward-result';
import { rcodeName, typeName } from './wire/codes';
import { LatencyHistogram } from './answer/latency';

/** Why a question got no answer. */
export type Dropped = 'malformed' | 'rate' | 'connections';

const TYPES_COUNTED = 256;
const OTHER = 0;

/** Counts questions by type and result; cheap enough for every one of them. */
export class DnsMetrics {
  private readonly answerCounts = new Map<number, number>();
  private readonly dropCounts: Record<Dropped, number> = { malformed: 0, rate: 0, connections: 0 };

  /** Of a sample of our own answers; of all forwarded ones. */
  readonly ownLatency = new LatencyHistogram();
  readonly forwardLatency = new LatencyHistogram();
  private readonly forwardCounts: Record<ForwardResult, number> = { answered: 0, failed: 0, limit: 0 };

  answered(type: number, rcode: number): void {
    const slot = (type < TYPES_COUNTED ? type : OTHER) + rcode * TYPES_COUNTED;
    this.answerCounts.set(slot, (this.answerCounts.get(slot) ?? 0) + 1);
  }

  forwarded(result: ForwardResult, took: number): void {
    this.forwardCounts[result] += 1;
    if (result !== 'limit') this.forwardLatency.observe(took);
  }

  dropped(why: Dropped): void {
    this.dropCounts[why] += 1;
  }

  /** Questions answered so far, by type and result. */
  questions(): { readonly type: string; readonly result: string; readonly count: number }[] {
    return [...this.answerCounts].map(([slot, count]) => {
      const type = slot % TYPES_COUNTED;
      return {
        type: type === OTHER ? 'other' : typeName(type),
        result: rcodeName((slot - type) / TYPES_COUNTED),
        count,
      };
    });
  }

  /** Questions that got no answer, by reason. */
  drops(): { readonly reason: string; readonly count: number }[] {
    return Object.entries(this.dropCounts).map(([reason, count]) => ({ reason, count }));
  }

  /** Questions given to others, by how that ended. */
  forwardResults(): { readonly result: string; readonly count: number }[] {
    return Object.entries(this.forwardCounts).map(([result, count]) => ({ result, count }));
  }
}
