import { compareText } from '@causeway/resources';
import type { DestinationConfig } from '../model/destination';
import type { SocketAddress } from '../model/ingress-endpoint';
import { RESOURCE_TYPES, type RefusedResource } from '@causeway/xds-server';
import { Reader, type Recording } from '../reads/recorded-reads';
import { declaredBackends } from '../dataplane/reachable-backends';
import { formatVip } from '../tables/destination-table';
import { hasChains, requestsUsed, type EnvoyView } from '../views/envoy-view';
import { GivenNames } from '../reads/given-names';
import type { BuildTarget } from '../views/build-targets';
import * as names from '../names/resource-names';
import type { TrafficTables } from '../tables/traffic-tables';
import type { Translation } from './translation';
import { BoundServices, describeUnbound } from './bound-services';
import type { ExcludedServices } from './excluded-services';

/** Inputs of the lists. */
export interface ListedNamesParts {
  readonly tables: () => TrafficTables;
  readonly translation: Translation;
  readonly excluded: ExcludedServices;
  /** Returns the `address:port` of the services that the view's proxies requested: with `redirect`, of HTTP services. */
  readonly used: (view: EnvoyView) => Iterable<string>;
}

/** A kept list of a view. */
interface KeptList {
  readonly given: GivenNames;
  /** Identifies the changes that the list contains: of everything, of the view, and of destinations. */
  readonly version: string;
  position: number;
}

/** The lists of one view. */
interface Lists {
  readonly byType: Map<string, KeptList>;
  /** The reader of the view's own resources. */
  readonly reader: Reader<BuildTarget>;
  readonly bound: BoundServices;
  /** A counter that grows with every change that affects this view alone. */
  changes: number;
}

/** The names in a list from the view's own resources, and from one destination. */
interface ListedType {
  own(view: EnvoyView): Iterable<string>;
  of(view: EnvoyView, destination: DestinationConfig, isListed: boolean): Iterable<string>;
}

/** Maximum number of changed destinations that are remembered; a list that is read more rarely is rebuilt. */
const MAX_CHANGED = 16_384;
const OWN = '';
/** The list of addresses that have a filter chain in the redirect listener of a view. */
const CHAINS = 'chains';
const NONE: ReadonlySet<string> = new Set();

/**
 * Lists the clusters and listeners that proxies hold without requesting them by name. Lists are kept: a changed destination costs a list its own
 * names, however many other destinations there are. The names of a destination in a list are a recorded build like any other, and are computed again
 * when their inputs change.
 */
export class ListedNames {
  /** A counter that grows with every change after which any list may differ. */
  private changes = 0;
  /** Names of destinations whose names in lists may have changed, in the order of their changes; the first entry has the number `forgotten`. */
  private changed: string[] = [];
  private forgotten = 0;
  private announced = 0;
  private readonly kept = new WeakMap<EnvoyView, Lists>();
  private readonly readers = new Map<string, Reader<BuildTarget>>();
  private readonly types: ReadonlyMap<string, ListedType> = new Map<string, ListedType>([
    [
      RESOURCE_TYPES.cluster,
      { own: (view) => this.ownClusters(view), of: (view, each, isListed) => this.listClusters(view, each, isListed) },
    ],
    [
      RESOURCE_TYPES.listener,
      {
        own: (view) => this.ownListeners(view),
        of: (view, each, isListed) => this.listListeners(view, each, isListed),
      },
    ],
    [CHAINS, { own: () => [], of: (view, each, isListed) => this.listChains(view, each, isListed) }],
  ]);

  constructor(private readonly parts: ListedNamesParts) {}

  /** Records that any name may have joined or left any list. */
  relisted(): void {
    this.changes += 1;
    this.readers.clear();
  }

  /** Records that names may have joined or left the lists of a view. */
  relistedIn(view: EnvoyView): void {
    this.getLists(view).changes += 1;
  }

  /** Records that the names of a destination in lists may have changed. */
  destinationChanged(name: string): void {
    this.readers.delete(name);
    this.changed.push(name);
    if (this.changed.length <= MAX_CHANGED) return;
    const dropped = this.changed.length - MAX_CHANGED / 2;
    this.changed = this.changed.slice(dropped);
    this.forgotten += dropped;
  }

  /** Returns whether destinations have changed since the last call. */
  hasChanged(): boolean {
    const position = this.forgotten + this.changed.length;
    const hasMoved = position !== this.announced;
    this.announced = position;
    return hasMoved;
  }

  /** Returns the number of services that a view's proxies listen for because no backends are declared. */
  countBound(view: EnvoyView): number {
    return this.getLists(view).bound.size;
  }

  /** Describes the services that a view's proxies do not listen for because there are too many. */
  unbound(view: EnvoyView): readonly RefusedResource[] {
    return describeUnbound(this.getLists(view).bound.left);
  }

