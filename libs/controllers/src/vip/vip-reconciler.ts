import {
  compareText,
  describeIdentity,
  identityKey,
  parseIdentityKey,
  type Identity,
  type Resource,
  type Tombstone,
  type ResourceKey,
} from '@causeway/resources';
import { SlicedWork, SortedRuns } from '@causeway/runtime';
import {
  DoubleBuffer,
  type Change,
  type IndexEvent,
  type IndexReader,
  type MetadataEntry,
  type PatchChange,
  type WriteResult,
} from '@causeway/store';
import {
  DelayQueue,
  planBatch,
  refusedKeys,
  WorkQueue,
  type ControlLoop,
  type LoopPlan,
  type ReservingLoop,
} from '@causeway/loops';
import type { WaitedFor } from '../proxies/known-proxies';
import { VipAllocator, type PoolReport, type VipOwner } from './vip-allocator';
import { VipSettings, type RaisedCooldown, type VipSettingsConfig } from './vip-settings';
import { confirm, deny, grant, readVip } from './vip-status';

/** Settings of the vip reconciler. */
export interface VipConfig extends VipSettingsConfig {
  /**
   * Returns the revision of the log up to which every proxy of the zone applies all changes: an address that was freed later is given to no other
   * service (I11). Without it there are no proxies to wait for.
   */
  readonly ackWatermark?: () => number;
  /** Returns the proxies that keep `ackWatermark` below a revision. */
  readonly waitedFor?: (revision: number) => WaitedFor;
  /** Called once when ranges of a kind are exhausted, with the first service that gets no address; again after an address was free. */
  readonly onExhausted?: (kind: string, ranges: string, service: string) => void;
  /** Called once for each `vipCooldown` of a mesh that is raised. */
  readonly onRaisedCooldown?: (raised: RaisedCooldown) => void;
}

/** Maximum number of changes in one plan: the store writes them in batches, and the index applies one while the next is written. */
export const CHANGES_PER_PLAN = 4_000;
/** Maximum number of keys taken from the queue in one plan, at 2 to 6 µs each: services written by the previous plan, and new ones. */
const KEYS_PER_PLAN = 10_000;
/** Maximum number of rows that one plan reads while the pools are rebuilt, at 2 to 4 µs each. */
export const ROWS_PER_SLICE = 5_000;
/** The retry interval of a service that waits until proxies have applied that an address was freed, ms. */
const UNACKED_RETRY = 2_000;
/** The interval at which the condition of waiting services names again which proxies they wait for, ms. */
const CONDITION_INTERVAL = 30_000;
const METADATA_AREA = 'vip-cursor';

/** The pools of a zone, derived from its rows, and the services that may need an address. */
class VipWork {
  readonly stale: WorkQueue;
  /** Services that could get no address, due when the next cooldown in their range ends, by the store's clock. */
  readonly waiting = new DelayQueue();
  /** Services of foreign Meshes, which get no address while their Mesh is foreign. */
  readonly unserved = new Set<ResourceKey>();

  constructor(
    readonly allocator: VipAllocator,
    compare: (a: ResourceKey, b: ResourceKey) => number,
  ) {
    this.stale = new WorkQueue(compare);
  }
}

/**
 * Gives a virtual IP to every service in this zone's store, its own services and copies (docs/design.md §4 vip). The pools are rebuilt from the rows
 * at every reset, and when the ranges or cooldowns of meshes change; only the cursor of each range is kept in a metadata entry, written with the
 * addresses.
 */
