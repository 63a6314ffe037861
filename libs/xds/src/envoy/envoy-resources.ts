import { isDeepStrictEqual } from 'node:util';
import type { StorePoint } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { TrafficModel, type DestinationChange, type ModelChange } from '../model/traffic-model';
import type { SocketAddress } from '../model/zone-entrance';
import { RESOURCE_TYPES, type EncodedResource } from '../resources/encoded-resource';
import type { Proxy, RefusedResource, ResourceSource, SourceListener } from '../server/resource-source';
import { isHttp } from './clusters';
import { ChangedNames } from './changed-names';
import { DestinationTable, vipOf } from './destination-table';
import { hasChains, type EnvoyView } from './envoy-view';
import { ExplicitOutbounds } from './explicit-outbounds';
import { FirstUses } from './first-uses';
import * as names from './names';
import { declaredBackends, ReachableBackends, type BackendRef } from './reachable-backends';
import { RefusedResources } from './refused-resources';
import { Translation } from './translation';
import { TrustVersions } from './trust-versions';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;

/** A resource that was served. Until a change touches it, it is served again without a look at the model. */
interface Kept {
  readonly resource: EncodedResource;
  readonly isFresh: boolean;
}

/** What is kept for one view as long as the view is. */
interface ViewState {
  readonly resources: Map<string, Kept>;
  readonly names: Map<string, { readonly changes: number; readonly names: ReadonlySet<string> }>;
  readonly firstUses: FirstUses;
  readonly refused: RefusedResources;
}

/** The scope of what ingresses share; no mesh has this name. */
const INGRESS = '/ingress';
/** After the name of a mesh: the scope of what its gRPC clients share. */
const GRPC = '/grpc';

/**
 * Serves Envoy's resources of one zone from the index. A change of the index costs the names that it touches: those that were
 * served are encoded again and told where their bytes differ. A resource that Envoy's rules refuse keeps its last good content.
 */
export class EnvoyResources implements ResourceSource<EnvoyView> {
  /**
   * The revision of the index, so that what proxies of all replicas have acked compares. It never falls: after a new incarnation of
   * the store with lower revisions it is ahead of the index by `shift`.
   */
  revision: number;
  readonly model: TrafficModel;
  /** Grows with every change of what there is to list: lists of names hold for one number. */
  private changes = 0;
  private shift = 0;
  private readonly refusedShared = new RefusedResources();
  private readonly authorities = new TrustVersions();
  private readonly table = new DestinationTable();
  private readonly backends = new ReachableBackends();
  private readonly explicit: ExplicitOutbounds;
  private readonly translation: Translation;
  private readonly shared = new Map<string, Kept>();
  /** Scopes of shared resources, besides that of the ingresses. */
  private readonly scopes = new Set<string>();
  private readonly views = new WeakMap<EnvoyView, ViewState>();
  private readonly listeners = new Set<SourceListener<EnvoyView>>();

  constructor(
    private readonly index: IndexReader,
    zone: string,
    private readonly access: AccessSource,
  ) {
    this.revision = index.point?.revision ?? 0;
    this.model = new TrafficModel(index, zone, access);
    this.explicit = new ExplicitOutbounds(this.backends, zone);
    this.translation = new Translation({
      explicit: this.explicit,
      model: this.model,
      index,
      table: this.table,
      httpOf: (view) => this.httpOf(view),
    });
    this.fillTable();
  }

  /** Follows the index until the returned function is called. */
  follow(): () => void {
    const unsubscribe = [
      this.index.subscribe((event) => this.applied(this.model.apply(event), event.point)),
      this.access.onReady(() => this.outside(this.model.accessChanged())),
      this.access.onTls((dataplanes) => this.outside(this.model.tlsChanged(dataplanes))),
    ];
    return () => unsubscribe.forEach((each) => each());
  }

  /** Where in the store's log the source is. */
  get point(): StorePoint | undefined {
    const { point } = this.index;
    return point && { ...point, revision: this.revision - this.shift };
  }