  names(view: EnvoyView, type: string): ReadonlySet<string> {
    return this.list(view, type)?.names ?? NONE;
  }

  /** Returns the names that joined or left a list since the last call; a listener with a changed filter chain is included. */
  takeRelisted(view: EnvoyView, type: string): ReadonlySet<string> {
    const touched = this.list(view, type)?.takeTouched() ?? NONE;
    const hasOtherChains =
      type === RESOURCE_TYPES.listener && hasChains(view) && (this.list(view, CHAINS)?.takeTouched().size ?? 0) > 0;
    return hasOtherChains ? new Set([...touched, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER]) : touched;
  }

  /** Reports whether the lists of a view contain only the resources of its own Dataplane, so that services do not change them. */
  areOwn(view: EnvoyView): boolean {
    const { reader } = this.getLists(view);
    return this.parts.tables().reads.record(recordingFor(reader), () => this.holdOwn(view));
  }

  /** Returns the `address:port` of the HTTP services that are listed for a view. */
  httpVips(view: EnvoyView): ReadonlySet<string> {
    return this.names(view, CHAINS);
  }

  /** Returns the HTTP addresses that have a filter chain in the view's redirect listener: those listed or used. */
  http(view: EnvoyView): readonly SocketAddress[] {
    if (!hasChains(view)) return [];
    const { used, excluded, translation } = this.parts;
    const found = new Set(this.names(view, CHAINS));
    for (const vip of used(view)) {
      const destination = excluded.atVip(view, vip);
      const at = destination && translation.chainAt(view, destination);
      if (at !== undefined) found.add(at);
    }
    return [...found].sort(compareText).map(names.parseHostPort);
  }

  private list(view: EnvoyView, type: string): GivenNames | undefined {
    const of = this.types.get(type);
    if (!of) return undefined;
    const { byType, changes, reader, bound } = this.getLists(view);
    const version = `${this.changes} ${changes}`;
    const now = this.forgotten + this.changed.length;
    const known = byType.get(type);
    if (known?.version === version && known.position === now) return known.given;
    const isFollowing = known?.version === version && known.position >= this.forgotten;
    const list = isFollowing ? known : { given: new GivenNames(), version, position: now };
    const { reads, model } = this.parts.tables();
    const own = recordingFor(reader);
    if (!isFollowing) reads.record(own, () => list.given.give(OWN, of.own(view)));
    const touched = isFollowing
      ? this.changed.slice(list.position - this.forgotten)
      : reads.record(own, () => [...this.candidates(view)]);
    const isListed = reads.record(own, () => this.listing(view));
    for (const name of new Set(touched))
      reads.record({ shared: () => this.getReader(name), own: () => reader }, () => {
        const destination = model.config(name);
        list.given.give(name, destination ? of.of(view, destination, isListed(destination)) : []);
        const next = destination ? undefined : bound.remove(name);
        if (next !== undefined) this.destinationChanged(next);
      });
    if (!isFollowing) list.given.follow(known?.given);
    list.position = now;
    byType.set(type, list);
    // A service that went has made room for another one.
    return this.forgotten + this.changed.length > now ? this.list(view, type) : list.given;
  }

  private getReader(name: string): Reader<BuildTarget> {
    const reader = this.readers.get(name) ?? new Reader<BuildTarget>({ of: 'destination in lists', name });
    this.readers.set(name, reader);
    return reader;
  }

  private holdOwn(view: EnvoyView): boolean {
    const { capture, dataplane, egress, listed } = view;
    const { translation, used, tables } = this.parts;
    // A view without a Dataplane has no resources of its own.
    if (!dataplane || egress || translation.own.ingresses(view).length > 0) return false;
    const { served, problems } = translation.own.explicitOutbounds(view);
    if (served.size + problems.length > 0) return false;
    if (!capture) return true;
    for (const _ of used(view)) return false;
    if (listed !== 'declared') return listed !== 'all' && listed.size === 0;
    return requestsUsed(view) && !declaredBackends(tables().dataplane(dataplane));
  }

  private *destinationsIn(mesh: string): Iterable<DestinationConfig> {
    for (const each of this.parts.tables().model.destinations()) if (each.service.mesh === mesh) yield each;
  }

  private *ownClusters(view: EnvoyView): Iterable<string> {
    yield* this.parts.translation.own.inbounds(view).byCluster.keys();
    for (const { destination } of this.parts.translation.own.explicitOutbounds(view).served.values())
      yield* this.withBackends(view, destination);
    if (!view.capture) return;
    for (const vip of this.parts.used(view)) {
      const destination = this.parts.excluded.atVip(view, vip);
      const hasOwnCluster =
        view.capture.type === 'bind' || (destination && this.parts.translation.hasChain(view, destination));
      if (destination && hasOwnCluster) yield* this.withBackends(view, destination.name);
    }
  }