export class VipReconciler implements ControlLoop {
  readonly name = 'vip';
  readonly metadataArea = METADATA_AREA;
  /** Gives a new service its address in the write that creates it; where that is not simple, a plan decides. */
  readonly reserving: ReservingLoop = {
    handles: (kind) => this.work.allocator.kinds.has(kind),
    reserve: (created, now, elapsed) => this.reserveAddress(created, now, elapsed),
    listMetadata: () => this.cursorEntries(),
    release: (key) => void this.work.stale.add(key),
  };
  private readonly buffer: DoubleBuffer<VipWork, undefined>;
  private readonly rebuilding = new SlicedWork(ROWS_PER_SLICE);
  private readonly storeClock = new StoreClock();
  /** The cursors that are written or being written. */
  private cursors: ReadonlyMap<string, string> = new Map();
  private seenReleases = 0;
  /** Ranges that were reported as exhausted. */
  private readonly exhausted = new Set<string>();
  /** Cooldowns that were reported as raised. */
  private readonly raised = new Set<string>();
  private waited: { readonly until: number; readonly reason: string } | undefined;
  private settings: VipSettings;
  private settingsVersion: string | undefined;
  private index: IndexReader | undefined;

  constructor(private readonly config: VipConfig) {
    this.settings = VipSettings.of(config);
    this.buffer = new DoubleBuffer({
      empty: () =>
        new VipWork(new VipAllocator(this.settings.pools, config.cooldown), (a, b) => this.compareKeys(a, b)),
      fill: (work) => this.rebuild(work),
      apply: (_, event) => void this.enqueueChanges(event),
    });
  }

  /** Returns the usage of the ranges, `now` in ms of the store's clock; while the pools are rebuilt, the usage before. */
  reportsAt(now: number): readonly PoolReport[] {
    return this.buffer.table.allocator.reportsAt(now);
  }

  restore(entries: readonly MetadataEntry[]): void {
    this.cursors = new Map(
      entries.flatMap(({ key, value }) => (typeof value?.['ip'] === 'string' ? [[key, value['ip']]] : [])),
    );
  }

  /** Starts to rebuild the pools; of two services with one address the older keeps it. */
  reset(index: IndexReader): void {
    this.index = index;
    this.readRules();
    this.beginRebuild();
  }

  observe(event: IndexEvent): void {
    this.buffer.apply(event);
  }

  plan(now: number, elapsed: number): LoopPlan | undefined {
    this.followMeshes();
    if (!this.rebuilding.advance()) return { changes: [], more: true };
    this.wakeWaiting(this.storeClock.lowerBound(elapsed));
    const atMost = { changes: CHANGES_PER_PLAN, keys: KEYS_PER_PLAN };
    const { changes, more } = planBatch(this.work.stale, atMost, (key) =>
      this.decide(key, now, this.storeClock.lowerBound(elapsed)),
    );
    const plan = { changes, metadata: changes.length > 0 ? this.cursorEntries() : [], more: more || this.mayRetry() };
    const retryAt = this.work.waiting.nextDue ?? Infinity;
    if (!Number.isFinite(retryAt)) return plan;
    return { ...plan, wakeAt: now + Math.max(0, retryAt - this.storeClock.lowerBound(elapsed)) };
  }

  onWritten(changes: readonly Change[], result: WriteResult): void {
    changes.forEach((change, i) => {
      const answer = result.results[i];
      if (answer?.type !== 'refused' || answer.refusal !== 'vip-taken' || change.type !== 'patch') return;
      if (typeof change.vip === 'string')
        this.work.allocator.block(this.toVipOwner(identityKey(change.id), change.id), change.vip);
    });
    for (const key of refusedKeys(changes, result)) this.work.stale.add(key);
  }

  private readRules(): void {
    this.settingsVersion = this.config.meshes?.version;
    this.settings = VipSettings.of(this.config);
    for (const raised of this.settings.raised) {
      const text = JSON.stringify(raised);
      if (!this.raised.has(text)) this.config.onRaisedCooldown?.(raised);
      this.raised.add(text);
    }
  }

  /** Applies changed parameters: only other ranges or cooldowns rebuild the pools. */
  private followMeshes(): void {
    const { index, config, settings: before } = this;
    if (!index || config.meshes?.version === this.settingsVersion) return;
    this.readRules();
    if (!this.settings.hasSamePools(before)) return this.beginRebuild();
    for (const key of this.work.allocator.strayKeys) this.work.stale.add(key);
    for (const key of this.work.unserved) this.work.stale.add(key);
  }

