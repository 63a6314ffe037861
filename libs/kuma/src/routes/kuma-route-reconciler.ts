import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import { identityKey, isMadeHere, jsonEqual, type Resource, type ResourceKey } from '@causeway/resources';
import { routeKinds, type ChangeSet } from '@causeway/routing';
import type { IndexChange, IndexReader } from '@causeway/store';
import { isKeptFromSync, MeshView, type ExportDefault } from '@causeway/sync';
import {
  KeyedLoop,
  keysOfTable,
  NO_KEYS,
  RESCAN,
  type KeyedReconciler,
  type Keys,
  type KeySource,
  type ReconcileResult,
  type StaleKeyList,
} from '@causeway/loops';
import { kumaServices, nameKey, serviceKey } from './kuma-services';
import { meshHttpRoute, type KumaRoute, type KumaServices } from './mesh-http-route';
import { isMadeOfRoute, MESH_HTTP_ROUTE, meshHttpRouteId, planMeshHttpRoute } from './plan-mesh-http-route';

/** Inputs of the routes for zones of Kuma. */
export interface KumaRoutesOptions {
  readonly meshes: Pick<Meshes, 'served' | 'version'>;
  /** The routes of this replica, derived from the same index; they must follow the index before the loop does. */
  readonly routes: Pick<FollowedRoutes, 'table' | 'hasLoaded' | 'subscribe'>;
  /** Returns the names of the zones of Kuma, sorted; undefined while unknown. */
  readonly zones: () => readonly string[] | undefined;
  /** For services of meshes without a default of their own. */
  readonly exportDefault: ExportDefault;
}

const GLOBAL = { role: 'global' } as const;
const SERVICES: readonly string[] = ['MeshService', 'MeshMultiZoneService'];
const TAKEN = 'a MeshHTTPRoute that somebody else made has the name';
const KEPT = 'its label keeps it from sync';

/** The translation of one route of the global. */
interface RouteTranslation {
  /** The services that it depends on, by `serviceKey`. */
  readonly services: ReadonlySet<string>;
  /** The reason why it is not translated for zones of Kuma; empty if it is. */
  readonly reason: string;
}

/**
 * Keeps one MeshHTTPRoute for each HTTPRoute of the global that Kuma can express exactly, while there are zones of Kuma
 * (docs/reference/route-status.md). A change costs the routes whose binding or services it affects; another set of zones of Kuma, or a change of the
 * exports of a Zone or Mesh, costs all routes.
 */
export class KumaRouteReconciler implements KeyedReconciler {
  readonly name = 'kuma-routes';
  readonly looksOutside = true;
  readonly sources: readonly KeySource[];
  /** The key of the route, by the key of its MeshHTTPRoute. */
  private readonly routeOf = new Map<ResourceKey, ResourceKey>();
  private readonly translations = new Map<ResourceKey, RouteTranslation>();
  /** By `serviceKey`: the keys of the routes whose translation depends on the service. */
  private readonly users = new Map<string, Set<ResourceKey>>();
  private changed = new Set<ResourceKey>();
  private zones: readonly string[] | undefined;
  private index: IndexReader | undefined;
  private view: MeshView | undefined;
  private lookedAt = '';

  constructor(private readonly options: KumaRoutesOptions) {
    this.sources = [keysOfTable(options.routes, (change) => this.listMoved(change))];
  }

  /** Returns why a route is not translated for zones of Kuma: empty if it is, undefined if unknown. */
  findReason(routeKey: ResourceKey): string | undefined {
    return this.translations.get(routeKey)?.reason;
  }

  /** Returns the keys of the routes whose `findReason` changed since the last call. */
  takeChangedReasons(): readonly ResourceKey[] {
    const { changed } = this;
    this.changed = new Set();
    return [...changed];
  }

