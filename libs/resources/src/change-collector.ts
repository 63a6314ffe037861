/**
 * Collects what changes of a table may affect, for one change or a batch of changes, and looks it up once at the end. A
 * nested change is part of the outer one and returns nothing of its own.
 */
export class ChangeCollector<Marks, Result> {
  private open: Marks | undefined;

  /** `nothing`: the result of a nested change. */
  constructor(
    private readonly make: () => Marks,
    private readonly nothing: Result,
  ) {}

  /** Runs `work`, which marks what it changes. The table must not be read before the outermost call returns. */
  collect(work: (marks: Marks) => void, lookUp: (marks: Marks) => Result): Result {
    if (this.open !== undefined) {
      work(this.open);
      return this.nothing;
    }
    const marks = this.make();
    this.open = marks;
    try {
      work(marks);
      return lookUp(marks);
    } finally {
      this.open = undefined;
    }
  }
}