  /** The authorities, by id, that a trust secret of this version holds; undefined where no such secret was served here. */
  authoritiesOf(version: string): readonly string[] | undefined {
    return this.authorities.of(version);
  }

  /** Resources that proxies share and that break Envoy's rules. */
  get refusedCount(): number {
    return this.refusedShared.size;
  }

  refused({ view }: Proxy<EnvoyView>): Iterable<RefusedResource> {
    const { problems } = this.translation.explicitOutbounds(view);
    return [...this.stateOf(view).refused.in([view.mesh]), ...this.refusedShared.in(scopesOf(view)), ...problems];
  }

  get(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const vip = type === cluster ? names.vipOfCluster(name) : undefined;
    const state = this.stateOf(view);
    if (vip !== undefined && state.firstUses.isWaiting(vip)) return 'pending';
    const scopes = scopesOf(view);
    for (const scope of scopes) {
      const found = this.shared.get(`${type} ${scope} ${name}`);
      if (found?.isFresh) return found.resource;
    }
    if (type === secret && name === names.IDENTITY_SECRET && view.identity && !view.identity()) return 'pending';
    const plan = this.translation.plan(view, type, name);
    if (plan === 'pending') return plan;
    const scope = plan?.scope === 'ingress' ? INGRESS : plan?.scope === 'grpc' ? view.mesh + GRPC : view.mesh;
    const refused = plan?.scope === 'view' ? state.refused : this.refusedShared;
    if (!plan) {
      for (const each of scopes) this.refusedShared.remove(each, { type, name });
      state.refused.remove(scope, { type, name });
      return undefined;
    }
    const kept = plan.scope === 'view' ? state.resources : this.shared;
    const key = `${type} ${scope} ${name}`;
    const previous = kept.get(key)?.resource;
    const result = plan.encode(previous);
    if (!result.ok) {
      refused.add(scope, { type, name }, result.violations);
      return previous;
    }
    if (plan.problem) refused.add(scope, { type, name }, [plan.problem]);
    else refused.remove(scope, { type, name });
    if (type === secret && name === names.TRUST_SECRET)
      this.authorities.served(result.resource, this.model.trust(view.mesh));
    if (plan.isKept) kept.set(key, { resource: result.resource, isFresh: true });
    else kept.delete(key);
    if (plan.scope === 'mesh' || plan.scope === 'grpc') this.scopes.add(scope);
    return result.resource;
  }

  names({ view }: Proxy<EnvoyView>, type: string): ReadonlySet<string> {
    const { names: known } = this.stateOf(view);
    const found = known.get(type);
    if (found?.changes === this.changes) return found.names;
    const listed = new Set(type === cluster ? this.clusters(view) : type === listener ? this.listenersOf(view) : []);
    known.set(type, { changes: this.changes, names: listed });
    return listed;
  }

  subscribe(of: SourceListener<EnvoyView>): () => void {
    this.listeners.add(of);
    return () => void this.listeners.delete(of);
  }

  subscribed({ view }: Proxy<EnvoyView>, type: string, asked: readonly string[]): void {
    const { firstUses } = this.stateOf(view);
    firstUses.subscribed(type, asked);
    if (type !== cluster || !hasChains(view)) return;
    const listed = new Set(this.httpOf(view).map(names.hostPort));
    for (const vip of asked.flatMap((name) => names.vipOfCluster(name) ?? [])) {
      const destination = this.table.atVip(view.mesh, vip);
      if (!destination || !isHttp(destination) || listed.has(vip)) continue;
      if (!firstUses.begin({ vip, chain: `fc:${vip}`, routes: destination.name })) continue;
      this.changes += 1;
      this.tell(cluster, [destination.name], { view });
      this.tell(listener, [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER], { view });
    }
  }

  acked({ view }: Proxy<EnvoyView>, type: string): void {
    const done = this.stateOf(view).firstUses.acked(type);
    if (done.length === 0) return;
    this.changes += 1;
    this.tell(
      cluster,
      done.map((vip) => `vip:${vip}`),
      { view },
    );
  }

