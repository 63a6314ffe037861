import type { Violation } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { AccessSource } from '../model/inbound-access';
import { TrafficModel, type DestinationChange, type ModelChange } from '../model/traffic-model';
import type { SocketAddress } from '../model/zone-entrance';
import { RESOURCE_TYPES, type EncodedResource } from '../resources/encoded-resource';
import type { Proxy, ResourceSource, SourceListener } from '../server/resource-source';
import { isHttp } from './clusters';
import { DestinationTable, serverNames, vipOf } from './destination-table';
import type { EnvoyView } from './envoy-view';
import { FirstUses } from './first-uses';
import * as names from './names';
import { Translation } from './translation';

const { cluster, endpoints, listener, filterChain, routes, secret } = RESOURCE_TYPES;

/** A resource that was served. Until a change touches it, it is served again without a look at the model. */
interface Kept {
  readonly resource: EncodedResource;
  readonly isFresh: boolean;
}

/** What is kept for one view as long as the view is. */
interface ViewState {
  readonly resources: Map<string, Kept>;
  readonly names: Map<string, { readonly revision: number; readonly names: ReadonlySet<string> }>;
  readonly firstUses: FirstUses;
}

/** The scope of what ingresses share; no mesh has this name. */
const INGRESS = '/ingress';
/** Most refused resources that are remembered. */
const MOST_REFUSED = 1_000;

/**
 * Serves Envoy's resources of one zone from the index. A change of the index costs the names that it touches: those that were
 * served are encoded again and told where their bytes differ. A resource that Envoy's rules refuse keeps its last good content.
 */
export class EnvoyResources implements ResourceSource<EnvoyView> {
  revision = 0;
  /** Resources that break Envoy's rules, `<type> <name>` → violations. */
  readonly refused = new Map<string, readonly Violation[]>();
  readonly model: TrafficModel;
  private readonly table = new DestinationTable();
  private readonly translation: Translation;
  private readonly shared = new Map<string, Kept>();
  /** Meshes of views: the scopes of shared resources. */
  private readonly meshes = new Set<string>();
  private readonly views = new WeakMap<EnvoyView, ViewState>();
  private readonly listeners = new Set<SourceListener<EnvoyView>>();

  constructor(
    private readonly index: IndexReader,
    zone: string,
    access: AccessSource,
  ) {
    this.model = new TrafficModel(index, zone, access);
    this.translation = new Translation({
      model: this.model,
      index,
      table: this.table,
      httpOf: (view) => this.httpOf(view),
    });
    this.fillTable();
  }

  /** Follows the index until the returned function is called. */
  follow(): () => void {
    return this.index.subscribe((event) => this.applied(this.model.apply(event)));
  }

  get(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const vip = type === cluster ? names.vipOfCluster(name) : undefined;
    const state = this.stateOf(view);
    if (vip !== undefined && state.firstUses.isWaiting(vip)) return 'pending';
    const scopes = view.ingress ? [INGRESS, view.mesh] : [view.mesh];
    for (const scope of scopes) {
      const found = this.shared.get(`${type} ${scope} ${name}`);
      if (found?.isFresh) return found.resource;
    }
    const plan = this.translation.plan(view, type, name);
    if (!plan || plan === 'pending') return plan;
    const kept = plan.scope === 'view' ? state.resources : this.shared;
    const key = `${type} ${plan.scope === 'ingress' ? INGRESS : view.mesh} ${name}`;
    const previous = kept.get(key)?.resource;
    const result = plan.encode(previous);
    if (!result.ok) {
      if (this.refused.size < MOST_REFUSED) this.refused.set(`${type} ${name}`, result.violations);
      return previous;
    }
    this.refused.delete(`${type} ${name}`);
    if (plan.isKept) kept.set(key, { resource: result.resource, isFresh: true });
    else kept.delete(key);
    this.meshes.add(view.mesh);
    return result.resource;
  }

