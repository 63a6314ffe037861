/**
 * The names that all streams of a server ask for together: what they cost is memory. Each stream has some for itself, so that the
 * greedy ones cannot take those of the others; what exceeds them comes from a bounded store.
 */
export class NameBudget {
  private all = 0;
  private shared = 0;

  /** `most`: names of all streams beyond the first `own` of each. */
  constructor(
    private readonly most: number,
    private readonly own: number,
  ) {}

  /** Names that are asked for now, on all streams. */
  get names(): number {
    return this.all;
  }

  /** A stream with `before` names has `after` from now on. False: they are not there, and nothing has changed; fewer always are. */
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
