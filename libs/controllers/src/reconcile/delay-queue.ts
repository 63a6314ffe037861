/** Keys and when each falls due (ms since 1970). */
export class DelayQueue {
  private readonly times = new Map<string, number>();
  private earliest: number | undefined;

  /** The next time anything falls due. */
  get nextDue(): number | undefined {
    if (this.earliest === undefined)
      for (const at of this.times.values()) this.earliest = Math.min(this.earliest ?? at, at);
    return this.earliest;
  }

  get size(): number {
    return this.times.size;
  }

  keys(): readonly string[] {
    return [...this.times.keys()];
  }

  /** `undefined` takes the key away. */
  set(key: string, at: number | undefined): void {
    const before = this.times.get(key);
    if (before === at) return;
    if (at === undefined) this.times.delete(key);
    else this.times.set(key, at);
    if (before === this.earliest) this.earliest = undefined;
    else if (at !== undefined && this.earliest !== undefined) this.earliest = Math.min(this.earliest, at);
  }

  clear(): void {
    this.times.clear();
    this.earliest = undefined;
  }

  /** Keys that are due at `now`; they stay until set anew. */
  dueAt(now: number): readonly string[] {
    if ((this.nextDue ?? Infinity) > now) return [];
    return [...this.times].flatMap(([key, at]) => (at <= now ? [key] : []));
  }
}
