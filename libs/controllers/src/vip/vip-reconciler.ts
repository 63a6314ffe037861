import type { OwnedRanges, PoolMetrics } from '@causeway/ipam';
import {
  compareText,
  describeIdentity,
  identityKey,
  parseIdentityKey,
  type FreedAddress,
  type Resource,
} from '@causeway/resources';
import { SlicedWork, SortedRuns } from '@causeway/runtime';
import type { Change, IndexEvent, Note, IndexReader, WriteResult } from '@causeway/store';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import { DelayQueue } from '../reconcile/delay-queue';
import { planBatch, refusedKeys, WorkQueue } from '../reconcile/work-queue';
import { VipAllocator } from './vip-allocator';
import { confirm, deny, grant, vipOf } from './vip-status';

/** Settings of the vip reconciler. */
export interface VipConfig {
  /** The ranges of each kind of service, as `planRanges` returns them. */
  readonly ranges: readonly OwnedRanges[];
  /** How long a freed address stays unused before another service may get it, ms. */
  readonly cooldown: number;
  /** Called once when the ranges of a kind are used up, with the first service that gets none; again after an address was free. */
  readonly onExhausted?: (kind: string, ranges: string, service: string) => void;
}

/** Changes in one plan: the store writes them in batches, and the index applies one while the next is written. */
export const CHANGES_PER_PLAN = 4_000;
/** Keys taken from the queue in one plan, at 2 to 6 µs each: services written by the plan before, and new ones. */
const KEYS_PER_PLAN = 10_000;
/** Rows that one plan reads while the pools are rebuilt, at 2 to 4 µs each. */
export const ROWS_PER_SLICE = 5_000;
const NOTE_AREA = 'vip-cursor';

/**
 * Gives a virtual IP to every service in this zone's store, its own services and copies (docs/design.md §4 vip). The pools are
 * rebuilt from the rows at every reset; only the cursor of each range is kept in a note, written with the addresses.
 */
export class VipReconciler implements ControlLoop {
  readonly name = 'vip';
  readonly noteArea = NOTE_AREA;
  private readonly stale = new WorkQueue((a, b) => this.compareKeys(a, b));
  /** Services that could get no address, due when the next cooldown in their range ends, by the store's clock. */
  private readonly waiting = new DelayQueue();
  private readonly rebuilding = new SlicedWork(ROWS_PER_SLICE);
  private readonly storeClock = new StoreClock();
  /** The cursors that are written or being written. */
  private cursors: ReadonlyMap<string, string> = new Map();
  private seenReleases = 0;
  private metricsBefore: Readonly<Record<string, PoolMetrics>> | undefined;
  /** Kinds whose ranges were reported as used up. */
  private readonly exhausted = new Set<string>();
  private allocator: VipAllocator;
  private index: IndexReader | undefined;

  constructor(private readonly config: VipConfig) {
    this.allocator = this.newAllocator();
  }

  /** How full the ranges of each kind are; while the pools are rebuilt, how full they were before. */
  get metrics(): Readonly<Record<string, PoolMetrics>> {
    return this.metricsBefore ?? this.allocator.metrics;
  }

  restore(notes: readonly Note[]): void {
    this.cursors = new Map(
      notes.flatMap(({ key, value }) => (typeof value?.['ip'] === 'string' ? [[key, value['ip']]] : [])),
    );
  }

  /** Begins to rebuild the pools; of two services with one address the older keeps it. */
  reset(index: IndexReader): void {
    this.index = index;
    this.metricsBefore = this.metrics;
    this.allocator = this.newAllocator();
    this.stale.clear();
    this.waiting.clear();
    this.rebuilding.begin(this.rebuild(index));
  }

  observe(event: IndexEvent): void {
    for (const { id, key, after } of event.changes) {
      if (this.allocator.has(id.kind) && !(after && this.isUpToDate(key, after))) this.stale.add(key);
    }
  }

  plan(now: number, elapsed: number): LoopPlan | undefined {
    if (!this.rebuilding.advance()) return { changes: [], more: true };
    this.wakeWaiting(this.storeClock.lowerBound(elapsed));
    const atMost = { changes: CHANGES_PER_PLAN, keys: KEYS_PER_PLAN };
    const { changes, more } = planBatch(this.stale, atMost, (key) =>
      this.decide(key, now, this.storeClock.lowerBound(elapsed)),
    );
    const plan = { changes, notes: changes.length > 0 ? this.cursorNotes() : [], more: more || this.mayRetry() };
    const retryAt = this.waiting.nextDue ?? Infinity;
    if (!Number.isFinite(retryAt)) return plan;
    return { ...plan, wakeAt: now + Math.max(0, retryAt - this.storeClock.lowerBound(elapsed)) };
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    changes.forEach((change, i) => {
      const answer = result.results[i];
      if (answer?.type !== 'refused' || answer.refusal !== 'vip-taken' || change.type !== 'patch') return;
      if (typeof change.vip === 'string') this.allocator.block(identityKey(change.id), change.vip);
    });
    for (const key of refusedKeys(changes, result)) this.stale.add(key);
  }

