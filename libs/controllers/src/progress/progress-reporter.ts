import { MOST_COUNTED_ROUTES, RouteInsight, type RouteInsightSpec } from '@causeway/kinds';
import {
  computedLabels,
  identityKey,
  jsonEqual,
  parseIdentityKey,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import { onAbort } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader } from '@causeway/store';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { ControlLoop, LoopPlan } from '@causeway/loops';
import type { Asked, ResourceProgress } from './progress';
import { ProxyProgress } from './proxy-progress';
import { Refusals } from './refusals';

/** How often it is looked what proxies have applied, ms. */
const LOOK_EVERY = 1_000;
/** Most kinds and incarnations in a report: one of each kind, but after restores of the global. */
const MOST_APPLIED = 64;

interface Counted {
  readonly generation: number;
  readonly isWhole: boolean;
  /** Somebody cannot obey it, which no revision says. */
  readonly isRefused: boolean;
  readonly document: JsonObject;
}

/** Up to where the global's state of one kind is stored here. */
interface ReceivedPosition {
  readonly incarnation: string;
  readonly revision: number;
  /** A reader that has seen this revision of the store has seen that state. */
  readonly stored: number;
}

/** Resources of the global of which a zone reports what its proxies have applied: routes, policies. */
export interface Reported {
  readonly kinds: readonly string[];
  /** What they come to is derived from the index. */
  readonly hasLoaded: boolean;
  /** Calls `listener` with the keys of those that came to something else, or where all did, until the returned function is called. */
  subscribe(listener: (keys: readonly string[] | 'all') => void): () => void;
  /** Whose proxies a resource concerns; undefined where nobody's. */
  asked(resource: Resource): Pick<Asked, 'concerned' | 'needs'> | undefined;
  /** It matters also when proxies that cannot obey one come after all others have applied it. */
  readonly mayBeRefusedLater?: boolean;
}

export interface ProgressReporterOptions {
  readonly cp: ControlPlane & { readonly role: 'zone' };
  readonly reported: readonly Reported[];
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>;
  /** Undefined while that is not known. */
  readonly positionOf: (kind: string) => ReceivedPosition | undefined;
}

/** The identity of what a zone reports. */
export function routeInsightId(zone: string): Identity {
  return { kind: RouteInsight.name, mesh: '', zone, namespace: '', name: zone };
}

/**
 * Reports to the global what the zone's proxies have applied of its routes and policies: of each kind the revision of the global's log
 * up to which all proxies have applied all, and counts of those that changed last. While none changes it writes nothing.
 */
export class ProgressReporter implements ControlLoop {
  readonly name = 'route-progress';
  private index: IndexReader | undefined;
  /** Copies of the global's resources that some proxy may lack, with the revision of this log that it must have applied. */
  private readonly pending = new Map<string, number>();
  /** By kind and incarnation of the global: the newest change of a resource that came here. */
  private readonly newest = new Map<string, number>();
  /** By the key of a resource: the counts that were taken last, in the order in which they were begun. */
  private readonly counted = new Map<string, Counted>();
  /** Keys of those that cannot be counted although somebody refuses them. */
  private readonly uncounted = new Set<string>();
  private readonly stale = new Set<string>();
  private readonly progress: ProxyProgress;
  private readonly refusals: Refusals;
  private lookedAt: number | undefined;
  private nextLook = 0;

  constructor(private readonly options: ProgressReporterOptions) {
    this.progress = new ProxyProgress(options.proxies);
    this.refusals = new Refusals(this.progress);
  }

  /** Takes note of what has changed until the returned function is called. */
  follow(): () => void {
    const ends = this.options.reported.map((each) =>
      each.subscribe((keys) => {
        if (keys === 'all') this.expectAll(each.kinds);
        else for (const key of keys) this.expect(key);
      }),
    );
    return () => {
      for (const end of ends) end();
    };
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.pending.clear();
    this.newest.clear();
    this.counted.clear();
    this.uncounted.clear();
    this.stale.clear();
    for (const document of this.reported(index)?.routes ?? []) {
      const { route, generation, proxies, unable } = document;
      const isWhole = (proxies.acked ?? 0) >= (proxies.total ?? 0);
      const isRefused =
        this.reportedOf(parseIdentityKey(route).kind)?.mayBeRefusedLater === true && (unable.total ?? 0) > 0;
      this.counted.set(route, { generation, isWhole, isRefused, document });
    }
    for (const { kinds } of this.options.reported) this.expectAll(kinds);
  }

  observe({ changes }: IndexEvent): void {
    for (const { id, key, after } of changes) {
      if (!this.reportedOf(id.kind)) continue;
      if (after) this.note(after);
      else this.forget(key);
    }
  }

  plan(now: number): LoopPlan {
    const { index } = this;
    if (now < this.nextLook || !index) return { changes: [], wakeAt: this.nextLook };
    this.nextLook = now + LOOK_EVERY;
    const idle = { changes: [], wakeAt: this.nextLook };
    if (!this.progress.isLoaded || !this.options.reported.every(({ hasLoaded }) => hasLoaded)) return idle;
    this.lookAgain();
    for (const key of this.stale) if (!this.pending.has(key)) this.look(index, key, 0);
    this.stale.clear();
    for (const [key, since] of this.pending) this.look(index, key, since);
    return { ...idle, changes: this.report(index) };
  }

  onWritten(): void {
    // The next look compares the report with what is stored.
  }

  private expectAll(kinds: readonly string[]): void {
    for (const kind of kinds) for (const resource of this.index?.ofKind(kind) ?? []) this.note(resource);
  }

