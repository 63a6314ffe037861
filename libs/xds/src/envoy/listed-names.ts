import { identityKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { Destination } from '../model/destination';
import type { SocketAddress } from '../model/zone-entrance';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { ChangedNames } from './changed-names';
import { declaredBackends } from './dataplane/reachable-backends';
import { vipOf } from './destination-table';
import { hasChains, type EnvoyView } from './envoy-view';
import { GivenNames } from './given-names';
import * as names from './names';
import type { TrafficTables } from './traffic-tables';
import type { Translation } from './translation';
import type { WithheldServices } from './withheld';

/** What lists are made of. */
export interface ListedNamesParts {
  readonly tables: () => TrafficTables;
  readonly index: Pick<IndexReader, 'get'>;
  readonly translation: Translation;
  readonly withheld: WithheldServices;
  /** The `address:port` of the HTTP services that the view's proxies asked for themselves. */
  readonly used: (view: EnvoyView) => Iterable<string>;
}

/** One list of a view. */
interface KeptList {
  readonly given: GivenNames;
  /** The changes that it holds: of everything, of the view's group, of the view, and of destinations. */
  version: string;
  position: number;
}

/** The lists of one view. */
interface Lists {
  readonly byType: Map<string, KeptList>;
  /** Grows with every change that concerns this view alone. */
  changes: number;
  /** HTTP addresses among those that are listed, as of a change of the model. */
  httpVips: { readonly changes: number; readonly vips: ReadonlySet<string> } | undefined;
}

/** What a list has of what is the view's own, and of one destination. */
interface ListedType {
  own(view: EnvoyView): Iterable<string>;
  of(view: EnvoyView, destination: Destination, isListed: boolean): Iterable<string>;
}

/** Changed destinations that are remembered; who looks more seldom makes its lists anew. */
const MOST_CHANGED = 16_384;
/** Groups of which changes are remembered. */
const MOST_GROUPS = 16_384;
const OWN = '';
const NONE: ReadonlySet<string> = new Set();

/**
 * The clusters and listeners that proxies hold without asking for them by name. Lists are kept: a destination that changes costs a list
 * what it has of that destination and of the view's own, however many others there are.
 */
export class ListedNames {
  /** Grows with every change after which any list may be another. */
  private changes = 0;
  /** Grows with every change of the model. */
  private modelChanges = 0;
  /** By group, how often its lists may have become others. */
  private readonly groupChanges = new Map<string, number>();
  /** Names of destinations that came, went or became others, in that order; the first has the number `forgotten`. */
  private changed: string[] = [];
  private forgotten = 0;
  private readonly kept = new WeakMap<EnvoyView, Lists>();
  private readonly types: ReadonlyMap<string, ListedType> = new Map<string, ListedType>([
    [
      RESOURCE_TYPES.cluster,
      { own: (view) => this.ownClusters(view), of: (view, each, isListed) => this.clustersOf(view, each, isListed) },
    ],
    [
      RESOURCE_TYPES.listener,
      { own: (view) => this.ownListeners(view), of: (view, each, isListed) => this.listenersOf(view, each, isListed) },
    ],
  ]);

  constructor(private readonly parts: ListedNamesParts) {}

  /** Any name may have joined or left any list. */
  relisted(): void {
    this.changes += 1;
  }

  /** Names may have joined or left the lists of a view. */
  relistedIn(view: EnvoyView): void {
    this.listsOf(view).changes += 1;
  }

  /** Takes what a change may do to lists; `group`: to those of the views of one Dataplane. */
  take({ isRelisting, relisted }: Pick<ChangedNames, 'isRelisting' | 'relisted'>, group?: string): void {
    this.destinationsChanged(relisted);
    if (!isRelisting) return;
    if (group === undefined) this.relisted();
    else this.relistedFor(group);
  }

  private relistedFor(group: string): void {
    this.groupChanges.set(group, (this.groupChanges.get(group) ?? 0) + 1);
    if (this.groupChanges.size <= MOST_GROUPS) return;
    this.groupChanges.clear();
    this.relisted();
  }

  private destinationsChanged(names: Iterable<string>): void {
    for (const name of names) this.changed.push(name);
    if (this.changed.length <= MOST_CHANGED) return;
    const dropped = this.changed.length - MOST_CHANGED / 2;
    this.changed = this.changed.slice(dropped);
    this.forgotten += dropped;
  }

  modelChanged(): void {
    this.modelChanges += 1;
  }

  names(view: EnvoyView, type: string): ReadonlySet<string> {
    const of = this.types.get(type);
    if (!of) return NONE;
    const { byType, changes } = this.listsOf(view);
    const group = view.dataplane ? (this.groupChanges.get(identityKey(view.dataplane)) ?? 0) : 0;
    const version = `${this.changes} ${group} ${changes}`;
    const now = this.forgotten + this.changed.length;
    const known = byType.get(type);
    if (known?.version === version && known.position === now) return known.given.names;
    const isFollowing = known?.version === version && known.position >= this.forgotten;
    const list = isFollowing ? known : { given: new GivenNames(), version, position: now };
    list.given.give(OWN, of.own(view));
    const touched = isFollowing ? this.changed.slice(list.position - this.forgotten) : this.candidates(view);
    const isListed = this.listing(view);
    for (const name of new Set(touched)) {
      const destination = this.parts.tables().model.destination(name);
      list.given.give(name, destination ? of.of(view, destination, isListed(destination)) : []);
    }
    list.position = now;
    byType.set(type, list);
    return list.given.names;
  }

  /** Whether the lists of a view hold what its own Dataplane has, and nothing that services bring or take. */
  areOwn(view: EnvoyView): boolean {
    const { capture, dataplane, egress, listed } = view;
    const { translation, used, index } = this.parts;
    // Without a Dataplane there is no group in which they could be told alone.
    if (!dataplane || egress || translation.ingresses(view).length > 0) return false;
    const { served, problems } = translation.explicitOutbounds(view);
    if (served.size + problems.length > 0) return false;
    if (!capture) return true;
    for (const _ of used(view)) return false;
    if (listed !== 'declared') return listed !== 'all' && listed.size === 0;
    return capture.type === 'redirect' && !declaredBackends(dataplane && index.get(dataplane));
  }

  /** The `address:port` of the HTTP services that are listed for a view. */
  httpVips(view: EnvoyView): ReadonlySet<string> {
    const lists = this.listsOf(view);
    if (lists.httpVips?.changes !== this.modelChanges) {
      const vips = new Set(this.parts.translation.httpAddresses(view, this.listed(view)).map(names.hostPort));
      lists.httpVips = { changes: this.modelChanges, vips };
    }
    return lists.httpVips.vips;
  }

  /** HTTP addresses that have a filter chain in the view's redirect listener: those that are listed or used. */
  http(view: EnvoyView): readonly SocketAddress[] {
    if (!hasChains(view)) return [];
    const used = [...this.parts.used(view)].flatMap((vip) => this.parts.withheld.atVip(view, vip)?.name ?? []);
    return this.parts.translation.httpAddresses(view, [...this.listed(view), ...used]);
  }

  /** The names of all destinations of a mesh. */
  *destinationsIn(mesh: string): Iterable<string> {
    for (const { name, service } of this.parts.tables().model.destinations()) if (service.mesh === mesh) yield name;
  }

  private *ownClusters(view: EnvoyView): Iterable<string> {
    yield* this.parts.translation.inbounds(view).byCluster.keys();
    for (const { destination } of this.parts.translation.explicitOutbounds(view).served.values())
      yield* this.withBackends(view, destination);
    if (!view.capture) return;
    for (const vip of this.parts.used(view)) {
      const destination = this.parts.withheld.atVip(view, vip);
      if (destination && this.parts.translation.hasChain(view, destination))
        yield* this.withBackends(view, destination.name);
    }
  }

  private *clustersOf(view: EnvoyView, destination: Destination, isListed: boolean): Iterable<string> {
    const { translation } = this.parts;
    for (const sni of translation.serverNames(view, destination)) yield names.ingressClusterName(sni);
    if (view.egress) yield* translation.egress.clusterNames(destination);
    if (!view.capture || !isListed) return;
    const isByAddress = view.capture.type !== 'bind' && !translation.hasChain(view, destination);
    if (!isByAddress) yield* this.withBackends(view, destination.name);
    else if (destination.vip !== '') yield `vip:${vipOf(destination)}`;
  }

  /** The cluster of a destination and those that its routes lead to. */
  private *withBackends(view: EnvoyView, name: string): Iterable<string> {
    yield name;
    const destination = this.parts.translation.destination(view, name);
    if (destination) yield* this.parts.tables().routes.backends(view, destination);
  }

  private *ownListeners(view: EnvoyView): Iterable<string> {
    for (const at of this.parts.translation.ingresses(view)) yield names.ingressListenerName(at);
    if (view.egress) yield names.egressListenerName(view.egress.at);
    yield* this.parts.translation.inbounds(view).byListener.keys();
    yield* this.parts.translation.explicitOutbounds(view).served.keys();
    if (view.capture?.type === 'redirect') yield* [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER];
  }

  private *listenersOf(view: EnvoyView, destination: Destination, isListed: boolean): Iterable<string> {
    if (view.capture?.type !== 'bind' || !isListed || destination.vip === '') return;
    const vip = vipOf(destination);
    if (!this.parts.translation.explicitOutbounds(view).served.has(`explicit:${vip}`)) yield `outbound:${vip}`;
  }

  /** The destinations of which a list that is made anew may have something. */
  private candidates(view: EnvoyView): Iterable<string> {
    const { tables, translation } = this.parts;
    if (!view.egress && translation.ingresses(view).length === 0) return view.capture ? this.listed(view) : [];
    return [...tables().model.destinations()].map(({ name }) => name);
  }

  /** Says of a destination whether its clients are told of it without asking. */
  private listing(view: EnvoyView): (destination: Destination) => boolean {
    const listed = this.listedIn(view);
    const { withheld } = this.parts;
    return (each) =>
      each.service.mesh === view.mesh && (listed === 'all' || listed.has(each.name)) && !withheld.has(view, each);
  }

  private *listed(view: EnvoyView): Iterable<string> {
    const listed = this.listedIn(view);
    const { tables, withheld } = this.parts;
    for (const name of listed === 'all' ? this.destinationsIn(view.mesh) : listed) {
      const destination = tables().model.destination(name);
      if (!destination || !withheld.has(view, destination)) yield name;
    }
  }

  private listedIn(view: EnvoyView): ReadonlySet<string> | 'all' {
    return view.listed === 'declared' ? this.declared(view) : view.listed;
  }

  private declared({ dataplane, mesh, capture }: EnvoyView): ReadonlySet<string> | 'all' {
    const declared = declaredBackends(dataplane && this.parts.index.get(dataplane));
    // With `redirect` services are told when they are used.
    const isAll = !declared?.isOwn && capture !== undefined && capture.type !== 'redirect';
    return isAll ? 'all' : this.parts.tables().backends.names(mesh, declared?.refs ?? []);
  }

  private listsOf(view: EnvoyView): Lists {
    const known = this.kept.get(view);
    if (known) return known;
    const lists: Lists = { byType: new Map(), changes: 0, httpVips: undefined };
    this.kept.set(view, lists);
    return lists;
  }
}
