import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import {
  identityKey,
  isMadeHere,
  jsonEqual,
  type Condition,
  type ControlPlane,
  type JsonObject,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import { parentStatuses, routeKinds, type ParentStatus } from '@causeway/routing';
import type { IndexChange } from '@causeway/store';
import type { ProgressSource } from '../progress/apply-progress';
import { NO_KEYS, RESCAN, type KeyedLoop, type Keys } from '@causeway/loops';
import {
  createStatusLoop,
  type ReportTimes,
  type StatusMoment,
  type StatusPlan,
  type StatusPlanner,
  type StatusWait,
} from '../status/status-reconciler';
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
import { keysOfRoutes, routeFeatures } from './route-requirement';

/** Reports which routes are translated for zones of Kuma. */
interface KumaRoutes {
  /** Returns why a route is not translated: empty if it is, undefined if unknown. */
  findReason(routeKey: string): string | undefined;
  /** Returns the keys of the routes whose `findReason` changed since the last call. */
  takeChangedReasons(): Keys;
}

export interface RouteStatusOptions {
  readonly cp: ControlPlane;
  readonly meshes: Pick<Meshes, 'owner'>;
  /** The routes of this replica, derived from the same index; they must follow the index before the loop does. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'subscribe'>;
  /** Without it routes have no `Programmed`. */
  readonly progress?: ProgressSource;
  /** Without it no route is translated for zones of Kuma. */
  readonly kuma?: KumaRoutes;
  readonly patience?: ReportTimes;
}

/**
 * Plans `status.parents` of the routes that were made on this control plane: whether each parent accepts the route, whether its references resolve,
 * and whether all proxies have applied it (docs/reference/route-status.md).
 */
class RouteStatusPlanner implements StatusPlanner {
  readonly name = 'routes';
  readonly kinds = routeKinds;

  constructor(private readonly options: RouteStatusOptions) {}

  writes(resource: Resource): boolean {
    return isMadeHere(resource, this.options.cp);
  }

  /** Lists routes whose status another writer changed; all routes if a Mesh gets another controller. */
  listKeys({ id, key, before, after }: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
    if (id.kind === 'Mesh')
      return before?.spec['controllerName'] === after?.spec['controllerName'] ? NO_KEYS : [RESCAN];
    if (!routeKinds.some((kind) => kind === id.kind)) return NO_KEYS;
    return jsonEqual(before?.status?.['parents'], after?.status?.['parents']) ? NO_KEYS : [key];
  }

  plan(route: Resource, moment: StatusMoment): StatusPlan {
    const { table } = this.options.routes;
    const bound = table.route(identityKey(route.id));
    const entries = bound ? parentStatuses(table, bound) : [];
    const { wanted, ...rest } = this.withProgress(route, entries, moment);
    const { controllerName } = this.options.meshes.owner;
    return { ...rest, change: planRouteStatus(route, wanted, { controllerName, now: moment.now }) };
  }

  /** Adds the progress of the route to the entries. */
  private withProgress(
    route: Resource,
    entries: readonly ParentStatus[],
    moment: StatusMoment,
  ): Pick<StatusPlan, 'isPending' | 'isReport'> & { readonly wanted: readonly ParentStatus[] } {
    const { progress, meshes } = this.options;
    if (!progress) return { wanted: entries };
    const wait = moment.wait();
    let isPending = false;
    const wanted = entries.map((entry) => {
      if (!isAccepted(entry)) return entry;
      const stored = storedConditions(route, entry.parentRef, meshes.owner.controllerName);
      const before = stored.find(({ type }) => type === PROGRAMMED);
      const known = this.programmed(route, entry, before, wait);
      const isFinished = known !== undefined && isFinal(known);
      isPending ||= !isFinished;
      const isWritten = isFinished || wait.mayReport || isFirstUnsupported(known, before);
      const next = isWritten ? (known ?? asCondition(before)) : asCondition(before);
      return withLast(entry, next, this.kumaCondition(route, stored));
    });
    return { wanted, isPending, isReport: isPending && wait.mayReport };
  }

  /** Once True for a generation it stays True: a proxy that connects later starts with the current routes. Undefined while unknown. */
  private programmed(
    resource: Resource,
    { parentRef }: ParentStatus,
    stored: JsonObject | undefined,
    { since }: StatusWait,
  ): Condition | undefined {
    const { id, generation } = resource;
    if (parentRef.kind === 'Gateway') return withoutGateway(generation);
    if (isProgrammed(stored, generation)) return asCondition(stored);
    const features = routeFeatures(id.kind);
    if (!features) return undefined;
    // GEP-1426, Namespace boundaries: a route in another namespace applies to callers in that namespace.
    const namespace = parentRef.namespace === id.namespace ? undefined : id.namespace;
    const progress = this.options.progress?.of({ resource, selection: { mesh: id.mesh, namespace }, features, since });
    return progress && programmedCondition(progress, generation);
  }

  /** If the zones of Kuma or their translation are unknown, the written condition stays. */
  private kumaCondition({ id, generation }: Resource, stored: readonly JsonObject[]): Condition | undefined {
    const { progress, kuma } = this.options;
    if (!progress?.kumaZones) return undefined;
    const zones = progress.kumaZones();
    if (zones?.length === 0) return undefined;
    const why = kuma?.findReason(identityKey(id));
    if (!zones || (kuma && why === undefined)) {
      return asCondition(stored.find(({ type }) => type === UNSUPPORTED_BY_KUMA));
    }
    return why === '' ? undefined : unsupportedByKuma(zones, generation, why);
  }
}

function isAccepted({ conditions }: ParentStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Accepted' && status === 'True');
}

/** Only another generation or another parent changes it. */
function isFinal({ status, reason }: Condition): boolean {
  return status === 'True' || reason === NO_GATEWAY;
}

/**
 * Reports whether this is the first report for this generation that some proxy does not support it: it is written at once, changes of the other
 * counts less often.
 */
function isFirstUnsupported(known: Condition | undefined, stored: JsonObject | undefined): boolean {
  if (known?.reason !== NOT_SUPPORTED) return false;
  return stored?.['reason'] !== NOT_SUPPORTED || stored['observedGeneration'] !== known.observedGeneration;
}

function withLast(entry: ParentStatus, ...more: readonly (Condition | undefined)[]): ParentStatus {
  return { ...entry, conditions: [...entry.conditions, ...more.filter((condition) => condition !== undefined)] };
}

/**
 * Creates the status loop of routes for one term, which ends with `signal`. A route that was made elsewhere is left alone; a change costs the routes
 * whose binding it changes.
 */
export function createRouteStatusLoop(options: RouteStatusOptions, term: { readonly signal: AbortSignal }): KeyedLoop {
  const { routes, progress, kuma, patience } = options;
  const planner = new RouteStatusPlanner(options);
  return createStatusLoop({ planner, sources: [keysOfRoutes(routes)], progress, kuma, reportTimes: patience }, term);
}