  names({ view }: Proxy<EnvoyView>, type: string): ReadonlySet<string> {
    const { names: known } = this.stateOf(view);
    const found = known.get(type);
    if (found?.revision === this.revision) return found.names;
    const listed = new Set(type === cluster ? this.clusters(view) : type === listener ? this.listenersOf(view) : []);
    known.set(type, { revision: this.revision, names: listed });
    return listed;
  }

  subscribe(of: SourceListener<EnvoyView>): () => void {
    this.listeners.add(of);
    return () => void this.listeners.delete(of);
  }

  subscribed({ view }: Proxy<EnvoyView>, type: string, asked: readonly string[]): void {
    const { firstUses } = this.stateOf(view);
    firstUses.subscribed(type, asked);
    if (type !== cluster || view.capture?.type !== 'redirect') return;
    const listed = new Set(this.httpOf(view).map(names.hostPort));
    for (const vip of asked.flatMap((name) => names.vipOfCluster(name) ?? [])) {
      const destination = this.table.atVip(view.mesh, vip);
      if (!destination || !isHttp(destination) || listed.has(vip)) continue;
      if (!firstUses.begin({ vip, chain: `fc:${vip}`, routes: destination.name })) continue;
      this.revision += 1;
      this.tell(cluster, [destination.name], view);
      this.tell(listener, [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER], view);
    }
  }

  acked({ view }: Proxy<EnvoyView>, type: string): void {
    const done = this.stateOf(view).firstUses.acked(type);
    if (done.length === 0) return;
    this.revision += 1;
    this.tell(
      cluster,
      done.map((vip) => `vip:${vip}`),
      view,
    );
  }

  /** The workload's certificate is another: it is not of the index. */
  viewChanged(view: EnvoyView): void {
    this.revision += 1;
    this.tell(secret, [names.IDENTITY_SECRET], view);
  }

  /** What decides about access besides the index has changed: a first state is complete. */
  accessChanged(): void {
    this.applied(this.model.accessChanged());
  }

  private applied(change: ModelChange): void {
    this.revision += 1;
    if (change.reloaded) return this.reloaded();
    const before = this.table.httpVersion;
    for (const each of change.destinations) this.table.replace(each);
    const changed = new Map<string, Set<string>>();
    const add = (type: string, ...found: readonly string[]): void => {
      const ofType = changed.get(type) ?? new Set();
      for (const name of found) ofType.add(name);
      changed.set(type, ofType);
    };
    for (const each of change.destinations) addNames(each, add);
    for (const { mesh, zone } of change.zones) add(endpoints, names.entranceEndpointsName(mesh, zone));
    add(endpoints, ...change.readdressed);
    if (change.trust.length > 0) add(secret, names.TRUST_SECRET);
    if (this.table.httpVersion !== before) add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
    for (const { before: old, after } of this.withInbounds(change))
      for (const inbound of [...this.translation.inboundsOf(old), ...this.translation.inboundsOf(after)]) {
        add(listener, names.inboundListenerName(inbound.at));
        add(cluster, inbound.clusterName);
      }
    for (const [type, found] of changed) if (found.size > 0) this.tell(type, [...found]);
  }

  /** Dataplanes whose inbounds may differ: those that changed, and all of the meshes to which access did. */
  private *withInbounds({ dataplanes, access }: ModelChange): Iterable<Pick<IndexChange, 'before' | 'after'>> {
    yield* dataplanes;
    if (access.length === 0) return;
    for (const after of this.index.ofKind('Dataplane'))
      if (after.id.zone === this.model.zone && access.includes(after.id.mesh)) yield { before: undefined, after };
  }

