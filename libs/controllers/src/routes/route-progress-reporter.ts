import { MOST_COUNTED_ROUTES, RouteInsight, type RouteInsightSpec } from '@causeway/kinds';
import type { FollowedRoutes } from '@causeway/meshes';
import {
  computedLabels,
  identityKey,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import { routeKinds } from '@causeway/routing';
import { onAbort } from '@causeway/runtime';
import type { Change, IndexEvent, IndexReader } from '@causeway/store';
import type { ProxyDirectory } from '../proxies/proxy-directory';
import type { ControlLoop, LoopPlan } from '../runner/control-loop';
import type { RouteProgress } from './programmed';
import { ProxyProgress } from './proxy-progress';

/** How often it is looked what proxies have applied, ms. */
const LOOK_EVERY = 1_000;
/** Most kinds and incarnations in a report: one of each kind, but after restores of the global. */
const MOST_APPLIED = 64;

interface Counted {
  readonly generation: number;
  readonly isWhole: boolean;
  readonly document: JsonObject;
}

/** Up to where the global's state of one kind is stored here. */
export interface ReceivedPosition {
  readonly incarnation: string;
  readonly revision: number;
  /** A reader that has seen this revision of the store has seen that state. */
  readonly stored: number;
}

export interface RouteProgressOptions {
  readonly cp: ControlPlane & { readonly role: 'zone' };
  readonly routes: Pick<FollowedRoutes, 'hasLoaded' | 'subscribe'>;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'all' | 'storeNow'>;
  /** Undefined while that is not known. */
  readonly positionOf: (kind: string) => ReceivedPosition | undefined;
}

/** The identity of what a zone reports. */
export function routeInsightId(zone: string): Identity {
  return { kind: RouteInsight.name, mesh: '', zone, namespace: '', name: zone };
}

/**
 * Reports to the global what the zone's proxies have applied of its routes: of each kind the revision of the global's log up to which
 * all proxies have applied all routes, and counts of the routes that changed last. While no route changes it writes nothing.
 */
export class RouteProgressReporter implements ControlLoop {
  readonly name = 'route-progress';
  private index: IndexReader | undefined;
  /** Copies of the global's routes that some proxy may lack, with the revision of this log that it must have applied. */
  private readonly pending = new Map<string, number>();
  /** By kind and incarnation of the global: the newest change of a route that came here. */
  private readonly newest = new Map<string, number>();
  /** By the key of a route: the counts that were taken last, in the order in which they were begun. */
  private readonly counted = new Map<string, Counted>();
  private readonly progress: ProxyProgress;
  private nextLook = 0;

  constructor(private readonly options: RouteProgressOptions) {
    this.progress = new ProxyProgress(options.proxies);
  }

  /** Takes note of changed bindings until the returned function is called. */
  follow(): () => void {
    return this.options.routes.subscribe((change) => {
      if (change === 'reloaded') this.expectAll();
      else for (const key of change.routes) this.expect(key);
    });
  }

  reset(index: IndexReader): void {
    this.index = index;
    this.pending.clear();
    this.newest.clear();
    this.counted.clear();
    for (const document of this.reported(index)?.routes ?? []) {
      const { route, generation, proxies } = document;
      const isWhole = (proxies.acked ?? 0) >= (proxies.total ?? 0);
      this.counted.set(route, { generation, isWhole, document });
    }
    this.expectAll();
  }

  observe({ changes }: IndexEvent): void {
    for (const { id, key, after } of changes) {
      if (!routeKinds.some((kind) => kind === id.kind)) continue;
      if (after) this.note(after);
      else this.forget(key);
    }
  }

  plan(now: number): LoopPlan {
    const { index } = this;
    if (now < this.nextLook || !index) return { changes: [], wakeAt: this.nextLook };
    this.nextLook = now + LOOK_EVERY;
    const idle = { changes: [], wakeAt: this.nextLook };
    if (!this.progress.isLoaded || !this.options.routes.hasLoaded) return idle;
    for (const [key, since] of this.pending) this.look(index, key, since);
    return { ...idle, changes: this.report(index) };
  }

  onWritten(): void {
    // The next look compares the report with what is stored.
  }

  private expectAll(): void {
    for (const kind of routeKinds) for (const route of this.index?.ofKind(kind) ?? []) this.note(route);
  }

  private forget(key: string): void {
    this.pending.delete(key);
    this.counted.delete(key);
  }

  /** A copy that came, changed, or is bound in another way. */
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
    const route = index.byIdentityKey(key);
    const kind = routeKinds.find((known) => known === route?.id.kind);
    if (!route || !kind) return this.forget(key);
    const progress = this.progress.of(callersOf(route), kind, since);
    const { acked, total } = progress.proxies;
    if (acked >= total) this.pending.delete(key);
    // What is reported as applied needs no counts, but where they were begun: a bound route may be bound anew at any time.
    const known = this.counted.get(key);
    const isTold = known ? known.isWhole && known.generation === route.generation : this.isReported(index, route);
    if (isTold) return;
    const document = countedRoute(key, route.generation, progress);
    this.counted.set(key, { generation: route.generation, isWhole: acked >= total, document });
    const [oldest] = this.counted.keys();
    if (this.counted.size > MOST_COUNTED_ROUTES && oldest !== undefined) this.counted.delete(oldest);
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

  /** The revision of the global up to which all routes of a kind are in the index. */
  private received(kind: string, incarnation: string, index: IndexReader): number | undefined {
    const position = this.options.positionOf(kind);
    if (!position || (index.point?.revision ?? -1) < position.stored) return undefined;
    // What the global changed in an earlier incarnation has come with the whole state of this one.
    return position.incarnation === incarnation ? position.revision : Infinity;
  }

  private oldestPending(index: IndexReader): ReadonlyMap<string, number> {
    const oldest = new Map<string, number>();
    for (const key of this.pending.keys()) {
      const route = index.byIdentityKey(key);
      if (!route) continue;
      const { incarnation, revision } = route.origin;
      const of = `${route.id.kind} ${incarnation}`;
      oldest.set(of, Math.min(oldest.get(of) ?? Infinity, revision));
    }
    return oldest;
  }
}

/** To whose proxies a route matters: with parents in several namespaces, to all. */
function callersOf({ id, spec }: Resource): { readonly mesh: string; readonly namespace?: string } {
  const { parentRefs } = spec;
  const refs = isJsonArray(parentRefs) ? parentRefs.filter(isJsonObject) : [];
  const isConsumers = refs.every(({ namespace }) => (namespace ?? id.namespace) !== id.namespace);
  return isConsumers ? { mesh: id.mesh, namespace: id.namespace } : { mesh: id.mesh };
}

function countedRoute(route: string, generation: number, { proxies, unable }: RouteProgress): JsonObject {
  const form = ({ acked, total, waitingFor }: RouteProgress['proxies']): JsonObject => ({
    ...{ acked, total },
    ...(waitingFor.length > 0 ? { waitingFor: waitingFor.map((name) => name.slice(0, 256)) } : {}),
  });
  return { route, generation, proxies: form(proxies), unable: form(unable) };
}

/** What a zone with a global reports, as a control loop for one term, which ends with `signal`. */
export function createRouteProgressReporter(
  options: RouteProgressOptions,
  { signal }: { readonly signal: AbortSignal },
): RouteProgressReporter {
  const reporter = new RouteProgressReporter(options);
  onAbort(signal, reporter.follow());
  return reporter;
}
