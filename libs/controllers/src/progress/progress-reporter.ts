import { MAX_COUNTED_ROUTES, RouteInsight, type RouteInsightSpec } from '@causeway/kinds';
import {
  computedLabels,
  identityKey,
  jsonEqual,
  isResourceKey,
  parseIdentityKey,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { nextTickAt } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader } from '@causeway/store';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import { FollowedKeys, RESCAN, type ControlLoop, type KeySource, type LoopPlan } from '@causeway/loops';
import type { ApplyProgress, ApplyRequirement } from './apply-progress';
import { formatUnsupported, formatWaiting } from './progress-text';
import { ProxyProgress } from './proxy-progress';
import { NONE_UNSUPPORTED } from './unsupported-proxies';
import { UnsupportedWatch } from './unsupported-watch';

/** Interval of the polls of what proxies have applied, ms. */
const POLL_INTERVAL = 1_000;
/** Maximum number of kinds and incarnations in a report: one for each kind, except after restores of the global. */
const MAX_APPLIED = 64;
const MAX_NAME_LENGTH = 256;

/** The counts of one resource in the report. */
interface CountedProgress {
  readonly generation: number;
  readonly isApplied: boolean;
  /** Whether some proxies do not support it, which no revision shows. */
  readonly isUnsupported: boolean;
  readonly document: JsonObject;
}

/** The position up to which the global's state of one kind is stored here. */
interface ReceivedPosition {
  readonly incarnation: string;
  readonly revision: number;
  /** The revision of this store that contains that state. */
  readonly stored: number;
}

/** Resources of the global for which a zone reports what its proxies have applied: routes, policies. */
export interface ReportedResources {
  readonly kinds: readonly string[];
  /** Announces resources that came into force differently. */
  readonly changes: KeySource;
  /** Returns undefined if no proxy of the zone has to apply a resource. */
  findRequirement(resource: Resource): ApplyRequirement | undefined;
  /** Whether proxies without support matter that connect after all others have applied a resource. */
  readonly mayBecomeUnsupported?: boolean;
}

export interface ProgressReporterOptions {
  readonly cp: ControlPlane & { readonly role: 'zone' };
  readonly reported: readonly ReportedResources[];
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>;
  /** Undefined while unknown. */
  readonly findPosition: (kind: string) => ReceivedPosition | undefined;
}

/** Returns the identity of the report of a zone. */
export function routeInsightId(zone: string): Identity {
  return { kind: RouteInsight.name, mesh: '', zone, namespace: '', name: zone };
}

/**
 * Reports to the global what the zone's proxies have applied of its routes and policies: for each kind the revision of the global's log up to which
 * all proxies have applied all, and counts for the latest changes. While nothing changes it writes nothing.
 */
class ProgressReporter implements ControlLoop {
  readonly name = 'route-progress';
  private index: IndexReader | undefined;
  private readonly followed: FollowedKeys;
  /** Copies of the global's resources that some proxy may not have applied, with the revision of this log that it must apply. */
  private readonly pending = new Map<ResourceKey, number>();
  /** By kind and incarnation of the global: the newest change of a resource that arrived here. */
  private readonly newest = new Map<string, number>();
  /** The latest counts by the key of a resource, in the order in which counting began. */
  private readonly counted = new Map<ResourceKey, CountedProgress>();
  /** Keys for which the report has no room although some proxies do not support the resource. */
  private readonly uncounted = new Set<ResourceKey>();
  private readonly stale = new Set<ResourceKey>();
  private readonly progress: ProxyProgress;
  private readonly unsupported: UnsupportedWatch;
  private readAt: number | undefined;
  private nextPoll = 0;

  constructor(
    private readonly options: ProgressReporterOptions,
    term: { readonly signal: AbortSignal },
  ) {
    this.progress = new ProxyProgress(options.proxies);
    this.unsupported = new UnsupportedWatch(this.progress);
    const sources = options.reported.map(({ changes }) => changes);
    this.followed = new FollowedKeys(sources, term);
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.pending.clear();
    this.newest.clear();
    this.counted.clear();
    this.uncounted.clear();
    this.stale.clear();
    for (const document of this.stored(index)?.routes ?? []) {
      const { route, generation, proxies, unable } = document;
      if (!isResourceKey(route)) continue;
      const isApplied = (proxies.acked ?? 0) >= (proxies.total ?? 0);
      const mayBecomeUnsupported = this.findReported(parseIdentityKey(route).kind)?.mayBecomeUnsupported === true;
      const isUnsupported = mayBecomeUnsupported && (unable.total ?? 0) > 0;
      this.counted.set(route, { generation, isApplied, isUnsupported, document });
    }
    this.expectAll();
  }

