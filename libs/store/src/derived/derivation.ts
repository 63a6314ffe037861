import type { IndexEvent } from '../resource-index';

/**
 * Derivation of a table from the index. The kit (`DerivedTable`, or `DoubleBuffer` in a control loop) owns slices,
 * double buffering, reloads and the announcement of changes. A table depends only on the current index, never on the
 * order of events: after any sequence of them it equals one that was filled from nothing.
 *
 *   empty() → fill(table), a slice a turn → served;   event → apply(table) → Change → listeners
 */
export interface Derivation<Table, Change, SourceChange = never> {
  /** Returns an empty table. */
  empty(): Table;
  /**
   * Fills a table from the index, at most one resource per step. Events between two steps go to `apply`, and a resource
   * that is read after its event is read in its newest state: reading it twice must change nothing.
   */
  fill(table: Table): Iterable<unknown>;
  /**
   * Applies an event of the index other than a reload, after the index applied it. `changes`: those of the source table by the
   * same event. Costs must be proportional to the event. Returns what may have changed in the table; undefined if nothing did.
   */
  apply(table: Table, event: IndexEvent, changes: readonly SourceChange[]): Change | undefined;
  /** Returns how many resources `apply` would compute; a costly event is applied by filling the table again. 0 unless given. */
  estimateCost?(table: Table, event: IndexEvent, changes: readonly SourceChange[]): number;
}

/**
 * Two versions of one table: the served one, complete when it was last filled and updated by events since, and the one
 * that is being filled. The caller that started a fill takes its steps, one slice per turn of the event loop.
 */
export class DoubleBuffer<Table, Change, SourceChange = never> {
  private served: Table;
  private next: Table | undefined;
  /** Number of fills started: a fill ends early once another one has started. */
  private fills = 0;

  constructor(private readonly derivation: Derivation<Table, Change, SourceChange>) {
    this.served = derivation.empty();
  }

  /** The served table: empty before the first fill, and a new object after each. */
  get table(): Table {
    return this.served;
  }

  /** The table that gets changes: the one being filled, else the served one. */
  get newest(): Table {
    return this.next ?? this.served;
  }

  get isFilling(): boolean {
    return this.next !== undefined;
  }

  /**
   * Returns the steps that fill an empty table; cancels a running fill. After the last step that table is served. The
   * steps return true then, and false if they were cancelled.
   */
  refill(): Generator<undefined, boolean> {
    this.next = this.derivation.empty();
    return this.begin(this.next);
  }

  /** Like `refill`, but reads the index again into the table that gets changes, without emptying it. */
  rescan(): Generator<undefined, boolean> {
    return this.begin(this.newest);
  }

  /** Cancels a running fill. */
  cancel(): void {
    this.next = undefined;
    this.fills += 1;
  }

  estimateCost(event: IndexEvent, changes: readonly SourceChange[] = []): number {
    return this.derivation.estimateCost?.(this.newest, event, changes) ?? 0;
  }

  /** Applies an event to the table that gets changes. */
  apply(event: IndexEvent, changes: readonly SourceChange[] = []): Change | undefined {
    return this.derivation.apply(this.newest, event, changes);
  }

  private begin(table: Table): Generator<undefined, boolean> {
    this.fills += 1;
    return this.take(this.derivation.fill(table), table, this.fills);
  }

  private *take(steps: Iterable<unknown>, table: Table, fill: number): Generator<undefined, boolean> {
    for (const _ of steps) {
      yield;
      if (fill !== this.fills) return false;
    }
    if (fill !== this.fills) return false;
    this.served = table;
    this.next = undefined;
    return true;
  }
}
