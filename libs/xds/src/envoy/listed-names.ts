import type { IndexReader } from '@causeway/store';
import type { SocketAddress } from '../model/zone-entrance';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import { declaredBackends } from './dataplane/reachable-backends';
import { vipOf } from './destination-table';
import { hasChains, type EnvoyView } from './envoy-view';
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

/** The lists of one view, each as of a change. */
interface Lists {
  readonly names: Map<string, { readonly changes: number; readonly names: ReadonlySet<string> }>;
  /** HTTP addresses among those that are listed, as of a change of the model. */
  httpVips: { readonly changes: number; readonly vips: ReadonlySet<string> } | undefined;
}

/** The clusters and listeners that proxies hold without asking for them by name. Lists are kept until something may have joined or left. */
export class ListedNames {
  /** Grows with every change of what there is to list. */
  private changes = 0;
  /** Grows with every change of the model. */
  private modelChanges = 0;
  private readonly kept = new WeakMap<EnvoyView, Lists>();

  constructor(private readonly parts: ListedNamesParts) {}

  /** Names may have joined or left lists. */
  relisted(): void {
    this.changes += 1;
  }

  modelChanged(): void {
    this.modelChanges += 1;
  }

  names(view: EnvoyView, type: string): ReadonlySet<string> {
    const { names: known } = this.listsOf(view);
    const found = known.get(type);
    if (found?.changes === this.changes) return found.names;
    const listed = new Set(
      type === RESOURCE_TYPES.cluster
        ? this.clusters(view)
        : type === RESOURCE_TYPES.listener
          ? this.listenersOf(view)
          : [],
    );
    known.set(type, { changes: this.changes, names: listed });
    return listed;
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

  private *clusters(view: EnvoyView): Iterable<string> {
    for (const sni of this.parts.translation.serverNames(view)) yield names.ingressClusterName(sni);
    if (view.egress) yield* this.parts.translation.egress.clusterNames();
    yield* this.parts.translation.inbounds(view).byCluster.keys();
    for (const { destination } of this.parts.translation.explicitOutbounds(view).served.values())
      yield* this.withBackends(view, destination);
    if (!view.capture) return;
    for (const name of this.listed(view)) {
      const destination = this.parts.translation.destination(view, name);
      if (!destination) continue;
      const isByAddress = view.capture.type !== 'bind' && !this.parts.translation.hasChain(view, destination);
      if (!isByAddress) yield* this.withBackends(view, name);
      else if (destination.vip !== '') yield `vip:${vipOf(destination)}`;
    }
    for (const vip of this.parts.used(view)) {
      const destination = this.parts.withheld.atVip(view, vip);
      if (destination && this.parts.translation.hasChain(view, destination))
        yield* this.withBackends(view, destination.name);
    }
  }

  /** The cluster of a destination and those that its routes lead to. */
  private *withBackends(view: EnvoyView, name: string): Iterable<string> {
    yield name;
    const destination = this.parts.translation.destination(view, name);
    if (destination) yield* this.parts.tables().routes.backends(view, destination);
  }

  private *listenersOf(view: EnvoyView): Iterable<string> {
    for (const at of this.parts.translation.ingresses(view)) yield names.ingressListenerName(at);
    if (view.egress) yield names.egressListenerName(view.egress.at);
    yield* this.parts.translation.inbounds(view).byListener.keys();
    const { served } = this.parts.translation.explicitOutbounds(view);
    yield* served.keys();
    if (view.capture?.type === 'redirect') yield* [names.OUTBOUND_LISTENER, names.REENTRY_LISTENER];
    if (view.capture?.type !== 'bind') return;
    for (const name of this.listed(view)) {
      const destination = this.parts.translation.destination(view, name);
      if (!destination || destination.vip === '') continue;
      const vip = vipOf(destination);
      if (!served.has(`explicit:${vip}`)) yield `outbound:${vip}`;
    }
  }

  private *listed(view: EnvoyView): Iterable<string> {
    const listed = view.listed === 'declared' ? this.declared(view) : view.listed;
    const { tables, withheld } = this.parts;
    for (const name of listed === 'all' ? this.destinationsIn(view.mesh) : listed) {
      const destination = tables().model.destination(name);
      if (!destination || !withheld.has(view, destination)) yield name;
    }
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
    const lists: Lists = { names: new Map(), httpVips: undefined };
    this.kept.set(view, lists);
    return lists;
  }
}
