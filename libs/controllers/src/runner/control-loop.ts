import type { Change, IndexEvent, Note, IndexReader, WriteResult } from '@causeway/store';

/** What a loop wants now. Without changes and notes it only says when to ask again. */
export interface LoopPlan {
  /** At most a few hundred; the rest comes with the next plan. */
  readonly changes: readonly Change[];
  /** Written in the same transaction as the changes. */
  readonly notes?: readonly Note[];
  /** There is more to look at: asked again at once. A plan must be short, for the lease is renewed between plans. */
  readonly more?: boolean;
  /** When time alone makes work (ms since 1970); asked for at every plan, never remembered. */
  readonly wakeAt?: number;
}

/**
 * One controller as the runner sees it: a synchronous planner over the index. Level-based: an event says only which
 * keys may be stale, the plan looks at the index. Idempotent: with nothing stale `plan` is cheap and returns nothing
 * to write (I10 of design.md §9). A loop that throws is reset and set aside for a while; the others go on.
 */
export interface ControlLoop {
  readonly name: string;
  /** Area of the notes that `restore` is given before each `reset`; none when absent. */
  readonly noteArea?: string;
  restore?(notes: readonly Note[]): void;
  /**
   * Forgets everything derived: a term began, the index was reloaded, or a write's end is unknown. It is derived anew
   * by the plans that follow, a slice each, and nothing is decided before that is done.
   */
  reset(index: IndexReader): void;
  /** Marks what may be stale; no I/O, no rules. Called after the index has taken the event in. */
  observe(event: IndexEvent): void;
  /** Decides for what is stale, a bounded batch a call. `elapsed` is a clock in ms that never jumps. */
  plan(now: number, elapsed: number): LoopPlan | undefined;
  /** The plan's changes were answered, and the index holds what was written; what was refused is stale again. */
  onWritten(changes: readonly Change[], result: WriteResult): void;
}