  /** Fills the pools, one row a step. Rows that change in between are queued by `observe`. */
  private *rebuild(index: IndexReader): Generator<unknown> {
    for (const { id, freed, deletedAt } of index.tombstones()) {
      if (this.allocator.has(id.kind)) this.release(identityKey(id), freed, deletedAt);
      yield;
    }
    const services = new SortedRuns(compareCreation);
    for (const { owner } of this.config.ranges) for (const service of index.ofKind(owner)) yield services.add(service);
    const unserved: string[] = [];
    for (const { id } of services) {
      const key = identityKey(id);
      const service = index.byIdentityKey(key);
      if (service && !(this.reserve(key, service) && !confirm(service, 0))) unserved.push(key);
      yield;
    }
    this.stale.addSorted(unserved);
    this.allocator.moveCursors(this.cursors);
    this.seenReleases = this.allocator.releases;
    this.metricsBefore = undefined;
  }

  private decide(key: string, now: number, storeNow: number): Change | undefined {
    const service = this.index?.byIdentityKey(key);
    if (!service) {
      this.forget(key);
      return undefined;
    }
    if (this.reserve(key, service)) {
      this.waiting.set(key, undefined);
      return confirm(service, now);
    }
    const { kind } = service.id;
    const allocation = this.allocator.allocate(kind, key, storeNow);
    if (allocation.ok) {
      this.waiting.set(key, undefined);
      this.exhausted.delete(kind);
      return grant(service, allocation.ip, now);
    }
    this.waiting.set(key, allocation.retryAt ?? Infinity);
    this.reportExhausted(service);
    return deny(service, this.allocator.rangesOf(kind), now);
  }

  private reportExhausted({ id }: Resource): void {
    if (this.exhausted.has(id.kind)) return;
    this.exhausted.add(id.kind);
    this.config.onExhausted?.(id.kind, this.allocator.rangesOf(id.kind), describeIdentity(id));
  }

  /** True when nothing is to be decided or reserved, as for most rows after a large write of this loop. */
  private isUpToDate(key: string, service: Resource): boolean {
    const { id, status, freed } = service;
    const held = vipOf(status);
    return (
      held?.type === 'Kuma' &&
      freed.length === 0 &&
      this.allocator.isReserved(id.kind, key, held.ip) &&
      !confirm(service, 0)
    );
  }

  private forget(key: string): void {
    this.waiting.set(key, undefined);
    const tombstone = this.index?.tombstone(parseIdentityKey(key));
    this.release(key, tombstone?.freed ?? [], tombstone?.deletedAt ?? 0);
  }

  private reserve(key: string, { id, status, freed }: Resource): boolean {
    for (const { at } of freed) this.storeClock.observe(at);
    return this.allocator.reserve(id.kind, key, vipOf(status), freed);
  }

  private release(key: string, freed: readonly FreedAddress[], deletedAt: number): void {
    this.storeClock.observe(deletedAt);
    this.allocator.release(key, freed);
  }

  /** Queues services without address again when an address may have become free. */
  private wakeWaiting(storeNow: number): void {
    const keys = this.mayRetry() ? this.waiting.keys() : this.waiting.dueAt(storeNow);
    this.seenReleases = this.allocator.releases;
    for (const key of keys) this.stale.add(key);
  }

  private mayRetry(): boolean {
    return this.waiting.size > 0 && this.allocator.releases !== this.seenReleases;
  }

  private cursorNotes(): readonly Note[] {
    const { cursors } = this.allocator;
    const moved = [...cursors].filter(([kind, ip]) => this.cursors.get(kind) !== ip);
    this.cursors = cursors;
    return moved.map(([key, ip]) => ({ area: NOTE_AREA, key, value: { ip } }));
  }

  private newAllocator(): VipAllocator {
    return new VipAllocator(this.config.ranges, this.config.cooldown);
  }

  private compareKeys(a: string, b: string): number {
    const [first, second] = [this.index?.byIdentityKey(a), this.index?.byIdentityKey(b)];
    // Deleted services come first: they free addresses.
    if (!first || !second) return first ? 1 : second ? -1 : compareText(a, b);
    return compareCreation(first, second);
  }
}

/** The older first; an unknown creation order ranks last (docs/design.md §4). */
function compareCreation(a: Resource, b: Resource): number {
  const [first, second] = [a.creationOrder || Infinity, b.creationOrder || Infinity];
  return first === second ? compareText(identityKey(a.id), identityKey(b.id)) : first - second;
}

/**
 * A lower bound of the store's clock, derived from the times that the store wrote and from a monotonic clock. Cooldowns
 * are measured by it, so that no jump of this machine's clock ends one early (docs/design.md §4 vip).
 */
class StoreClock {
  private seen = -Infinity;
  private seenAt: number | undefined;

  /** Notes a time that the store wrote. */
  observe(time: number): void {
    if (time <= this.seen) return;
    this.seen = time;
    this.seenAt = undefined;
  }

  /** ms since 1970, never later than the store's clock; `elapsed` comes from `Clock.elapsed`. */
  lowerBound(elapsed: number): number {
    this.seenAt ??= elapsed;
    return this.seen + (elapsed - this.seenAt);
  }
}