  observe({ changes }: IndexEvent): void {
    for (const { id, key, after } of changes) {
      if (!this.findReported(id.kind)) continue;
      if (after) this.expect(after);
      else this.forget(key);
    }
  }

  plan(now: number, elapsed = now): LoopPlan {
    const { index } = this;
    if (now < this.nextPoll || !index) return { changes: [], wakeAt: this.nextPoll };
    this.nextPoll = nextTickAt(elapsed, now, POLL_INTERVAL);
    const idle = { changes: [], wakeAt: this.nextPoll };
    if (!this.progress.isLoaded || !this.followed.hasLoaded) return idle;
    this.takeFollowed(index);
    this.takeUnsupported();
    for (const key of this.stale) if (!this.pending.has(key)) this.count(index, key, 0);
    this.stale.clear();
    for (const [key, since] of this.pending) this.count(index, key, since);
    return { ...idle, changes: this.report(index) };
  }

  onWritten(): void {
    // The next plan compares the report with the stored one.
  }

  private takeFollowed(index: IndexReader): void {
    for (const key of this.followed.take()) {
      if (key === RESCAN) {
        this.expectAll();
        continue;
      }
      const resource = index.byIdentityKey(key);
      if (resource && this.findReported(resource.id.kind)) this.expect(resource);
    }
  }

  private expectAll(): void {
    for (const { kinds } of this.options.reported)
      for (const kind of kinds) for (const resource of this.index?.ofKind(kind) ?? []) this.expect(resource);
  }

  /** Expects proxies to apply a copy that arrived, changed, or came into force differently. */
  private expect({ id, origin }: Resource): void {
    if (id.zone !== '') return;
    const of = `${id.kind} ${origin.incarnation}`;
    this.newest.set(of, Math.max(this.newest.get(of) ?? 0, origin.revision));
    this.pending.set(identityKey(id), this.index?.point?.revision ?? 0);
  }

  private findReported(kind: string): ReportedResources | undefined {
    return this.options.reported.find(({ kinds }) => kinds.includes(kind));
  }

  private takeUnsupported(): void {
    const { storeNow } = this.options.proxies;
    if (storeNow === this.readAt) return;
    this.readAt = storeNow;
    for (const key of this.unsupported.takeChanged()) this.stale.add(key);
  }

  private forget(key: ResourceKey): void {
    for (const held of [this.pending, this.counted, this.stale, this.uncounted]) held.delete(key);
    this.unsupported.forget(key);
  }

  private count(index: IndexReader, key: ResourceKey, since: number): void {
    const resource = index.byIdentityKey(key);
    const reported = resource && this.findReported(resource.id.kind);
    if (!resource || !reported) return this.forget(key);
    const { mayBecomeUnsupported = false } = reported;
    const requirement = reported.findRequirement(resource);
    if (requirement && mayBecomeUnsupported) this.unsupported.watch(resource, requirement);
    else this.unsupported.forget(key);
    const progress = requirement ? this.progress.of(requirement, since) : NOBODY;
    const { acked, total } = progress.proxies;
    if (acked >= total) this.pending.delete(key);
    this.uncounted.delete(key);
    const { generation } = resource;
    const isUnsupported = mayBecomeUnsupported && progress.unsupported.total > 0;
    // A resource that is reported as applied needs no counts, unless counting began or some proxies do not support it.
    const known = this.counted.get(key);
    const isReported = known
      ? known.isApplied && known.generation === generation && !mayBecomeUnsupported
      : this.isReported(index, resource) && !isUnsupported;
    if (isReported) return;
    const document = toDocument(key, generation, progress);
    this.counted.set(key, { generation, isApplied: acked >= total, isUnsupported, document });
    this.evict();
  }

  /** Evicts counts of supported resources first. A resource whose counts have no room is held back: the global does not take it for applied. */
  private evict(): void {
    if (this.counted.size <= MAX_COUNTED_ROUTES) return;
    const all = [...this.counted];
    const first = all.find((each) => !each[1].isUnsupported) ?? all[0];
    if (!first) return;
    const [key, { isUnsupported }] = first;
    this.counted.delete(key);
    if (isUnsupported) this.uncounted.add(key);
  }

