import { identityKey, type StorePoint } from '@causeway/resources';
import type { ChangeSet } from '@causeway/routing';
import { DerivedTable, type FillRunner, type IndexReader } from '@causeway/store';
import type { AccessSource } from '../access/inbound-access';
import { hasOtherConfig } from '../model/compare-destinations';
import type { DestinationConfig } from '../model/destination';
import type { ModelChange } from '../model/model-change';
import type { TrafficModel } from '../tables/traffic-model';
import {
  type EncodedResource,
  type Proxy,
  type RefusedResource,
  RESOURCE_TYPES,
  type ResourceSource,
  type SourceListener,
} from '@causeway/xds-server';
import {
  announcePolicies,
  NO_POLICIES,
  servicesOfAccess,
  type PolicyChange,
  type PolicySource,
} from '../tables/policy-source';
import { KeptHosts, LITERAL_HOSTS } from '../resolution/dialled-hosts';
import { hasChains, findTrustedMesh, type EnvoyView } from '../views/envoy-view';
import type { AnnouncedTo, EnvoyResourcesOptions } from './envoy-resources-options';
import { ListedNames } from './listed-names';
import { BuildTargets } from '../views/build-targets';
import * as names from '../names/resource-names';
import { consumerScope, formatScopeName, listScopes } from './scopes';
import { takeInvalidated, type InvalidatedTargets } from './invalidated-targets';
import { ServedResources, TrustVersions } from './served-resources';
import { trafficDerivation, type TrafficChange, type TrafficTables } from '../tables/traffic-tables';
import { Translation } from './translation';
import { ViewStates } from './view-states';
import { ExcludedServices } from './excluded-services';

const { cluster, listener, secret } = RESOURCE_TYPES;

/** Maximum number of announcements before yielding to the event loop, when policies change. */
const MAX_IN_STEP = 64;

/**
 * Serves Envoy's resources of one zone from the index. A change of the index costs the names that it affects: those that were served are encoded
 * again, and announced if their bytes differ. A resource that violates Envoy's constraints keeps its last good content.
 */
export class EnvoyResources implements ResourceSource<EnvoyView> {
  /**
   * The revision of the index, so that acknowledgements from proxies of all replicas can be compared. It never decreases: after a new incarnation of
   * the store with lower revisions it is ahead of the index by `shift`.
   */
  revision: number;
  private shift = 0;
  /** Resources that proxies of several views share. */
  private readonly shared = new ServedResources<EnvoyView>();
  private readonly authorities = new TrustVersions();
  /** The tables that are served. While the index is being reloaded they keep their state and their revision. */
  readonly loader: DerivedTable<TrafficTables, TrafficChange, ChangeSet>;
  private readonly translation: Translation;
  private readonly excluded: ExcludedServices;
  /** The names that proxies hold without requesting them. */
  readonly lists: ListedNames;
  private readonly made = new BuildTargets();
  /** The revision since which the changes that are announced in slices exist. */
  private announcingSince: number | undefined;
  private readonly policies: PolicySource;
  private readonly hosts: KeptHosts;
  private readonly run: FillRunner;
  private readonly views = new ViewStates();
  private readonly listeners = new Set<SourceListener<EnvoyView>>();

  constructor(
    private readonly index: IndexReader,
    zone: string,
    private readonly access: AccessSource,
    { run, maxAtOnce, routes, policies = NO_POLICIES, hosts = LITERAL_HOSTS }: EnvoyResourcesOptions,
  ) {
    this.hosts = new KeptHosts(hosts);
    this.policies = policies;
    this.run = run;
    this.revision = index.point?.revision ?? 0;
    const derivation = trafficDerivation({ index, zone, access, routes, policies, hosts });
    this.loader = new DerivedTable({ index, derivation, run, source: routes, maxAtOnce });
    this.translation = new Translation({
      tables: () => this.tables,
      listHttpAddresses: (view) => this.lists.http(view),
    });
    this.excluded = new ExcludedServices({ tables: () => this.tables });
    this.lists = new ListedNames({
      tables: () => this.tables,
      translation: this.translation,
      excluded: this.excluded,
      used: (view) => this.views.listUsed(view),
    });
    this.loader.subscribe({ reload: () => this.filledAnew(), apply: (change) => this.changed(change) });
    if (this.loader.hasLoaded) this.filledAnew();
  }

