import { isDeepStrictEqual } from 'node:util';
import type { StorePoint } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { TrafficModel, type DestinationChange, type ModelChange } from '../model/traffic-model';
import type { SocketAddress } from '../model/zone-entrance';
import { RESOURCE_TYPES, type EncodedResource } from '../resources/encoded-resource';
import type { Proxy, RefusedResource, ResourceSource, SourceListener } from '../server/resource-source';
import { isHttp } from './clusters';
import { ChangedNames, concernsEgress } from './changed-names';
import { DestinationTable, vipOf } from './destination-table';
import { hasChains, trustedMeshOf, type EnvoyView } from './envoy-view';
import { ExplicitOutbounds } from './explicit-outbounds';
import * as names from './names';
import { OnDemandAddresses } from './on-demand-addresses';
import { declaredBackends, ReachableBackends, type BackendRef } from './reachable-backends';
import { ServedResources, TrustVersions } from './served-resources';
import { Translation } from './translation';

const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;

/** What is kept for one view as long as the view is. */
interface ViewState {
  /** Resources that are made for this view. */
  readonly served: ServedResources;
  readonly names: Map<string, { readonly changes: number; readonly names: ReadonlySet<string> }>;
  readonly onDemand: OnDemandAddresses;
  /** HTTP addresses among those that are listed, as of a change of the model. */
  listedHttp: { readonly changes: number; readonly vips: ReadonlySet<string> } | undefined;
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
  /** Grows with every change of the model. */
  private modelChanges = 0;
  private shift = 0;
  /** Resources that proxies of several views share. */
  private readonly shared = new ServedResources();
  private readonly authorities = new TrustVersions();
  private readonly table = new DestinationTable();
  private readonly backends = new ReachableBackends();
  private readonly explicit: ExplicitOutbounds;
  private readonly translation: Translation;
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
    return this.shared.refusedCount;
  }

  refused({ view }: Proxy<EnvoyView>): Iterable<RefusedResource> {
    const { problems } = this.translation.explicitOutbounds(view);
    return [...this.stateOf(view).served.refused([view.mesh]), ...this.shared.refused(scopesOf(view)), ...problems];
  }

  get(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const vip = type === cluster ? names.vipOfCluster(name) : undefined;
    const state = this.stateOf(view);
    if (this.awaitsChain(view, vip)) return 'pending';
    const scopes = scopesOf(view);
    const known = this.shared.fresh(scopes, type, name);
    if (known) return known;
    if (type === secret && name === names.IDENTITY_SECRET && view.identity && !view.identity()) return 'pending';
    const plan = this.translation.plan(view, type, name);
    if (plan === 'pending') return plan;
    if (!plan) {
      this.shared.forget(type, [name], scopes);
      state.served.forget(type, [name]);
      return undefined;
    }
    const scope = plan.scope === 'ingress' ? INGRESS : plan.scope === 'grpc' ? view.mesh + GRPC : view.mesh;
    const resource = (plan.scope === 'view' ? state.served : this.shared).serve(plan, { scope, type, name });
    const trusting = type === secret ? trustedMeshOf(view, name) : undefined;
    if (resource && trusting !== undefined) this.authorities.served(resource, this.model.trust(trusting));
    return resource;
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
    this.stateOf(view).onDemand.subscribed(type, asked);
    // All at once, before the first of them is looked up: each makes lists of names stale.
    if (type === cluster) for (const name of asked) this.awaitsChain(view, names.vipOfCluster(name));
  }

  unsubscribed({ view }: Proxy<EnvoyView>, type: string, dropped: readonly string[]): void {
    this.stateOf(view).onDemand.unsubscribed(type, dropped);
  }

  /**
   * Whether the first connection to an address that a proxy asked for waits for a filter chain. A service may come to the address, go,
   * or become HTTP, while the proxy goes on asking: from the first look at which it is HTTP the address is listed.
   */
  private awaitsChain(view: EnvoyView, vip: string | undefined): boolean {
    if (vip === undefined || !hasChains(view)) return false;
    const { onDemand } = this.stateOf(view);
    const destination = this.table.atVip(view.mesh, vip);
    if (!destination || !isHttp(destination)) onDemand.forget(vip);
    else if (onDemand.has(vip)) onDemand.follow(vip, destination.name);
    else if (!this.listedHttp(view).has(vip)) {
      onDemand.begin({ vip, chain: `fc:${vip}`, routes: destination.name });
      this.changes += 1;
      this.tell(cluster, [destination.name], { view });
      this.tell(listener, [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER], { view });
    }
    return onDemand.isWaiting(vip);
  }

  /** The `address:port` of the HTTP services that are listed for a view. */
  private listedHttp(view: EnvoyView): ReadonlySet<string> {
    const state = this.stateOf(view);
    if (state.listedHttp?.changes !== this.modelChanges) {
      const vips = new Set(this.translation.httpAddresses(view, this.listed(view)).map(names.hostPort));
      state.listedHttp = { changes: this.modelChanges, vips };
    }
    return state.listedHttp.vips;
  }

  acked({ view }: Proxy<EnvoyView>, type: string): void {
    const done = this.stateOf(view).onDemand.acked(type);
    if (done.length === 0) return;
    this.changes += 1;
    this.tell(
      cluster,
      done.map((vip) => `vip:${vip}`),
      { view },
    );
  }

  /** The workload's certificate is another, or that of an egress in `mesh`: it is not of the index. */
  viewChanged(view: EnvoyView, mesh?: string): void {
    this.changes += 1;
    this.tell(secret, [mesh === undefined ? names.IDENTITY_SECRET : names.egressSecretNames(mesh).identity], { view });
  }

  /** A change that is not of the index. */
  private outside(change: ModelChange): void {
    if (change.destinations.length + change.access.length === 0) return;
    this.applied(change, { revision: this.revision - this.shift });
  }

  private applied(change: ModelChange, { revision }: Pick<StorePoint, 'revision'>): void {
    this.modelChanges += 1;
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
      if (this.shared.hasScope(mesh + GRPC))
        for (const key of dependents) changed.add(endpoints, ...this.model.namesOfService(key));
    }
    changed.add(endpoints, ...change.readdressed);
    changed.addEgressTrust(change.trust);
    if (this.table.httpVersion !== before) changed.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
    if (concernsEgress(change)) changed.addEgress(this.model.egress.addresses, this.translation.leavingMeshes());
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
    if (change.trust.length > 0) this.tell(secret, [names.TRUST_SECRET], { since, meshes: change.trust });
    // What is kept of destinations that are gone: nobody may ask for it again.
    const gone = new ChangedNames();
    for (const each of change.destinations) if (!each.after) gone.addDestination(each);
    for (const [type, found] of gone) this.shared.forget(type, found);
  }

  /** A Dataplane that declares other services than before: what joins and what leaves the list of its proxies. */
  private addDeclared({ id: { mesh }, before, after }: IndexChange, changed: ChangedNames): void {
    // Without a Dataplane its proxies are not served, so one that comes or goes changes what it declares, and no more.
    const comesOrGoes = !before || !after;
    const [old, now] = [before, after].map((each) => declaredBackends(each) ?? (comesOrGoes ? [] : undefined));
    if (isDeepStrictEqual(old, now)) return;
    changed.isRelisting = true;
    const namesOf = (refs: readonly BackendRef[] | undefined): ReadonlySet<string> =>
      refs ? this.backends.names(mesh, refs) : new Set(this.destinationsIn(mesh));
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
    const served = [...this.shared.all()];
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
    changed.addEgress(this.model.egress.addresses, this.translation.leavingMeshes());
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

  /**
   * `since`: the first revision that holds one of the changes; without it they are of no revision of their own. `meshes`: only those
   * are touched, whoever asks for the names.
   */
  private tell(
    type: string,
    changed: readonly string[],
    {
      view,
      meshes,
      since = this.revision,
    }: { readonly view?: EnvoyView; readonly meshes?: readonly string[]; readonly since?: number },
  ): void {
    if (!view) this.shared.touch(type, changed, meshes);
    const change = { revision: since, type, names: changed, ...(view && { view }) };
    for (const each of this.listeners) each.changed(change);
  }

  private *clusters(view: EnvoyView): Iterable<string> {
    for (const sni of this.translation.serverNames(view)) yield names.ingressClusterName(sni);
    if (view.egress) for (const name of this.table.egressServerNames()) yield names.egressClusterName(name);
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
    for (const vip of this.stateOf(view).onDemand.used) {
      const destination = this.table.atVip(view.mesh, vip);
      if (destination && isHttp(destination)) yield destination.name;
    }
  }

  private *listenersOf(view: EnvoyView): Iterable<string> {
    for (const at of this.translation.ingresses(view)) yield names.ingressListenerName(at);
    if (view.egress) yield names.egressListenerName(view.egress.at);
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
    yield* this.destinationsIn(mesh);
  }

  private *destinationsIn(mesh: string): Iterable<string> {
    for (const { name, service } of this.model.destinations()) if (service.mesh === mesh) yield name;
  }

  private declared({ dataplane, mesh, capture }: EnvoyView): ReadonlySet<string> | 'all' {
    const refs = declaredBackends(dataplane && this.index.get(dataplane));
    if (refs) return this.backends.names(mesh, refs);
    return capture?.type === 'bind' ? 'all' : new Set();
  }

  private httpOf(view: EnvoyView): readonly SocketAddress[] {
    if (!hasChains(view)) return [];
    const used = [...this.stateOf(view).onDemand.used].flatMap((vip) => this.table.atVip(view.mesh, vip)?.name ?? []);
    return this.translation.httpAddresses(view, [...this.listed(view), ...used]);
  }

  private stateOf(view: EnvoyView): ViewState {
    const known = this.views.get(view);
    if (known) return known;
    const state: ViewState = {
      ...{ served: new ServedResources(), names: new Map() },
      ...{ onDemand: new OnDemandAddresses(), listedHttp: undefined },
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