  private reportedOf(kind: string): Reported | undefined {
    return this.options.reported.find(({ kinds }) => kinds.includes(kind));
  }

  /** Other proxies cannot obey it than before. */
  private lookAgain(): void {
    const { storeNow } = this.options.proxies;
    if (storeNow === this.lookedAt) return;
    this.lookedAt = storeNow;
    for (const key of this.refusals.take()) this.stale.add(key);
  }

  private forget(key: string): void {
    for (const held of [this.pending, this.counted, this.stale, this.uncounted]) held.delete(key);
    this.refusals.forget(key);
  }

  /** A copy that came, changed, or came to something else. */
  private expect(key: string): void {
    const route = this.index?.byIdentityKey(key);
    if (route) this.note(route);
  }

  private note(route: Resource): void {
    if (route.id.zone !== '') return;
    const { incarnation, revision } = route.origin;
    const of = `${route.id.kind} ${incarnation}`;
    this.newest.set(of, Math.max(this.newest.get(of) ?? 0, revision));
    this.pending.set(identityKey(route.id), this.index?.point?.revision ?? 0);
  }

  private look(index: IndexReader, key: string, since: number): void {
    const resource = index.byIdentityKey(key);
    const reported = resource && this.reportedOf(resource.id.kind);
    if (!resource || !reported) return this.forget(key);
    const asked = reported.asked(resource);
    if (asked && reported.mayBeRefusedLater === true) this.refusals.watch({ resource, ...asked });
    else this.refusals.forget(key);
    const progress = asked ? this.progress.of(asked.concerned, asked.needs, since) : NOBODY;
    const { acked, total } = progress.proxies;
    if (acked >= total) this.pending.delete(key);
    this.uncounted.delete(key);
    // What is reported as applied needs no counts, but where they were begun, or where somebody cannot obey it.
    const known = this.counted.get(key);
    const isRefused = reported.mayBeRefusedLater === true && progress.unable.total > 0;
    const isTold = known
      ? known.isWhole && known.generation === resource.generation && reported.mayBeRefusedLater !== true
      : this.isReported(index, resource) && !isRefused;
    if (isTold) return;
    const document = counted(key, resource.generation, progress);
    this.counted.set(key, { generation: resource.generation, isWhole: acked >= total, isRefused, document });
    this.evict();
  }

  /** Counts that say least go first. What cannot be said is held back instead: nobody takes it for applied. */
  private evict(): void {
    if (this.counted.size <= MOST_COUNTED_ROUTES) return;
    const all = [...this.counted];
    const [key, { isRefused }] = all.find((each) => !each[1].isRefused) ?? all[0] ?? ['', { isRefused: false }];
    this.counted.delete(key);
    if (isRefused) this.uncounted.add(key);
  }

  private isReported(index: IndexReader, { id, origin }: Resource): boolean {
    return this.said(index).some(
      ({ kind, incarnation, revision }) =>
        kind === id.kind && incarnation === origin.incarnation && revision >= origin.revision,
    );
  }

  private said(index: IndexReader): NonNullable<RouteInsightSpec['applied']> {
    return this.reported(index)?.applied ?? [];
  }

  private reported(index: IndexReader): RouteInsightSpec | undefined {
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

  /** Where nothing is known of what has come, what was reported stays. */
  private applied(index: IndexReader): JsonObject[] {
    const lacking = this.oldestPending(index);
    const said = this.said(index);
    return [...this.newest].slice(-MOST_APPLIED).flatMap(([of, newest]) => {
      const [kind = '', incarnation = ''] = of.split(' ');
      const before = said.find((one) => one.kind === kind && one.incarnation === incarnation)?.revision;
      const come = this.received(kind, incarnation, index) ?? before;
      if (come === undefined) return [];
      return [{ kind, incarnation, revision: Math.max(0, Math.min(newest, come, (lacking.get(of) ?? Infinity) - 1)) }];
    });
  }

  /** The revision of the global up to which all resources of a kind are in the index. */
  private received(kind: string, incarnation: string, index: IndexReader): number | undefined {
    const position = this.options.positionOf(kind);
    if (!position || (index.point?.revision ?? -1) < position.stored) return undefined;
    // What the global changed in an earlier incarnation has come with the whole state of this one.
    return position.incarnation === incarnation ? position.revision : Infinity;
  }

  private oldestPending(index: IndexReader): ReadonlyMap<string, number> {
    const oldest = new Map<string, number>();
    for (const key of [...this.pending.keys(), ...this.uncounted]) {
      const route = index.byIdentityKey(key);
      if (!route) continue;
      const { incarnation, revision } = route.origin;
      const of = `${route.id.kind} ${incarnation}`;
      oldest.set(of, Math.min(oldest.get(of) ?? Infinity, revision));
    }
    return oldest;
  }
}

const NOTHING = { acked: 0, total: 0, waitingFor: [] };
const NOBODY: ResourceProgress = { proxies: NOTHING, unable: NOTHING };

function counted(route: string, generation: number, { proxies, unable }: ResourceProgress): JsonObject {
  const form = ({ acked, total, waitingFor }: ResourceProgress['proxies']): JsonObject => ({
    acked,
    total,
    ...(waitingFor.length > 0 ? { waitingFor: waitingFor.map((name) => name.slice(0, 256)) } : {}),
  });
  return { route, generation, proxies: form(proxies), unable: form(unable) };
}

/** What a zone with a global reports, as a control loop for one term, which ends with `signal`. */
export function createProgressReporter(
  options: ProgressReporterOptions,
  { signal }: { readonly signal: AbortSignal },
): ProgressReporter {
  const reporter = new ProgressReporter(options);
  onAbort(signal, reporter.follow());
  return reporter;
}