  private get tables(): TrafficTables {
    return this.loader.served;
  }

  get model(): TrafficModel {
    return this.tables.model;
  }

  /** Resolves when the index and the policies are loaded and everything is derived from them: no proxy is answered before. */
  async whenLoaded(): Promise<void> {
    await Promise.all([this.loader.whenLoaded(), this.policies.whenLoaded()]);
  }

  /** Follows the inputs outside the index until the returned function is called. */
  follow(): () => void {
    const unsubscribe = [
      this.access.onReady(() => this.accessChanged()),
      this.access.onTls((dataplanes) => this.outside((model) => model.tlsChanged(dataplanes))),
      this.policies.subscribe({
        reload: () => this.policiesFilledAnew(),
        apply: (change) => this.policiesChanged(change),
      }),
      this.hosts.source.subscribe((name) => this.outside((model) => model.hostsChanged([name]))),
      () => this.loader.close(),
    ];
    return () => unsubscribe.forEach((each) => each());
  }

  /** The position of the source in the store's log. */
  get point(): StorePoint | undefined {
    const { point } = this.index;
    return point && { ...point, revision: this.revision - this.shift };
  }

  /** Returns the authorities, by id, in a trust secret of this version; undefined if no such secret was served here. */
  findAuthorities(version: string): readonly string[] | undefined {
    return this.authorities.of(version);
  }

  /** A counter that grows whenever `refused` or `findAuthorities` may return something else although the streams of a proxy have not changed. */
  get generation(): number {
    return this.shared.refusals + this.authorities.changes + this.tables.explicit.version;
  }

  /** The number of shared resources that violate Envoy's constraints. */
  get refusedCount(): number {
    return this.shared.refusedCount;
  }

  refused({ view }: Proxy<EnvoyView>): Iterable<RefusedResource> {
    const consumers = view.dataplane ? [consumerScope(view, view.dataplane.namespace)] : [];
    const own = this.views.of(view).served.refused([view.mesh, ...consumers]);
    const shared = this.shared.refused([...listScopes(view), ...consumers]);
    return [...own, ...shared, ...this.translation.unserved(view), ...this.lists.unbound(view)];
  }

  get(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const recording = this.made.recording(view, { type, name, group: this.findGroup(view) });
    return this.tables.reads.record(recording, () => this.make(view, type, name));
  }

  private make(view: EnvoyView, type: string, name: string): EncodedResource | 'pending' | undefined {
    const vip = type === cluster ? names.vipOfCluster(name) : undefined;
    const state = this.views.of(view);
    if (this.awaitsChain(view, vip)) return 'pending';
    const inPlace = this.excluded.findReplacement(view, type, name);
    if (inPlace)
      return inPlace === 'absent' ? undefined : state.served.serve(inPlace, { scope: view.mesh, type, name, view });
    const consumers = this.translation.findConsumer(view, type, name);
    // The consumer scope that the view's namespace had, and its refusals, no longer apply.
    const left = consumers === undefined && view.dataplane && consumerScope(view, view.dataplane.namespace);
    if (left && this.shared.hasScope(left)) this.shared.forget(type, [name], [left]);
    const scopes = consumers === undefined ? listScopes(view) : [consumerScope(view, consumers)];
    const known = this.shared.fresh(scopes, type, name);
    if (known) return known;
    if (type === secret && name === names.IDENTITY_SECRET && view.identity && !view.identity()) return 'pending';
    const plan = this.translation.plan(view, type, name);
    if (plan === 'pending') return plan;
    if (plan?.isKept !== true) this.made.noteAbsent(type, name);
    if (!plan) {
      this.shared.forget(type, [name], scopes);
      state.served.forget(type, [name]);
      return undefined;
    }
    const scope = consumers === undefined ? formatScopeName(plan, view) : consumerScope(view, consumers);
    const resource = (plan.scope === 'view' ? state.served : this.shared).serve(plan, { scope, type, name, view });
    const trusting = type === secret ? findTrustedMesh(view, name) : undefined;
    if (resource && trusting !== undefined) this.authorities.served(trusting, resource, this.model.trust(trusting));
    return resource;
  }

