import { compareText, identityKey, type Resource, type ResourceKey } from '@causeway/resources';
import { BoundedMap, nextTickAt, SlicedWork } from '@causeway/runtime';
import {
  DoubleBuffer,
  type Change,
  type IndexChange,
  type IndexEvent,
  type IndexReader,
  type PatchChange,
  type WriteResult,
} from '@causeway/store';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { DelayQueue } from './delay-queue';
import { FollowedKeys, RESCAN, type KeySource, type StaleKeyList } from './followed-keys';
import { planBatch, refusedKeys, WorkQueue } from './work-queue';

/** Maximum number of changes in one plan. */
const CHANGES_PER_PLAN = 500;
/** Interval of the polls for changes outside the index and for reloaded tables, ms. */
const POLL_INTERVAL = 1_000;

/** Maximum number of stale keys whose cause (a trace) is remembered. */
const MAX_CAUSES = 1_000;

/** Index keys (`identityKey`) of resources to reconcile. */
export type Keys = readonly ResourceKey[];

/** The empty list of keys. */
export const NO_KEYS: readonly ResourceKey[] = [];

/** Result of reconciling one key: a change, a time (ms since 1970) of the next check, both or neither. */
export interface ReconcileResult {
  readonly change?: Change | undefined;
  readonly dueAt?: number | undefined;
}

/**
 * A control loop that decides for one resource at a time. It declares three things, and `KeyedLoop` implements the rest: the queue, the batches, the
 * slices of the event loop, the retry of refused changes.
 *
 * seed(index), listKeys(change) → work queue → reconcile(key) → batch of changes
 *
 * Level-based: a key only means that a resource may be stale; `reconcile` reads the index and never the event. Idempotent: for an up-to-date
 * resource, `reconcile` returns no change (I10 of docs/design.md §9). Keys may be repeated and come in any order. An exception resets the loop and
 * backs it off.
 */
export interface KeyedReconciler {
  readonly name: string;
  /** Whether written keys are reconciled again, not only refused ones: another writer may undo a change unseen by the index. */
  readonly recheckWritten?: boolean;
  /**
   * Drops all derived state and returns a walk through the index, which yields the keys to reconcile. One step of the walk reads at most one row,
   * because the event loop runs between slices of it; nothing is reconciled before the walk ends. `RESCAN` in place of a key repeats the walk with
   * the reason `rescan`, once for all requests.
   */
  seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys>;
  /** Returns the keys that one change of the index makes stale. Called during the walk too. Does no I/O. */
  listKeys(change: IndexChange, index: IndexReader): StaleKeyList;
  /**
   * Tables derived from the same index, which must follow it before the loop does: the loop queues the keys that they announce, walks again after a
   * reload of one, and reconciles nothing before all are loaded.
   */
  readonly sources?: readonly KeySource[];
  /**
   * Returns the keys that derived state has made stale since the last call, also during `reconcile`; called before and after each batch, after
   * `listKeys` for all changes of the index.
   */
  derivedKeys?(): Keys;
  /** Whether `outsideKeys` is called. */
  readonly looksOutside?: boolean;
  /** Returns the keys that changes outside the index have made stale since the last call; called once a second. `RESCAN`: everything. */
  outsideKeys?(index: IndexReader): StaleKeyList;
  /** As in `ControlLoop`. */
  derivePatch?(created: Resource, index: IndexReader, now: number): PatchChange | undefined;
  /** Decides for one key; `now` is ms since 1970. Also called for a key whose resource is gone. */
  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined;
}

/** The stale keys of a loop: from the index by its seed, and from each later change. */
class StaleKeys {
  readonly queue = new WorkQueue<ResourceKey>(compareText);
  readonly delayed = new DelayQueue();
}

/** Runs a `KeyedReconciler` as a control loop. */
export class KeyedLoop implements ControlLoop {
  readonly name: string;
  private readonly keys: DoubleBuffer<StaleKeys, undefined>;
  private readonly followed: FollowedKeys;
  private readonly seeding = new SlicedWork();
  private seedReason: 'reset' | 'rescan' = 'reset';
  private readonly causes = new BoundedMap<string>(MAX_CAUSES);
  private index: IndexReader | undefined;
  private nextPoll = 0;
  /** Whether the seed must be walked again after the current walk. */
  private mustRescan = false;

  /** Follows the sources of the reconciler until the term ends. */
  constructor(
    private readonly reconciler: KeyedReconciler,
    term: { readonly signal: AbortSignal } = new AbortController(),
  ) {
    this.name = reconciler.name;
    this.followed = new FollowedKeys(reconciler.sources ?? [], term);
    this.keys = new DoubleBuffer({
      empty: () => new StaleKeys(),
      fill: (keys) => this.seed(keys),
      apply: (keys, event) => void this.enqueueChanges(keys, event),
    });
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.seedReason = 'reset';
    this.mustRescan = false;
    this.seeding.begin(this.keys.refill());
  }

