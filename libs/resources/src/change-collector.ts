/**
 * Collects what changes of a table may have changed, of one change or of several that are done as one (a batch), and looks it up once at their
 * end. A change inside another is part of that one, and returns nothing of its own.
 */
export class ChangeCollector<Marks, Result> {
  private open: Marks | undefined;

  /** `nothing`: the result of a change inside another. */
  constructor(
    private readonly make: () => Marks,
    private readonly nothing: Result,
  ) {}

  /** Does `work`, which marks what it changes. Nothing may be read of the table before the outermost call returns. */
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
