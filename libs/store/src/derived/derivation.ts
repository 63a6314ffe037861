import type { IndexEvent } from '../resource-index';

/**
 * Derivation of a table from the index. The kit (`DerivedTable`, or `DoubleBuffer` in a control loop) owns slices,
 * double buffering, reloads and the announcement of changes. A table depends only on the current index, never on the
 * order of events: after any sequence of them it equals one that was filled from nothing.
 *
 *   empty() → fill(table), a slice a turn → served;   event → apply(table) → Change → listeners
 */
export interface Derivation<Table, Change, SourceChange = never> {
  /** Returns a table into which nothing was read. */
  empty(): Table;
  /**
   * Fills a table from the index, at most one resource a step. Events between two steps go to `apply`, and a resource that is read after
   * its event is read as it is then: to read it twice must change nothing.
   */
  fill(table: Table): Iterable<unknown>;
  /**
   * Applies an event of the index that is no reload, once the index holds it. `changes`: those of the source table by the same
   * event. Costs what the event names. Returns what may have changed in the table; undefined where nothing has.
   */
  apply(table: Table, event: IndexEvent, changes: readonly SourceChange[]): Change | undefined;
  /** Returns how many resources `apply` would compute; a costly event is applied by filling the table anew. 0 unless given. */
  estimateCost?(table: Table, event: IndexEvent, changes: readonly SourceChange[]): number;
}

/**
 * Two versions of one table: the served one, which was whole when it was last filled and follows the index since, and the one that is being
 * filled. The steps of a fill are taken by whoever began it, a slice a turn of the event loop.
 */
export class DoubleBuffer<Table, Change, SourceChange = never> {
  private served: Table;
  private next: Table | undefined;
  /** Number of fills that have begun: a fill ends early once another one has. */
  private fills = 0;

  constructor(private readonly derivation: Derivation<Table, Change, SourceChange>) {
    this.served = derivation.empty();
  }

  /** The served table: empty before the first fill, and another object after each. */
  get table(): Table {
    return this.served;
  }

  /** The table that takes changes: the one that is being filled, else the served one. */
  get newest(): Table {
    return this.next ?? this.served;
  }

  get isFilling(): boolean {
    return this.next !== undefined;
  }

  /**
   * Returns the steps that fill an empty table; a fill that is under way is given up. After the last step that table is the served one.
   * The steps return true then, false where they were given up.
   */
  refill(): Generator<undefined, boolean> {
    this.next = this.derivation.empty();
    return this.begin(this.next);
  }

  /** As `refill`, but reads the index once more into the table that takes changes, which is not emptied. */
  rescan(): Generator<undefined, boolean> {
    return this.begin(this.newest);
  }

  /** Gives up the fill that is under way. */
  giveUp(): void {
    this.next = undefined;
    this.fills += 1;
  }

  estimateCost(event: IndexEvent, changes: readonly SourceChange[] = []): number {
    return this.derivation.estimateCost?.(this.newest, event, changes) ?? 0;
  }

  /** Applies an event to the table that takes changes. */
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