  observe(event: IndexEvent): void {
    this.keys.apply(event);
  }

  plan(now: number, elapsed = now): LoopPlan {
    const { index } = this;
    if (!index) return { changes: [] };
    if (!this.seeding.advance()) return { changes: [], more: true };
    for (const key of this.delayed.dueAt(now)) this.stale.add(key);
    this.add(this.followed.take());
    this.pollOutside(index, now, elapsed);
    if (this.mustRescan) {
      this.rescan();
      if (!this.seeding.advance()) return { changes: [], more: true };
    }
    if (!this.followed.hasLoaded) return this.withWake({ changes: [] });
    this.takeDerived();
    const batch = planBatch(this.stale, { changes: CHANGES_PER_PLAN }, (key) => {
      const result = this.reconciler.reconcile(key, index, now);
      this.delayed.set(key, result?.dueAt);
      return this.causes.size === 0 ? result?.change : this.withCause(key, result?.change);
    });
    this.takeDerived();
    return this.withWake({ ...batch, more: this.stale.size > 0 });
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    const keys =
      this.reconciler.recheckWritten === true ? changes.map(({ id }) => identityKey(id)) : refusedKeys(changes, result);
    for (const key of keys) this.stale.add(key);
  }

  derivePatch(created: Resource, now: number): PatchChange | undefined {
    const isReady = !this.keys.isFilling && this.followed.hasLoaded;
    return this.index && isReady ? this.reconciler.derivePatch?.(created, this.index, now) : undefined;
  }

  private get stale(): WorkQueue {
    return this.keys.newest.queue;
  }

  private get delayed(): DelayQueue {
    return this.keys.newest.delayed;
  }

  private enqueueChanges({ queue }: StaleKeys, { changes }: IndexEvent): void {
    const { index } = this;
    if (!index) return;
    for (const change of changes) {
      const cause = newTrace(change);
      for (const key of this.reconciler.listKeys(change, index)) {
        if (key === RESCAN) this.mustRescan = true;
        else {
          queue.add(key);
          if (cause !== undefined) this.causes.set(key, cause);
        }
      }
    }
  }

  private rescan(): void {
    this.mustRescan = false;
    this.seedReason = 'rescan';
    this.seeding.begin(this.keys.rescan());
  }

  /** Adds the trace that made a key stale to its change of labels or spec. */
  private withCause(key: ResourceKey, change: Change | undefined): Change | undefined {
    const traceparent = this.causes.get(key);
    if (traceparent === undefined) return change;
    this.causes.delete(key);
    const goesOn = change?.type === 'put' || (change?.type === 'patch' && change.spec !== undefined);
    return goesOn ? { ...change, traceparent } : change;
  }

  private add(keys: StaleKeyList): void {
    for (const key of keys) {
      if (key === RESCAN) this.mustRescan = true;
      else this.stale.add(key);
    }
  }

  private withWake(plan: LoopPlan): LoopPlan {
    const wakeAt = Math.min(this.delayed.nextDue ?? Infinity, this.isPolling ? this.nextPoll : Infinity);
    return wakeAt === Infinity ? plan : { ...plan, wakeAt };
  }

  /** Whether it polls for changes without events. */
  private get isPolling(): boolean {
    return this.reconciler.looksOutside === true || this.reconciler.sources !== undefined;
  }

  private takeDerived(): void {
    for (const key of this.reconciler.derivedKeys?.() ?? NO_KEYS) this.stale.add(key);
  }

  private pollOutside(index: IndexReader, now: number, elapsed: number): void {
    if (!this.isPolling || now < this.nextPoll) return;
    this.nextPoll = nextTickAt(elapsed, now, POLL_INTERVAL);
    if (this.reconciler.looksOutside === true) this.add(this.reconciler.outsideKeys?.(index) ?? NO_KEYS);
  }

  private seed(keys: StaleKeys): Iterable<undefined> {
    return this.index ? enqueueAll(keys, this.reconciler.seed(this.index, this.seedReason)) : [];
  }
}

function* enqueueAll({ queue }: StaleKeys, walk: Iterable<Keys>): Generator<undefined> {
  for (const keys of walk) {
    for (const key of keys) queue.add(key);
    yield;
  }
}

/** Returns the trace that a change of the index carries. */
function newTrace({ before, after }: IndexChange): string | undefined {
  const traceparent = after?.origin.traceparent;
  return traceparent === before?.origin.traceparent ? undefined : traceparent;
}
