/**
 * The budget of subscribed names of all streams of a server: names cost memory. Each stream has a quota of its own, so that greedy streams cannot
 * take the names of others; names beyond the quota come from a shared, bounded pool.
 */
export class NameBudget {
  private all = 0;
  private shared = 0;

  /** `most`: the size of the shared pool, beyond the first `own` names of each stream. */
  constructor(
    private readonly most: number,
    private readonly own: number,
  ) {}

  /** The number of subscribed names on all streams. */
  get names(): number {
    return this.all;
  }

  /**
   * Changes the number of names of a stream from `before` to `after`. Returns false, without a change, if the pool is exhausted; a reduction always
   * succeeds.
   */
  resize(before: number, after: number): boolean {
    const more = this.beyondOwn(after) - this.beyondOwn(before);
    if (more > 0 && this.shared + more > this.most) return false;
    this.shared += more;
    this.all += after - before;
    return true;
  }

  private beyondOwn(names: number): number {
    return Math.max(0, names - this.own);
  }
}
