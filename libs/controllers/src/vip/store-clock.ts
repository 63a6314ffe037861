/**
 * What the store's clock shows at least, told from the times it has put on things and from a clock that never jumps.
 * Rests are measured by it, so that no jump of this machine's time ends one early (design.md §4 vip).
 */
export class StoreClock {
  private seen = -Infinity;
  private seenAt: number | undefined;

  /** A time that the store has put on something. */
  observe(time: number): void {
    if (time <= this.seen) return;
    this.seen = time;
    this.seenAt = undefined;
  }

  /** ms since 1970, never later than the store's clock; `elapsed` from `Clock.elapsed`. */
  lowerBound(elapsed: number): number {
    this.seenAt ??= elapsed;
    return this.seen + (elapsed - this.seenAt);
  }
}