  *seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    this.index = index;
    if (reason === 'reset') for (const known of [this.routeOf, this.translations, this.users]) known.clear();
    for (const kind of routeKinds)
      for (const { id } of index.ofKind(kind)) yield id.zone === '' ? [this.file(identityKey(id), id)] : NO_KEYS;
    for (const resource of index.ofKind(MESH_HTTP_ROUTE))
      yield isMadeOfRoute(resource) ? [identityKey(resource.id)] : NO_KEYS;
  }

  listKeys({ id, key, before, after }: IndexChange): StaleKeyList {
    if (id.kind === MESH_HTTP_ROUTE) return id.zone === '' ? [key] : NO_KEYS;
    if (routeKinds.some((kind) => kind === id.kind)) return id.zone === '' ? [this.file(key, id)] : NO_KEYS;
    if (!SERVICES.includes(id.kind) || (before && after && isSame(before, after))) return NO_KEYS;
    const names = [before, after].flatMap((one) => (one ? [nameKey(one)] : []));
    return names.flatMap((name) => [...(this.users.get(name) ?? [])].flatMap((route) => this.formatKey(route) ?? []));
  }

  outsideKeys(): StaleKeyList {
    const zones = this.options.zones();
    const isMoved = zones !== undefined && this.zones?.join(' ') !== zones.join(' ');
    if (zones) this.zones = zones;
    return this.hasMovedView() || isMoved ? [RESCAN] : [];
  }

  reconcile(key: ResourceKey, index: IndexReader): ReconcileResult | undefined {
    const { zones } = this;
    if (!zones) return undefined;
    const held = index.byIdentityKey(key);
    const routeKey = this.routeOf.get(key);
    const route = routeKey && index.byIdentityKey(routeKey);
    if (!route || !isMadeHere(route, GLOBAL)) {
      this.forget(key, routeKey);
      return held && { change: planMeshHttpRoute(held.id, held, undefined) };
    }
    const id = meshHttpRouteId(route.id);
    const found = zones.length > 0 ? this.translate(route, index, zones) : undefined;
    const isTaken = found?.ok === true && held !== undefined && !isMadeOfRoute(held);
    if (isTaken) this.setReason(identityKey(route.id), `${TAKEN} ${id.name}`);
    const wanted = found?.ok === true ? { route, spec: found.spec } : undefined;
    return { change: planMeshHttpRoute(id, held, wanted) };
  }

  /** Translates a route, and records the services that were read, so that their changes are seen. */
  private translate(route: Resource, index: IndexReader, zones: readonly string[]): KumaRoute | undefined {
    const key = identityKey(route.id);
    const { table } = this.options.routes;
    const bound = table.route(key);
    const read = new Set<string>();
    const lookUp = kumaServices({ index, zones, view: this.currentView(index) });
    const services: KumaServices = (id, ...rest) => {
      const service = index.get(id);
      read.add(service ? nameKey(service) : serviceKey(id, id.name));
      return lookUp(id, ...rest);
    };
    const found = bound && meshHttpRoute(table, bound, services);
    const result = found && isKeptFromSync(route) ? { ok: false as const, reason: KEPT } : found;
    this.use(key, read);
    this.setReason(key, result?.ok === false ? result.reason : '');
    return result;
  }

  private setReason(routeKey: ResourceKey, reason: string): void {
    const known = this.translations.get(routeKey);
    if (known?.reason !== reason) this.changed.add(routeKey);
    this.translations.set(routeKey, { reason, services: known?.services ?? new Set() });
  }

  private use(routeKey: ResourceKey, services: ReadonlySet<string>): void {
    const known = this.translations.get(routeKey);
    for (const name of known?.services ?? []) {
      const users = this.users.get(name);
      users?.delete(routeKey);
      if (users?.size === 0) this.users.delete(name);
    }
    for (const name of services) this.users.set(name, (this.users.get(name) ?? new Set()).add(routeKey));
    this.translations.set(routeKey, { services, reason: known?.reason ?? '' });
    if (!known) this.changed.add(routeKey);
  }

  private forget(key: ResourceKey, routeKey: ResourceKey | undefined): void {
    this.routeOf.delete(key);
    if (routeKey === undefined) return;
    this.use(routeKey, new Set());
    this.translations.delete(routeKey);
  }

  /** Returns the routes whose binding changed, and those bound beside them: exactness depends on all groups of a route's parents. */
  private listMoved(change: ChangeSet): Keys {
    const moved = new Set(change.routes);
    const { table } = this.options.routes;
    for (const { frontend: key } of change.groups) {
      const id = this.index?.byIdentityKey(key)?.id;
      const frontend = id && table.frontend(id);
      if (!frontend) continue;
      for (const group of table.listGroups(frontend))
        for (const { routes } of table.group(frontend, group).bindings.values())
          for (const route of routes) moved.add(route.key);
    }
    return [...moved].flatMap((route) => this.formatKey(route) ?? []);
  }

  private file(routeKey: ResourceKey, id: Resource['id']): ResourceKey {
    const key = identityKey(meshHttpRouteId(id));
    this.routeOf.set(key, routeKey);
    return key;
  }

  private formatKey(routeKey: ResourceKey): ResourceKey | undefined {
    const id = this.index?.byIdentityKey(routeKey)?.id;
    return id && id.zone === '' ? this.file(routeKey, id) : undefined;
  }

  private currentView(index: IndexReader): MeshView {
    const { meshes, exportDefault } = this.options;
    this.view ??= MeshView.of(meshes.served(), index.ofKind('Zone'), exportDefault);
    return this.view;
  }

  /** Reports whether a Zone or a Mesh may have changed the exports to zones; the view is then rebuilt. */
  private hasMovedView(): boolean {
    const { index } = this;
    if (!index) return false;
    const version = `${this.options.meshes.version} ${index.getVersion('Zone')}`;
    if (version === this.lookedAt) return false;
    this.lookedAt = version;
    const before = this.view;
    this.view = undefined;
    const now = this.currentView(index);
    if (!before) return true;
    const isSameView =
      now.zonesChangedSince(before).length + now.meshesChangedSince(before).length === 0 &&
      !now.isRelabelledSince(before);
    return !isSameView;
  }
}

/** Reports whether a change of a service does not affect translations: its addresses and counts do not matter. */
function isSame(before: Resource, after: Resource): boolean {
  const fields = ['ports', 'export'];
  return (
    jsonEqual(before.labels, after.labels) && fields.every((field) => jsonEqual(before.spec[field], after.spec[field]))
  );
}

/** Creates the control loop of the routes for zones of Kuma, for one term of the global's leader, which ends with `signal`. */
export function createKumaRouteLoop(
  options: KumaRoutesOptions,
  term: { readonly signal: AbortSignal },
): { readonly loop: KeyedLoop; readonly translations: Pick<KumaRouteReconciler, 'findReason' | 'takeChangedReasons'> } {
  const translations = new KumaRouteReconciler(options);
  return { loop: new KeyedLoop(translations, term), translations };
}