  private get work(): VipWork {
    return this.buffer.newest;
  }

  private enqueueChanges({ changes }: IndexEvent): void {
    const { allocator, stale } = this.work;
    for (const { id, key, after } of changes) {
      if (allocator.kinds.has(id.kind) && !(after && this.isUpToDate(key, after))) stale.add(key);
    }
  }

  private beginRebuild(): void {
    this.rebuilding.begin(this.buffer.refill());
  }

  /** Fills the pools, one row a step. Rows that change in between are queued. */
  private *rebuild({ allocator, stale }: VipWork): Generator<unknown> {
    const { index } = this;
    if (!index) return;
    for (const tombstone of index.tombstones()) {
      const { id } = tombstone;
      if (allocator.kinds.has(id.kind)) this.release(this.toVipOwner(identityKey(id), id), tombstone);
      yield;
    }
    const services = new SortedRuns(compareCreation);
    for (const kind of allocator.kinds) for (const service of index.ofKind(kind)) yield services.add(service);
    const open: ResourceKey[] = [];
    for (const { id } of services) {
      const key = identityKey(id);
      const service = index.byIdentityKey(key);
      if (service && !(this.reserve(this.toVipOwner(key, id), service) && !confirm(service, 0))) open.push(key);
      yield;
    }
    stale.addSorted(open);
    allocator.moveCursors(this.cursors);
    this.seenReleases = allocator.releases;
  }

  private decide(key: ResourceKey, now: number, storeNow: number): Change | undefined {
    const service = this.index?.byIdentityKey(key);
    if (!service) {
      this.forget(key);
      return undefined;
    }
    const owner = this.toVipOwner(key, service.id);
    this.work.waiting.set(key, undefined);
    this.work.unserved.delete(key);
    if (this.reserve(owner, service)) return confirm(service, now);
    if (!owner.settings.isServed) this.work.unserved.add(key);
    if (!owner.settings.isServed || !this.work.allocator.has(service.id)) return undefined;
    const ranges = this.work.allocator.getRanges(service.id);
    const allocation = this.work.allocator.allocate(owner, {
      now: storeNow,
      floor: this.config.ackWatermark?.() ?? Infinity,
    });
    if (allocation.ok) {
      this.exhausted.delete(ranges);
      return grant(service, allocation.ip, now);
    }
    const isUnacked = allocation.heldAt !== undefined;
    this.work.waiting.set(key, isUnacked ? storeNow + UNACKED_RETRY : (allocation.retryAt ?? Infinity));
    this.reportExhausted(service, ranges);
    return deny(service, ranges, now, this.waitReason(allocation.heldAt, now));
  }

  private reserveAddress(created: Resource, now: number, elapsed: number): PatchChange | undefined {
    if (this.buffer.isFilling || this.config.meshes?.version !== this.settingsVersion) return undefined;
    const owner = this.toVipOwner(identityKey(created.id), created.id);
    const { allocator, waiting } = this.work;
    // Services that wait for an address are older: the next plan decides who gets one that is free.
    if (!owner.settings.isServed || !allocator.has(created.id) || waiting.size > 0) return undefined;
    const moment = { now: this.storeClock.lowerBound(elapsed), floor: this.config.ackWatermark?.() ?? Infinity };
    const allocation = allocator.allocate(owner, moment);
    return allocation.ok ? grant(created, allocation.ip, now) : undefined;
  }

  /** Returns one text for all services, which seldom changes: each change is a write of every waiting service. */
  private waitReason(heldAt: number | undefined, now: number): string {
    const { waitedFor } = this.config;
    if (heldAt === undefined || !waitedFor) return '';
    if (!this.waited || now >= this.waited.until) {
      const { count, names } = waitedFor(heldAt);
      const more = count > names.length ? ` and ${count - names.length} more` : '';
      const reason = `; freed addresses may still be used by ${names.join(', ')}${more}`;
      this.waited = { until: now + CONDITION_INTERVAL, reason: count === 0 ? '' : reason };
    }
    return this.waited.reason;
  }

