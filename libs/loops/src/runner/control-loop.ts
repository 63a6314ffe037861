import type { Resource, ResourceKey } from '@causeway/resources';
import type { Change, IndexEvent, MetadataEntry, IndexReader, PatchChange, WriteResult } from '@causeway/store';

/** Changes that a loop wants to write now; without changes and metadata entries it only sets the time of the next plan. */
export interface LoopPlan {
  /** A bounded batch; further changes are in the next plan. */
  readonly changes: readonly Change[];
  /** Written in the same transaction as the changes. */
  readonly metadata?: readonly MetadataEntry[];
  /** Whether `plan` must be called again at once. A plan must be short, because the lease is renewed between plans. */
  readonly more?: boolean;
  /** The time at which the loop has work without an event (ms since 1970); valid until the next plan. */
  readonly wakeAt?: number;
}

/**
 * The contract between a control loop and the runner: a synchronous planner over the index. Level-based: an event only tells which keys may be stale,
 * the plan reads the index. Idempotent: with nothing stale, `plan` is cheap and returns nothing to write (I10 of docs/design.md §9). A loop that
 * throws is reset and backed off; the others continue.
 */
export interface ControlLoop {
  readonly name: string;
  /** Area of the metadata entries that `restore` gets before each `reset`; none if absent. */
  readonly metadataArea?: string;
  restore?(entries: readonly MetadataEntry[]): void;
  /**
   * Drops everything derived from the index: a term began, the index was reloaded, or the outcome of a write is unknown. The next plans derive it
   * again, one slice each, and decide nothing before that is done.
   */
  reset(index: IndexReader): void;
  /** Queues the keys that may be stale. Called after the index has applied the event; does no I/O. */
  observe(event: IndexEvent): void;
  /** Decides for stale keys, a bounded batch in each call. `now` is ms since 1970, `elapsed` a monotonic clock in ms. */
  plan(now: number, elapsed: number): LoopPlan | undefined;
  /** Called with the results of the plan's changes, once the index contains them. Queues refused keys again. */
  onWritten(changes: readonly Change[], result: WriteResult): void;
  /**
   * Returns the patch that this loop would write to a resource right after its creation, so that the write that creates it contains it; undefined if
   * there is none. Derives it from the index, and keeps nothing.
   */
  derivePatch?(created: Resource, now: number): PatchChange | undefined;
  /** Like `derivePatch`, but keeps what it gives (an address, names) from others. */
  readonly reserving?: ReservingLoop;
}

/**
 * The part of a loop that gives a resource what others cannot have, in the write that creates it. Called between turns of the loops: what it keeps is
 * in the index, or released, before any loop plans again.
 */
export interface ReservingLoop {
  /** Reports whether it may keep something for resources of a kind. */
  handles(kind: string): boolean;
  /** Returns undefined where other resources would have to change too, or where the loop does not know enough yet: its plan decides later. */
  reserve(created: Resource, now: number, elapsed: number): PatchChange | undefined;
  /** Returns the metadata to be written with what was reserved. */
  listMetadata?(): readonly MetadataEntry[];
  /** Gives back what `reserve` kept for a resource that the write did not create. */
  release(key: ResourceKey): void;
}
