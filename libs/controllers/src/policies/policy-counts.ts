/** Counts policies by reason, one reason each. */
export class PolicyCounts {
  private readonly reasons = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  /** The number of policies by reason; reasons without policies are absent or 0. */
  get byReason(): ReadonlyMap<string, number> {
    return this.counts;
  }

  /** Sets the reason of a policy; undefined if it is not counted. Idempotent. */
  set(key: string, reason: string | undefined): void {
    const before = this.reasons.get(key);
    if (before === reason) return;
    if (before !== undefined) this.add(before, -1);
    if (reason === undefined) this.reasons.delete(key);
    else {
      this.reasons.set(key, reason);
      this.add(reason, 1);
    }
  }

  clear(): void {
    this.reasons.clear();
    this.counts.clear();
  }

  private add(reason: string, by: 1 | -1): void {
    const count = (this.counts.get(reason) ?? 0) + by;
    if (count === 0) this.counts.delete(reason);
    else this.counts.set(reason, count);
  }
}
