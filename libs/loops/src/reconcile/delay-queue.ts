import type { ResourceKey } from '@causeway/resources';

/** Keys, each with the time at which it is due (ms since 1970, or of any other clock that the caller uses throughout). */
export class DelayQueue<K extends string = ResourceKey> {
  private readonly times = new Map<K, number>();
  private earliest: number | undefined;

  /** The earliest time; undefined when the queue is empty. */
  get nextDue(): number | undefined {
    if (this.earliest === undefined)
      for (const at of this.times.values()) this.earliest = Math.min(this.earliest ?? at, at);
    return this.earliest;
  }

  get size(): number {
    return this.times.size;
  }

  keys(): readonly K[] {
    return [...this.times.keys()];
  }

  /** Replaces the time of a key; `undefined` removes the key. */
  set(key: K, at: number | undefined): void {
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

  /** Returns the keys that are due at `now`. They stay until `set` is called for them. */
  dueAt(now: number): readonly K[] {
    if ((this.nextDue ?? Infinity) > now) return [];
    return [...this.times].flatMap(([key, at]) => (at <= now ? [key] : []));
  }
}
