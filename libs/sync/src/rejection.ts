/** A resource that is not taken in, and why; it counts as handled (design.md §5 One bad resource). */
export interface Rejection {
  /** Empty where the peer does not say which resource it means. */
  readonly wireKey: string;
  readonly reason: string;
}

/** Most rejections that are remembered of one kind: enough to see what is wrong. */
const SHOWN = 20;

/** What of one kind stands rejected now: a resource that is sent again or removed starts over. */
export class Rejections {
  private readonly reasons = new Map<string, string>();
  private count = 0;

  /** A message with these resources was answered with these rejections. */
  answered(wireKeys: Iterable<string>, rejected: readonly Rejection[]): void {
    this.reasons.delete('');
    for (const wireKey of wireKeys) this.reasons.delete(wireKey);
    this.count += rejected.length;
    for (const { wireKey, reason } of rejected) {
      if (this.reasons.size < SHOWN || this.reasons.has(wireKey)) this.reasons.set(wireKey, reason);
    }
  }

  /** What stands rejected, the first few. */
  standing(): readonly Rejection[] {
    return [...this.reasons].map(([wireKey, reason]) => ({ wireKey, reason }));
  }

  /** How many there ever were. */
  get total(): number {
    return this.count;
  }
}