  private reportExhausted({ id }: Resource, ranges: string): void {
    if (this.exhausted.has(ranges)) return;
    this.exhausted.add(ranges);
    this.config.onExhausted?.(id.kind, ranges, describeIdentity(id));
  }

  /** Reports whether nothing must be decided or reserved, as for most rows after a large write of this loop. */
  private isUpToDate(key: ResourceKey, service: Resource): boolean {
    const { id, status, freed } = service;
    const held = readVip(status);
    return (
      held?.type === 'Kuma' &&
      freed.length === 0 &&
      this.work.allocator.isReserved(this.toVipOwner(key, id), held.ip) &&
      !confirm(service, 0)
    );
  }

  private forget(key: ResourceKey): void {
    this.work.waiting.set(key, undefined);
    this.work.unserved.delete(key);
    const id = parseIdentityKey(key);
    this.release(this.toVipOwner(key, id), this.index?.tombstone(id));
  }

  private toVipOwner(key: ResourceKey, id: Identity): VipOwner {
    return { key, id, settings: this.settings.ofMesh(id.mesh) };
  }

  private reserve(owner: VipOwner, service: Resource): boolean {
    for (const { at } of service.freed) this.storeClock.observe(at);
    return this.work.allocator.reserve(owner, readVip(service.status), service);
  }

  private release(owner: VipOwner, tombstone: Tombstone | undefined): void {
    this.storeClock.observe(tombstone?.deletedAt ?? 0);
    this.work.allocator.release(owner, tombstone);
  }

  /** Queues services without address again when an address may have become free. */
  private wakeWaiting(storeNow: number): void {
    const keys = this.mayRetry() ? this.work.waiting.keys() : this.work.waiting.dueAt(storeNow);
    this.seenReleases = this.work.allocator.releases;
    for (const key of keys) this.work.stale.add(key);
  }

  private mayRetry(): boolean {
    return this.work.waiting.size > 0 && this.work.allocator.releases !== this.seenReleases;
  }

  private cursorEntries(): readonly MetadataEntry[] {
    const { cursors } = this.work.allocator;
    const moved = [...cursors].filter(([pool, ip]) => this.cursors.get(pool) !== ip);
    const gone = [...this.cursors.keys()].filter((pool) => !cursors.has(pool) && pool.includes('@'));
    this.cursors = cursors;
    return [
      ...moved.map(([key, ip]) => ({ area: METADATA_AREA, key, value: { ip } })),
      ...gone.map((key) => ({ area: METADATA_AREA, key, value: null })),
    ];
  }

  private compareKeys(a: ResourceKey, b: ResourceKey): number {
    const [first, second] = [this.index?.byIdentityKey(a), this.index?.byIdentityKey(b)];
    // Deleted services come first: they free addresses.
    if (!first || !second) return first ? 1 : second ? -1 : compareText(a, b);
    return compareCreation(first, second);
  }
}

/** Orders by creation, the older first; an unknown creation order ranks last (docs/design.md §4). */
function compareCreation(a: Resource, b: Resource): number {
  const [first, second] = [a.creationOrder || Infinity, b.creationOrder || Infinity];
  return first === second ? compareText(identityKey(a.id), identityKey(b.id)) : first - second;
}

/**
 * A lower bound of the store's clock, derived from the times that the store wrote and from a monotonic clock. Cooldowns are measured by it, so that
 * no jump of this host's clock ends one early (docs/design.md §4 vip).
 */
class StoreClock {
  private seen = -Infinity;
  private seenAt: number | undefined;

  /** Records a time that the store wrote. */
  observe(time: number): void {
    if (time <= this.seen) return;
    this.seen = time;
    this.seenAt = undefined;
  }

  /** Returns ms since 1970, never later than the store's clock; `elapsed` comes from `Clock.elapsed`. */
  lowerBound(elapsed: number): number {
    this.seenAt ??= elapsed;
    return this.seen + (elapsed - this.seenAt);
  }
}