  /** The workload's certificate is another: it is not of the index. */
  viewChanged(view: EnvoyView): void {
    this.changes += 1;
    this.tell(secret, [names.IDENTITY_SECRET], { view });
  }

  /** A change that is not of the index. */
  private outside(change: ModelChange): void {
    if (change.destinations.length + change.access.length === 0) return;
    this.applied(change, { revision: this.revision - this.shift });
  }

  private applied(change: ModelChange, { revision }: Pick<StorePoint, 'revision'>): void {
    const since = this.revision + 1;
    this.shift = Math.max(this.shift, this.revision - revision);
    this.revision = revision + this.shift;
    if (change.reloaded) return this.reloaded(since);
    const before = this.table.httpVersion;
    for (const each of change.destinations) this.replace(each);
    const changed = new ChangedNames();
    for (const each of change.destinations) changed.addDestination(each);
    for (const each of change.destinations) changed.addOutbounds(this.explicit.touchedBy(each));
    for (const { mesh, zone, dependents } of change.zones) {
      changed.add(endpoints, names.entranceEndpointsName(mesh, zone));
      // gRPC has the addresses of a zone in each service.
      if (this.scopes.has(mesh + GRPC))
        for (const key of dependents) changed.add(endpoints, ...this.model.namesOfService(key));
    }
    changed.add(endpoints, ...change.readdressed);
    if (change.trust.length > 0) changed.add(secret, names.TRUST_SECRET);
    if (this.table.httpVersion !== before) changed.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
    for (const { before: old, after } of change.dataplanes)
      changed.addIngresses(this.translation.ingressesOf(old), this.translation.ingressesOf(after), this.table);
    for (const { before: old, after } of this.withInbounds(change))
      changed.addInbounds(this.translation.changedInbounds(old, after));
    for (const each of change.dataplanes) {
      changed.addOutbounds(this.explicit.replace(each));
      this.addDeclared(each, changed);
    }
    if (changed.isRelisting) this.changes += 1;
    for (const [type, found] of changed) this.tell(type, found, { since });
  }

  /** A Dataplane that declares other services than before: what joins and what leaves the list of its proxies. */
  private addDeclared({ id: { mesh }, before, after }: IndexChange, changed: ChangedNames): void {
    const [old, now] = [declaredBackends(before), declaredBackends(after)];
    if (isDeepStrictEqual(old, now)) return;
    changed.isRelisting = true;
    const namesOf = (refs: readonly BackendRef[] | undefined): ReadonlySet<string> =>
      refs ? this.backends.names(mesh, refs) : new Set([...this.model.destinations()].map(({ name }) => name));
    const [left, joined] = [namesOf(old), namesOf(now)];
    for (const name of new Set([...left, ...joined]))
      if (left.has(name) !== joined.has(name))
        changed.addDestination({ name, before: undefined, after: this.model.destination(name) });
    changed.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
  }