  names({ view }: Proxy<EnvoyView>, type: string): ReadonlySet<string> {
    return this.lists.names(view, type);
  }

  released(type: string, name: string): void {
    const reader = this.made.release(type, name);
    if (reader) this.tables.reads.forget(reader);
  }

  takeRelisted(view: EnvoyView, type: string): ReadonlySet<string> {
    return this.lists.takeRelisted(view, type);
  }

  findGroup({ dataplane }: EnvoyView): string | undefined {
    return dataplane && identityKey(dataplane);
  }

  listsOwn(view: EnvoyView): boolean {
    return this.lists.areOwn(view);
  }

  subscribe(of: SourceListener<EnvoyView>): () => void {
    this.listeners.add(of);
    return () => void this.listeners.delete(of);
  }

  subscribed({ view }: Proxy<EnvoyView>, type: string, asked: readonly string[]): void {
    if (this.views.subscribed(view, type, asked)) this.relistIn(view);
    // All names are processed before the first look-up, because each makes name lists stale.
    if (type === cluster) for (const name of asked) this.awaitsChain(view, names.vipOfCluster(name));
  }

  unsubscribed({ view }: Proxy<EnvoyView>, type: string, dropped: readonly string[]): void {
    if (this.views.unsubscribed(view, type, dropped)) this.relistIn(view);
  }

  /**
   * Reports whether the first connection to an address waits for a filter chain. While a proxy keeps asking, a service may come to the address, go,
   * or become HTTP: the address is listed from the first look-up that finds an HTTP service.
   */
  private awaitsChain(view: EnvoyView, vip: string | undefined): boolean {
    if (vip === undefined || !hasChains(view)) return false;
    const { onDemand } = this.views.of(view);
    const destination = this.excluded.atVip(view, vip);
    const { routes } = this.tables;
    if (!destination || !this.translation.hasChain(view, destination)) onDemand.forget(vip);
    else {
      const asked = routes.trafficMode(view, destination) === 'requests' ? destination.name : undefined;
      if (onDemand.has(vip)) onDemand.follow(vip, asked);
      else if (!this.lists.httpVips(view).has(vip)) this.beginUse(view, vip, destination, asked);
    }
    return onDemand.isWaiting(vip);
  }

  /** Lists the address from now on, with its filter chain and the resources that the chain names. */
  private beginUse(view: EnvoyView, vip: string, destination: DestinationConfig, routes: string | undefined): void {
    this.views.of(view).onDemand.begin({ vip, chain: `fc:${vip}`, routes });
    this.relistIn(view);
    this.notify(listener, [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER], { view });
  }

  private relistIn(view: EnvoyView, revision = this.revision): void {
    this.lists.relistedIn(view);
    for (const each of this.listeners) each.relisted({ revision, view });
  }

  acked({ view }: Proxy<EnvoyView>, type: string): void {
    const { onDemand } = this.views.of(view);
    const done = onDemand.acked(type).map((vip) => `vip:${vip}`);
    if (done.length === 0) return;
    this.relistIn(view);
    this.notify(cluster, done, { view });
  }

  /** Announces a new certificate of the workload, or of an egress in `mesh`: certificates are not in the index. */
  viewChanged(view: EnvoyView, mesh?: string): void {
    this.notify(secret, [mesh === undefined ? names.IDENTITY_SECRET : names.egressSecretNames(mesh).identity], {
      view,
    });
  }

  /** Announces a full derivation from the index. */
  private filledAnew(): void {
    const since = this.revision + 1;
    this.hosts.keepOnly(this.model);
    this.moveTo(this.index.point?.revision ?? 0);
    this.announceAll(since);
    this.run(this.forgettingGone());
  }

  /** Announces that any resource may have changed. */
  private announceAll(since: number): void {
    this.lists.relisted();
    this.shared.touchAll();
    for (const each of this.listeners) each.allChanged(since);
  }

  private moveTo(revision: number): void {
    this.shift = Math.max(this.shift, this.revision - revision);
    this.revision = revision + this.shift;
  }

  private changed({ destinations, point }: TrafficChange): void {
    const since = this.revision + 1;
    if (point) this.moveTo(point.revision);
    this.applied(destinations, since);
  }

