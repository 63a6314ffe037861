import type { Change, IndexEvent, MetadataEntry, IndexReader, WriteResult } from '@causeway/store';

/** Changes that a loop wants to write now; without changes and metadata entries it only names when to ask again. */
export interface LoopPlan {
  /** A bounded batch; further changes come with the next plan. */
  readonly changes: readonly Change[];
  /** Written in the same transaction as the changes. */
  readonly notes?: readonly MetadataEntry[];
  /** More is to be looked at: `plan` is called again at once. A plan must be short, for the lease is renewed between plans. */
  readonly more?: boolean;
  /** The time at which the loop has work without an event (ms since 1970); valid until the next plan. */
  readonly wakeAt?: number;
}

/**
 * A control loop as the runner sees it: a synchronous planner over the index. Level-based: an event says only which
 * keys may be stale, the plan looks at the index. Idempotent: with nothing stale, `plan` is cheap and returns nothing
 * to write (I10 of docs/design.md §9). A loop that throws is reset and backed off; the others go on.
 */
export interface ControlLoop {
  readonly name: string;
  /** Area of the notes that `restore` is given before each `reset`; none when absent. */
  readonly noteArea?: string;
  restore?(notes: readonly MetadataEntry[]): void;
  /**
   * Forgets everything derived from the index: a term began, the index was reloaded, or the outcome of a write is
   * unknown. The plans that follow derive it again, one slice each, and decide nothing before that is done.
   */
  reset(index: IndexReader): void;
  /** Queues the keys that may be stale. Called after the index has applied the event; does no I/O. */
  observe(event: IndexEvent): void;
  /** Decides for stale keys, a bounded batch a call. `now` is ms since 1970, `elapsed` a monotonic clock in ms. */
  plan(now: number, elapsed: number): LoopPlan | undefined;
  /** Called with the results of the plan's changes, when the index holds what was written. Queues refused keys again. */
  onWritten(changes: readonly Change[], result: WriteResult): void;
}
