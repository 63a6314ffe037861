import type { ForwardResult } from '../forward/forward-result';
import { rcodeName, typeName } from '../wire/codes';
import { Latency } from './latency';

/** Why a question got no answer. */
export type Dropped = 'malformed' | 'rate' | 'connections';

const TYPES_COUNTED = 256;
const OTHER = 0;

/** Counts questions by type and result; cheap enough for every one of them. */
export class Tally {
  private readonly counts = new Map<number, number>();
  private readonly drops: Record<Dropped, number> = { malformed: 0, rate: 0, connections: 0 };

  /** Of a sample of our own answers; of all forwarded ones. */
  readonly own = new Latency();
  readonly others = new Latency();
  private readonly forwards: Record<ForwardResult, number> = { answered: 0, failed: 0, limit: 0 };

  answered(type: number, rcode: number): void {
    const slot = (type < TYPES_COUNTED ? type : OTHER) + rcode * TYPES_COUNTED;
    this.counts.set(slot, (this.counts.get(slot) ?? 0) + 1);
  }

  forwarded(result: ForwardResult, took: number): void {
    this.forwards[result] += 1;
    if (result !== 'limit') this.others.observe(took);
  }

  dropped(why: Dropped): void {
    this.drops[why] += 1;
  }

  /** Questions answered so far, by type and result. */
  questions(): { readonly type: string; readonly result: string; readonly count: number }[] {
    return [...this.counts].map(([slot, count]) => {
      const type = slot % TYPES_COUNTED;
      return {
        type: type === OTHER ? 'other' : typeName(type),
        result: rcodeName((slot - type) / TYPES_COUNTED),
        count,
      };
    });
  }

  /** Questions that got no answer, by reason. */
  unanswered(): { readonly reason: string; readonly count: number }[] {
    return Object.entries(this.drops).map(([reason, count]) => ({ reason, count }));
  }

  /** Questions given to others, by how that ended. */
  handedOn(): { readonly result: string; readonly count: number }[] {
    return Object.entries(this.forwards).map(([result, count]) => ({ result, count }));
  }
}