  /** Dataplanes whose inbounds may differ: those that changed, and all of the meshes to which access did. */
  private *withInbounds({ dataplanes, access }: ModelChange): Iterable<Pick<IndexChange, 'before' | 'after'>> {
    yield* dataplanes;
    if (access.length === 0) return;
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone && access.includes(after.id.mesh)) yield { before: undefined, after };
  }

  /** Whoever has subscribed is told of everything that was served and of everything there is; equal bytes are not sent again. */
  private reloaded(since: number): void {
    this.changes += 1;
    const served = [...this.shared.values()].map(({ resource }) => resource);
    this.table.clear();
    this.backends.clear();
    const changed = new ChangedNames();
    changed.addOutbounds(this.explicit.clear());
    this.fillTable(changed);
    for (const { type, name } of served) changed.add(type, name);
    for (const after of this.model.destinations())
      changed.addDestination({ name: after.name, before: undefined, after });
    changed.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
    changed.add(secret, names.TRUST_SECRET);
    for (const [type, found] of changed) this.tell(type, found, { since });
  }

  private replace(change: DestinationChange): void {
    this.table.replace(change);
    this.backends.replace(change);
  }

  private fillTable(changed = new ChangedNames()): void {
    for (const after of this.model.destinations()) this.replace({ name: after.name, before: undefined, after });
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone) changed.addOutbounds(this.explicit.replace({ before: undefined, after }));
  }

  /** `since`: the first revision that holds one of the changes; without it they are of no revision of their own. */
  private tell(
    type: string,
    changed: readonly string[],
    { view, since = this.revision }: { readonly view?: EnvoyView; readonly since?: number },
  ): void {
    for (const name of changed)
      for (const scope of view ? [] : [INGRESS, ...this.scopes]) {
        const key = `${type} ${scope} ${name}`;
        const kept = this.shared.get(key);
        if (kept) this.shared.set(key, { ...kept, isFresh: false });
      }
    const change = { revision: since, type, names: changed, ...(view && { view }) };
    for (const each of this.listeners) each.changed(change);
  }

  private *clusters(view: EnvoyView): Iterable<string> {
    for (const sni of this.translation.serverNames(view)) yield names.ingressClusterName(sni);
    yield* this.translation.inbounds(view).byCluster.keys();
    for (const { destination } of this.translation.explicitOutbounds(view).served.values()) yield destination;
    if (!view.capture) return;
    for (const name of this.listed(view)) {
      const destination = this.translation.destination(view, name);
      if (!destination) continue;
      const isOnDemand = view.capture.type === 'redirect' && !(hasChains(view) && isHttp(destination));
      if (!isOnDemand) yield name;
      else if (destination.vip !== '') yield `vip:${vipOf(destination)}`;
    }
    for (const vip of this.stateOf(view).firstUses.used) {
      const destination = this.table.atVip(view.mesh, vip);
      if (destination) yield destination.name;
    }
  }

  private *listenersOf(view: EnvoyView): Iterable<string> {
    for (const at of this.translation.ingresses(view)) yield names.ingressListenerName(at);
    yield* this.inboundNames(view);
    const { served } = this.translation.explicitOutbounds(view);
    yield* served.keys();
    if (view.capture?.type === 'redirect') yield* [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER];
    if (view.capture?.type !== 'bind') return;
    for (const name of this.listed(view)) {
      const destination = this.translation.destination(view, name);
      if (!destination || destination.vip === '') continue;
      const vip = vipOf(destination);
      if (!served.has(`explicit:${vip}`)) yield `outbound:${vip}`;
    }
  }

  private *inboundNames(view: EnvoyView): Iterable<string> {
    yield* this.translation.inbounds(view).byListener.keys();
  }

  private *listed(view: EnvoyView): Iterable<string> {
    const { mesh } = view;
    const listed = view.listed === 'declared' ? this.declared(view) : view.listed;
    if (listed !== 'all') return yield* listed;
    for (const { name, service } of this.model.destinations()) if (service.mesh === mesh) yield name;
  }

  private declared({ dataplane, mesh, capture }: EnvoyView): ReadonlySet<string> | 'all' {
    const refs = declaredBackends(dataplane && this.index.get(dataplane));
    if (refs) return this.backends.names(mesh, refs);
    return capture?.type === 'bind' ? 'all' : new Set();
  }

  private httpOf(view: EnvoyView): readonly SocketAddress[] {
    if (!hasChains(view)) return [];
    const used = [...this.stateOf(view).firstUses.used].flatMap((vip) => this.table.atVip(view.mesh, vip)?.name ?? []);
    return this.translation.httpAddresses(view, [...this.listed(view), ...used]);
  }

  private stateOf(view: EnvoyView): ViewState {
    const known = this.views.get(view);
    if (known) return known;
    const state: ViewState = {
      ...{ resources: new Map(), names: new Map(), refused: new RefusedResources() },
      firstUses: new FirstUses(),
    };
    this.views.set(view, state);
    return state;
  }
}

/** The scopes in which a view's shared resources are kept. */
function scopesOf(view: EnvoyView): readonly string[] {
  if (view.wire === 'grpc') return [view.mesh + GRPC];
  return view.ingress ? [INGRESS, view.mesh] : [view.mesh];
}