  /** Whoever has subscribed is told of everything that was served and of everything there is; equal bytes are not sent again. */
  private reloaded(): void {
    const served = [...this.shared.values()].map(({ resource }) => resource);
    this.table.clear();
    this.fillTable();
    for (const type of Object.values(RESOURCE_TYPES)) {
      const held = served.filter((each) => each.type === type).map(({ name }) => name);
      const found = new Set([...held, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER, names.TRUST_SECRET]);
      const add = (of: string, ...more: readonly string[]): void => {
        for (const name of of === type ? more : []) found.add(name);
      };
      for (const after of this.model.destinations()) addNames({ name: after.name, before: undefined, after }, add);
      this.tell(type, [...found]);
    }
  }

  private fillTable(): void {
    for (const after of this.model.destinations()) this.table.replace({ name: after.name, before: undefined, after });
  }

  private tell(type: string, changed: readonly string[], view?: EnvoyView): void {
    for (const name of changed)
      for (const mesh of view ? [] : [INGRESS, ...this.meshes]) {
        const key = `${type} ${mesh} ${name}`;
        const kept = this.shared.get(key);
        if (kept) this.shared.set(key, { ...kept, isFresh: false });
      }
    const change = { revision: this.revision, type, names: changed, ...(view && { view }) };
    for (const each of this.listeners) each.changed(change);
  }

  private *clusters(view: EnvoyView): Iterable<string> {
    if (view.ingress) for (const sni of this.table.serverNames()) yield names.ingressClusterName(sni);
    for (const { clusterName } of this.translation.inbounds(view)) yield clusterName;
    if (!view.capture) return;
    for (const name of this.listed(view)) {
      const destination = this.translation.destination(view, name);
      if (!destination) continue;
      const isOnDemand = view.capture.type === 'redirect' && !isHttp(destination);
      if (!isOnDemand) yield name;
      else if (destination.vip !== '') yield `vip:${vipOf(destination)}`;
    }
    for (const vip of this.stateOf(view).firstUses.used) {
      const destination = this.table.atVip(view.mesh, vip);
      if (destination) yield destination.name;
    }
  }

  private *listenersOf(view: EnvoyView): Iterable<string> {
    if (view.ingress) yield names.ingressListenerName(view.ingress);
    yield* this.inboundNames(view);
    if (view.capture?.type === 'redirect') yield* [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER];
    if (view.capture?.type !== 'bind') return;
    for (const name of this.listed(view)) {
      const destination = this.translation.destination(view, name);
      if (destination && destination.vip !== '') yield `outbound:${vipOf(destination)}`;
    }
  }

  private *inboundNames(view: EnvoyView): Iterable<string> {
    for (const { at } of this.translation.inbounds(view)) yield names.inboundListenerName(at);
  }

  private *listed({ listed, mesh }: EnvoyView): Iterable<string> {
    if (listed !== 'all') return yield* listed;
    for (const { name, service } of this.model.destinations()) if (service.mesh === mesh) yield name;
  }

  private httpOf(view: EnvoyView): readonly SocketAddress[] {
    const used = [...this.stateOf(view).firstUses.used].flatMap((vip) => this.table.atVip(view.mesh, vip)?.name ?? []);
    return this.translation.httpAddresses(view, [...this.listed(view), ...used]);
  }

  private stateOf(view: EnvoyView): ViewState {
    const known = this.views.get(view);
    if (known) return known;
    const state: ViewState = { resources: new Map(), names: new Map(), firstUses: new FirstUses() };
    this.views.set(view, state);
    return state;
  }
}

/** The names of all resources that a destination is in. */
function addNames(change: DestinationChange, add: (type: string, ...found: readonly string[]) => void): void {
  const { name, before, after } = change;
  add(cluster, name);
  add(endpoints, name, names.localEndpointsName(name));
  add(routes, name);
  for (const each of [before, after]) {
    if (!each) continue;
    add(cluster, ...serverNames(each).map(names.ingressClusterName));
    if (each.vip === '') continue;
    const vip = vipOf(each);
    add(cluster, `vip:${vip}`);
    add(listener, `outbound:${vip}`);
    add(filterChain, `fc:${vip}`);
  }
}