  private isReported(index: IndexReader, { id, origin }: Resource): boolean {
    return this.storedRevisions(index).some(
      ({ kind, incarnation, revision }) =>
        kind === id.kind && incarnation === origin.incarnation && revision >= origin.revision,
    );
  }

  private storedRevisions(index: IndexReader): NonNullable<RouteInsightSpec['applied']> {
    return this.stored(index)?.applied ?? [];
  }

  private stored(index: IndexReader): RouteInsightSpec | undefined {
    const held = index.get(routeInsightId(this.options.cp.zone));
    return held && RouteInsight.is(held) ? held.spec : undefined;
  }

  private report(index: IndexReader): Change[] {
    const id = routeInsightId(this.options.cp.zone);
    const held = index.get(id);
    const applied = this.applied(index);
    if (applied.length === 0 && !held) return [];
    const spec = { applied, routes: [...this.counted.values()].map(({ document }) => document) };
    if (held && jsonEqual(held.spec, spec)) return [];
    const labels = computedLabels(RouteInsight, id, this.options.cp);
    return [{ type: 'put', id, expect: held?.revision ?? 'absent', labels, spec }];
  }

  /** If the received position is unknown, the stored revision stays. */
  private applied(index: IndexReader): JsonObject[] {
    const lacking = this.oldestPending(index);
    const stored = this.storedRevisions(index);
    return [...this.newest].slice(-MAX_APPLIED).flatMap(([of, newest]) => {
      const [kind = '', incarnation = ''] = of.split(' ');
      const before = stored.find((one) => one.kind === kind && one.incarnation === incarnation)?.revision;
      const come = this.received(kind, incarnation, index) ?? before;
      if (come === undefined) return [];
      return [{ kind, incarnation, revision: Math.max(0, Math.min(newest, come, (lacking.get(of) ?? Infinity) - 1)) }];
    });
  }

  /** Returns the revision of the global up to which all resources of a kind are in the index. */
  private received(kind: string, incarnation: string, index: IndexReader): number | undefined {
    const position = this.options.findPosition(kind);
    if (!position || (index.point?.revision ?? -1) < position.stored) return undefined;
    // All changes of the global's earlier incarnations are contained in the whole state of this one.
    return position.incarnation === incarnation ? position.revision : Infinity;
  }

  private oldestPending(index: IndexReader): ReadonlyMap<string, number> {
    const oldest = new Map<string, number>();
    for (const key of [...this.pending.keys(), ...this.uncounted]) {
      const resource = index.byIdentityKey(key);
      if (!resource) continue;
      const { incarnation, revision } = resource.origin;
      const of = `${resource.id.kind} ${incarnation}`;
      oldest.set(of, Math.min(oldest.get(of) ?? Infinity, revision));
    }
    return oldest;
  }
}

const NOBODY: ApplyProgress = { proxies: { acked: 0, total: 0, waiting: [] }, unsupported: NONE_UNSUPPORTED };

/** `unable` is for globals of older versions, which read names; newer ones use `unsupported`. */
function toDocument(route: string, generation: number, { proxies, unsupported }: ApplyProgress): JsonObject {
  const { counts, first, total } = unsupported;
  const typed = counts.map(({ mode, isTcpPassthrough, count }) => ({
    mode,
    count,
    ...(isTcpPassthrough && { tcpPassthrough: true }),
  }));
  return {
    route,
    generation,
    proxies: { acked: proxies.acked, total: proxies.total, ...namesField(proxies.waiting.map(formatWaiting)) },
    unable: { acked: 0, total, ...namesField(first.map(formatUnsupported)) },
    ...(typed.length > 0 && { unsupported: typed }),
  };
}

function namesField(names: readonly string[]): JsonObject {
  return names.length > 0 ? { waitingFor: names.map((name) => name.slice(0, MAX_NAME_LENGTH)) } : {};
}

/** Creates the loop that reports the progress of a zone to its global, for one term, which ends with `signal`. */
export function createProgressReporter(
  options: ProgressReporterOptions,
  term: { readonly signal: AbortSignal },
): ControlLoop {
  return new ProgressReporter(options, term);
}