  private accessChanged(): void {
    this.outside((model) => model.accessChanged(), this.model.affected());
  }

  /** Tables that are served during a reload also apply the new policies. */
  private policiesFilledAnew(): void {
    this.model.rules.forget('all');
    if (this.model.mixesAccess()) return this.loader.refill();
    this.outside((model) => model.accessPoliciesChanged('all'));
    this.announceAll(this.nextRevision);
  }

  /** Announces in slices, because a policy of a mesh affects all its services. Resources that nobody has requested are built on request. */
  private policiesChanged(change: PolicyChange): void {
    const access = servicesOfAccess(change, this.index);
    this.model.rules.forget(access);
    if (access.length > 0) this.outside((model) => model.accessPoliciesChanged(access));
    const since = this.nextRevision;
    announcePolicies(change, this.tables.reads);
    this.announcingSince = Math.min(since, this.announcingSince ?? since);
    this.run(this.announceLater(since));
  }

  /** The revision that will be served once the tables contain all changes of the index. */
  private get nextRevision(): number {
    return Math.max(this.revision, (this.index.point?.revision ?? 0) + this.shift);
  }

  private *announceLater(since: number): Generator<undefined> {
    for (const _ of this.announce(since, MAX_IN_STEP)) {
      this.relist(since);
      yield;
    }
    this.announcingSince = undefined;
  }

  /** Applies a change from outside the index; `cost`: the number of services that it recomputes. */
  private outside(change: (model: TrafficModel) => ModelChange, cost = 0): void {
    this.loader.change((tables) => {
      const found = change(tables.model);
      tables.took(found);
      return found;
    }, cost);
  }

  /** `since`: the first revision that contains the change. */
  private applied(destinations: TrafficChange['destinations'], since: number): void {
    this.hosts.keepOnly(this.model);
    // List membership of a destination may depend on all its fields except its endpoints.
    const relisted = destinations.filter(hasOtherConfig);
    for (const { name } of relisted) this.lists.destinationChanged(name);
    const first = Math.min(since, this.announcingSince ?? since);
    for (const _ of this.announce(first)) continue;
    this.relist(first);
  }

  /** Announces once that lists have changed names, if a destination in them has changed. */
  private relist(revision: number): void {
    if (this.lists.hasChanged()) for (const each of this.listeners) each.relisted({ revision });
  }

  /** Announces the builds whose inputs changed, at most `mostInStep` in a step; all at once by default. */
  private *announce(since: number, mostInStep = Infinity): Generator<undefined> {
    const { reads } = this.tables;
    for (const changed of takeInvalidated(reads, this.made, mostInStep)) {
      this.announceStale(changed, since);
      yield;
      // A reload replaced the tables: everything was announced with the new ones.
      if (this.tables.reads !== reads) return;
    }
  }

  private *forgettingGone(): Generator<void> {
    for (const { type, name } of [...this.shared.kept()]) yield this.forgetGone(type, name);
  }

  /** Drops the kept content of a resource that no longer exists and that nobody may request again. */
  private forgetGone(type: string, name: string): void {
    for (const { scope, view } of [...this.shared.keptIn(type, name)]) {
      const plan = this.translation.plan(view, type, name);
      if (plan === undefined || (plan !== 'pending' && !plan.isKept)) this.shared.forget(type, [name], [scope]);
    }
  }

  private announceStale({ resources, gone, destinations, relisted, views }: InvalidatedTargets, since: number): void {
    for (const { type, group, names } of resources.values()) this.notify(type, names, { since, group });
    for (const { type, name } of gone) this.forgetGone(type, name);
    for (const view of relisted) this.relistIn(view, since);
    for (const view of views) for (const each of this.listeners) each.allChanged(since, view);
    for (const name of destinations) this.lists.destinationChanged(name);
  }

  private notify(
    type: string,
    changed: readonly string[],
    { view, group = view && this.findGroup(view), since = this.revision }: AnnouncedTo,
  ): void {
    if (!view && group === undefined) this.shared.touch(type, changed);
    const target = { ...(view && { view }), ...(group !== undefined && { group }) };
    const change = { revision: since, type, names: changed, ...target };
    for (const each of this.listeners) each.changed(change);
  }
}
