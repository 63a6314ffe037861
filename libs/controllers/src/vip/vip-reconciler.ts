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
import { vipOf } from './held-address';
import { StoreClock } from './store-clock';
import { VipAllocator } from './vip-allocator';
import { confirm, deny, grant } from './vip-status';

/** What the vip loop needs to know. */
export interface VipConfig {
  /** The ranges of each kind of service, checked and carved by `planRanges`. */
  readonly ranges: readonly OwnedRanges[];
  /** How long a freed address stays unused before another service may get it, ms. */
  readonly cooldown: number;
  /** Told once when a kind's ranges are used up, with the first service that is left without; and again after they were not. */
  readonly onExhausted?: (kind: string, ranges: string, service: string) => void;
}

/** Changes in one plan: the store writes them in pieces, and the index takes one in while the next is written. */
export const CHANGES_PER_PLAN = 4_000;
/** Services looked at in one plan, at 2 to 6 µs each: those of the plan before, now with address, and the next. */
const KEYS_PER_PLAN = 10_000;
/** Rows booked in one plan, at 2 to 4 µs each. */
export const ROWS_PER_SLICE = 5_000;
const NOTE_AREA = 'vip-cursor';

/**
 * Gives an address to every service this zone holds, its own and copies (design.md §4 vip). The cursor of each range
 * is a note written with the addresses; everything else is in the rows.
 */
export class VipReconciler implements ControlLoop {
  readonly name = 'vip';
  readonly noteArea = NOTE_AREA;
  private readonly stale = new WorkQueue((a, b) => this.byCreation(a, b));
  /** Services that could get none → when the next rest in their range ends, by the store's clock. */
  private readonly waiting = new DelayQueue();
  private readonly rebuilding = new SlicedWork(ROWS_PER_SLICE);
  private readonly storeClock = new StoreClock();
  /** What is written, or on its way. */
  private cursors: ReadonlyMap<string, string> = new Map();
  private seenReleases = 0;
  private metricsBefore: Readonly<Record<string, PoolMetrics>> | undefined;
  /** Kinds whose ranges are told to be used up. */
  private readonly exhausted = new Set<string>();
  private allocator: VipAllocator;
  private index: IndexReader | undefined;

  constructor(private readonly config: VipConfig) {
    this.allocator = this.newAllocator();
  }

  /** How full each kind's ranges are; while everything is booked anew, how full they were before. */
  get metrics(): Readonly<Record<string, PoolMetrics>> {
    return this.metricsBefore ?? this.allocator.metrics;
  }

  restore(notes: readonly Note[]): void {
    this.cursors = new Map(
      notes.flatMap(({ key, value }) => (typeof value?.['ip'] === 'string' ? [[key, value['ip']]] : [])),
    );
  }

  /** Books everything there is; of two services with one address the one made first keeps it. */
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

  /** One row a step. What changes in between is stale, and is looked at again afterwards. */
  private *rebuild(index: IndexReader): Generator<unknown> {
    for (const { id, freed, deletedAt } of index.tombstones()) {
      if (this.allocator.has(id.kind)) this.release(identityKey(id), freed, deletedAt);
      yield;
    }
    const services = new SortedRuns(byCreation);
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

  /** Whether there is nothing to decide and nothing to book: of a large write of its own, most is. */
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
    const stone = this.index?.tombstone(parseIdentityKey(key));
    this.release(key, stone?.freed ?? [], stone?.deletedAt ?? 0);
  }

  private reserve(key: string, { id, status, freed }: Resource): boolean {
    for (const { at } of freed) this.storeClock.observe(at);
    return this.allocator.reserve(id.kind, key, vipOf(status), freed);
  }

  private release(key: string, freed: readonly FreedAddress[], deletedAt: number): void {
    this.storeClock.observe(deletedAt);
    this.allocator.release(key, freed);
  }

  /** Services without address are tried again when one may have become free. */
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

  private byCreation(a: string, b: string): number {
    const [first, second] = [this.index?.byIdentityKey(a), this.index?.byIdentityKey(b)];
    // What is gone comes first: it makes room.
    if (!first || !second) return first ? 1 : second ? -1 : compareText(a, b);
    return byCreation(first, second);
  }
}

/** An unknown creation order ranks last (design.md §4). */
function byCreation(a: Resource, b: Resource): number {
  const [first, second] = [a.creationOrder || Infinity, b.creationOrder || Infinity];
  return first === second ? compareText(identityKey(a.id), identityKey(b.id)) : first - second;
}
