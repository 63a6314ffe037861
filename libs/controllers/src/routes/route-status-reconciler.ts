import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import {
  identityKey,
  isMadeHere,
  jsonEqual,
  type Condition,
  type ControlPlane,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import { parentStatuses, routeKinds, type ParentStatus } from '@causeway/routing';
import { onAbort } from '@causeway/runtime';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, RESCAN, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { Movement, type ProgressSource } from '../progress/progress';
import { planRouteStatus, storedConditions } from './plan-route-status';
import {
  asCondition,
  isProgrammed,
  NO_GATEWAY,
  NOT_SUPPORTED,
  UNSUPPORTED_BY_KUMA,
  unsupportedByKuma,
  PROGRAMMED,
  programmedCondition,
  withoutGateway,
} from './programmed';
import { routeNeeds } from './route-progress';

/** How often it is looked whether all have applied a route, ms: more and more seldom. */
const LOOK_AGAIN = 1_000;
const LOOK_SELDOM = 30_000;
/**
 * Who is waited for is said after so long, and then so often, ms: each time is a write. A replica whose proxies need nothing new says
 * so within 5 s.
 */
const PATIENCE = 10_000;
const SAY_EVERY = 10_000;

/** Knows of which routes zones of Kuma are told. */
interface ToldRoutes {
  /** Why they are not told of a route: empty where they are, undefined where that is not known yet. */
  reasonOf(routeKey: string): string | undefined;
  /** Keys of the routes of which `reasonOf` says something else since the call before. */
  takeSaid(): readonly string[];
}

/** What the status of routes is made from. */
export interface RouteStatusOptions {
  readonly cp: ControlPlane;
  readonly meshes: Pick<Meshes, 'owner'>;
  /** The routes of this replica, of the same index; it follows the index since before the loop did. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'subscribe'>;
  /** Without it nothing is said of who has applied routes. */
  readonly progress?: ProgressSource;
  /** Of which routes zones of Kuma are told. Without it of none. */
  readonly kuma?: ToldRoutes;
  /** How long nobody is said to be waited for, and how often it is said then, ms. */
  readonly patience?: { readonly first: number; readonly then: number };
}

/** What is remembered of a route that not all are known to have applied. */
interface Waiting {
  readonly since: number;
  readonly from: number;
  saidAt: number;
}

/**
 * Writes `status.parents` of the routes that were made on this control plane: whether each parent accepts the route, whether its
 * references resolve, and whether all have applied it (docs/reference/route-status.md). A route that was made elsewhere is left alone. A
 * change costs the routes whose binding it touches.
 */
class RouteStatusReconciler implements KeyedReconciler {
  readonly name = 'routes';
  readonly looksOutside = true;
  /** Keys of routes whose binding has changed. */
  private moved = new Set<string>();
  private isReloaded = false;
  private readonly waiting = new Map<string, Waiting>();
  private index: IndexReader | undefined;
  private untold: readonly string[] | undefined;

  private readonly movement: Movement;

  constructor(private readonly options: RouteStatusOptions) {
    this.movement = new Movement(options.progress);
  }

  /** Takes note of changed bindings until the returned function is called. */
  follow(): () => void {
    return this.options.routes.subscribe((change) => {
      if (change === 'reloaded') this.isReloaded = true;
      else for (const key of change.routes) this.move(key);
    });
  }

  *seed(index: IndexReader): Iterable<Keys> {
    this.index = index;
    this.waiting.clear();
    for (const kind of routeKinds)
      for (const resource of index.ofKind(kind))
        yield isMadeHere(resource, this.options.cp) ? [identityKey(resource.id)] : NO_KEYS;
  }

  /**
   * A status that another writer has changed is looked at, and all routes where a Mesh becomes somebody else's; other changes are seen by
   * what they do to bindings.
   */
  keysOf({ id, key, before, after }: IndexChange): readonly (string | typeof RESCAN)[] {
    if (id.kind === 'Mesh')
      return before?.spec['controllerName'] === after?.spec['controllerName'] ? NO_KEYS : [RESCAN];
    if (!routeKinds.some((kind) => kind === id.kind)) return NO_KEYS;
    return jsonEqual(before?.status?.['parents'], after?.status?.['parents']) ? NO_KEYS : [key];
  }

  derivedKeys(): Keys {
    const said = this.options.kuma?.takeSaid() ?? NO_KEYS;
    const moved = this.moved;
    if (moved.size === 0) return said;
    this.moved = new Set();
    return [...moved, ...said];
  }

  outsideKeys(): readonly (string | typeof RESCAN)[] {
    const { isReloaded } = this;
    this.isReloaded = false;
    const untold = this.options.progress?.untold?.();
    const isTold = untold === undefined || this.untold?.join(' ') === untold.join(' ');
    if (untold) this.untold = untold;
    if (isReloaded || !isTold) return [RESCAN];
    return this.movement.hasMoved() ? [...this.waiting.keys()] : NO_KEYS;
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const { cp, meshes, routes } = this.options;
    const resource = index.byIdentityKey(key);
    if (!resource) this.waiting.delete(key);
    // What is not loaded yet is looked at when it is.
    if (!resource || !isMadeHere(resource, cp) || !routes.hasLoaded) return undefined;
    const bound = routes.table.route(key);
    const entries = bound ? parentStatuses(routes.table, bound) : [];
    const { wanted, dueAt } = this.withProgress(resource, entries, now);
    const { controllerName } = meshes.owner;
    return { change: planRouteStatus(resource, wanted, { controllerName, now }), dueAt };
  }

  /** The entries with what is known of who has applied the route, and when to look again where not all have. */
  private withProgress(
    route: Resource,
    entries: readonly ParentStatus[],
    now: number,
  ): { readonly wanted: readonly ParentStatus[]; readonly dueAt?: number } {
    const key = identityKey(route.id);
    const { progress, meshes, patience = { first: PATIENCE, then: SAY_EVERY } } = this.options;
    if (!progress) return { wanted: entries };
    const waiting = this.waitingOf(key, now);
    const maySay = now - waiting.from >= patience.first && now - waiting.saidAt >= patience.then;
    let isWaiting = false;
    const wanted = entries.map((entry) => {
      if (!isToBeApplied(entry)) return entry;
      const stored = storedConditions(route, entry.parentRef, meshes.owner.controllerName);
      const before = stored.find(({ type }) => type === PROGRAMMED);
      const known = this.programmed(route, entry, { stored: before, since: waiting.since });
      const isKnown = known !== undefined && isFinal(known);
      isWaiting ||= !isKnown;
      const isSaidNow = isKnown || maySay || isFirstRefusal(known, before);
      const said = isSaidNow ? (known ?? asCondition(before)) : asCondition(before);
      return withLast(entry, said, this.untoldCondition(route, stored));
    });
    if (!isWaiting) this.waiting.delete(key);
    else if (maySay) waiting.saidAt = now;
    const pause = Math.min(Math.max(LOOK_AGAIN, (now - waiting.from) / 4), LOOK_SELDOM);
    return isWaiting ? { wanted, dueAt: now + pause } : { wanted };
  }

  /** True of a generation stays True: a proxy that connects later begins with what is in force. Undefined while nothing is known. */
  private programmed(
    route: Resource,
    { parentRef }: ParentStatus,
    { stored, since }: { readonly stored: JsonObject | undefined; readonly since: number },
  ): Condition | undefined {
    const { id, generation } = route;
    if (parentRef.kind === 'Gateway') return withoutGateway(generation);
    if (isProgrammed(stored, generation)) return asCondition(stored);
    // GEP-1426, Namespace boundaries: a route of another namespace is for the callers of its own.
    const namespace = parentRef.namespace === id.namespace ? undefined : id.namespace;
    const needs = routeNeeds(id.kind);
    const known =
      needs && this.options.progress?.of({ resource: route, concerned: { mesh: id.mesh, namespace }, needs, since });
    return known && programmedCondition(known, generation);
  }

  /** Zones of Kuma are told of some routes. Where it is not known which zones those are, or of which, what was said stays. */
  private untoldCondition({ id, generation }: Resource, stored: readonly JsonObject[]): Condition | undefined {
    const { progress, kuma } = this.options;
    if (!progress?.untold) return undefined;
    const zones = progress.untold();
    if (zones?.length === 0) return undefined;
    const why = kuma?.reasonOf(identityKey(id));
    if (!zones || (kuma && why === undefined)) {
      return asCondition(stored.find(({ type }) => type === UNSUPPORTED_BY_KUMA));
    }
    return why === '' ? undefined : unsupportedByKuma(zones, generation, why);
  }

  private move(key: string): void {
    this.moved.add(key);
    this.waiting.delete(key);
  }

  /** Remembered from when the route is seen first: what came into force before did so at that revision at the latest. */
  private waitingOf(key: string, now: number): Waiting {
    const since = this.index?.point?.revision ?? 0;
    const known = this.waiting.get(key) ?? { since, from: now, saidAt: -Infinity };
    this.waiting.set(key, known);
    return known;
  }
}

function isToBeApplied({ conditions }: ParentStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Accepted' && status === 'True');
}

/** Nothing but another generation, or another parent, changes it. */
function isFinal({ status, reason }: Condition): boolean {
  return status === 'True' || reason === NO_GATEWAY;
}

/** Some proxy will never obey this generation: its owner learns that at once, and as the others apply it only now and then more. */
function isFirstRefusal(known: Condition | undefined, stored: JsonObject | undefined): boolean {
  if (known?.reason !== NOT_SUPPORTED) return false;
  return stored?.['reason'] !== NOT_SUPPORTED || stored['observedGeneration'] !== known.observedGeneration;
}

function withLast(entry: ParentStatus, ...more: readonly (Condition | undefined)[]): ParentStatus {
  return { ...entry, conditions: [...entry.conditions, ...more.filter((condition) => condition !== undefined)] };
}

/** The status of routes as a control loop for one term, which ends with `signal`. */
export function createRouteStatusLoop(
  options: RouteStatusOptions,
  { signal }: { readonly signal: AbortSignal },
): KeyedLoop {
  const reconciler = new RouteStatusReconciler(options);
  onAbort(signal, reconciler.follow());
  return new KeyedLoop(reconciler);
}