  private *listClusters(view: EnvoyView, destination: DestinationConfig, isListed: boolean): Iterable<string> {
    const { translation } = this.parts;
    for (const sni of translation.own.serverNames(view, destination)) yield names.ingressClusterName(sni);
    if (view.egress) yield* translation.egress.clusterNames(destination);
    if (!view.capture || !isListed) return;
    const isByAddress = view.capture.type !== 'bind' && !translation.hasChain(view, destination);
    if (!isByAddress) yield* this.withBackends(view, destination.name);
    else if (destination.vip !== '') yield `vip:${formatVip(destination)}`;
  }

  /** Yields the cluster of a destination and those that its routes lead to. */
  private *withBackends(view: EnvoyView, name: string): Iterable<string> {
    yield name;
    const destination = this.parts.translation.config(view, name);
    if (destination) yield* this.parts.tables().routes.backends(view, destination);
  }

  private *ownListeners(view: EnvoyView): Iterable<string> {
    for (const at of this.parts.translation.own.ingresses(view)) yield names.ingressListenerName(at);
    if (view.egress) yield names.egressListenerName(view.egress.at);
    yield* this.parts.translation.own.inbounds(view).byListener.keys();
    yield* this.parts.translation.own.explicitOutbounds(view).served.keys();
    if (view.capture?.type === 'redirect') yield* [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER];
  }

  private *listListeners(view: EnvoyView, destination: DestinationConfig, isListed: boolean): Iterable<string> {
    if (view.capture?.type !== 'bind' || !isListed || destination.vip === '') return;
    const vip = formatVip(destination);
    if (!this.parts.translation.own.isTaken(view, vip)) yield names.formatXdsName('outbound', vip);
  }

  private *listChains(view: EnvoyView, destination: DestinationConfig, isListed: boolean): Iterable<string> {
    const at = isListed && hasChains(view) ? this.parts.translation.chainAt(view, destination) : undefined;
    if (at !== undefined) yield at;
  }

  /** Yields the destinations that may contribute to a list that is rebuilt. */
  private candidates(view: EnvoyView): Iterable<string> {
    const { tables, translation } = this.parts;
    if (!view.egress && translation.own.ingresses(view).length === 0) return view.capture ? this.listedNames(view) : [];
    return [...tables().model.destinations()].map(({ name }) => name);
  }

  /** Returns a predicate: whether clients get a destination without requesting it. */
  private listing(view: EnvoyView): (destination: DestinationConfig) => boolean {
    const listed = this.listedIn(view);
    const { excluded } = this.parts;
    const { bound } = this.getLists(view);
    const isBounded = isBoundedBind(view);
    const isIn = ({ name, vip }: DestinationConfig): boolean =>
      listed === 'all' ? !isBounded || vip === '' || bound.admit(name) : listed.has(name);
    return (each) => each.service.mesh === view.mesh && !excluded.has(view, each) && isIn(each);
  }

  private listedNames(view: EnvoyView): Iterable<string> {
    const listed = this.listedIn(view);
    if (listed !== 'all') return listed;
    const all = this.destinationsIn(view.mesh);
    return isBoundedBind(view) ? this.getLists(view).bound.order(all) : listNames(all);
  }

  private listedIn(view: EnvoyView): ReadonlySet<string> | 'all' {
    return view.listed === 'declared' ? this.declared(view) : view.listed;
  }

  private declared(view: EnvoyView): ReadonlySet<string> | 'all' {
    const { dataplane, mesh, capture } = view;
    const declared = declaredBackends(this.parts.tables().dataplane(dataplane));
    const isAll = !declared?.isOwn && capture !== undefined && !requestsUsed(view);
    return isAll ? 'all' : this.parts.tables().backends.names(mesh, declared?.refs ?? []);
  }

  private getLists(view: EnvoyView): Lists {
    const known = this.kept.get(view);
    if (known) return known;
    const reader = new Reader<BuildTarget>({ of: 'lists', view });
    const lists: Lists = { byType: new Map(), reader, changes: 0, bound: new BoundServices() };
    this.kept.set(view, lists);
    return lists;
  }
}

function* listNames(destinations: Iterable<DestinationConfig>): Iterable<string> {
  for (const { name } of destinations) yield name;
}

/** Reports whether the services of a view are those that `bind` listens for although no backends are declared. */
function isBoundedBind({ capture, listed }: EnvoyView): boolean {
  return capture?.type === 'bind' && listed === 'declared';
}

function recordingFor(reader: Reader<BuildTarget>): Recording<BuildTarget> {
  return { shared: () => reader, own: () => reader };
}
