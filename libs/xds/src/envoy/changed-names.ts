import { isDeepStrictEqual } from 'node:util';
import type { Destination } from '../model/destination';
import type { DestinationChange, ModelChange } from '../model/model-change';
import type { TrafficModel } from '../model/traffic-model';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { SocketAddress } from '../model/zone-entrance';
import type { TouchedOutbounds } from './dataplane/explicit-outbounds';
import { type DestinationTable, serverNames, targetsOf, vipOf } from './destination-table';
import type { Inbound } from './dataplane/inbound';
import * as names from './names';
import type { RouteChange } from './service-routes';
import type { TrafficChange, TrafficTables } from './traffic-tables';

const { cluster, endpoints, listener, filterChain, routes, secret, hostName } = RESOURCE_TYPES;

/** What of the tables says what a change of routes means. */
type RouteTables = Pick<TrafficTables, 'explicit' | 'routes'> & { readonly model: Pick<TrafficModel, 'destination'> };

/** The names of resources whose content may differ after a change, by type. */
export class ChangedNames {
  /** Names may have joined or left what proxies list, beside those of `relisted`. */
  isRelisting = false;
  /** Destinations of which lists may have other names. */
  readonly relisted = new Set<string>();
  private readonly byType = new Map<string, Set<string>>();

  add(type: string, ...changed: readonly string[]): void {
    const ofType = this.byType.get(type) ?? new Set<string>();
    for (const name of changed) ofType.add(name);
    this.byType.set(type, ofType);
  }

  /** All resources that a destination is in. */
  addDestination(change: DestinationChange): void {
    const { name, before, after } = change;
    if (isListedOtherwise(change)) {
      this.relisted.add(name);
      // What a hostname means depends on no endpoint.
      this.add(hostName, ...(before?.hostnames ?? []), ...(after?.hostnames ?? []));
    }
    this.add(cluster, name, names.localEndpointsName(name));
    this.add(endpoints, name, names.localEndpointsName(name));
    this.add(routes, name);
    for (const each of [before, after]) {
      if (!each) continue;
      this.add(cluster, ...serverNames(each).map(names.ingressClusterName));
      this.add(listener, ...targetsOf(each));
      if (each.egress) this.add(cluster, ...names.egressClusterNames(each.egress.serverName));
      if (each.vip === '') continue;
      const vip = vipOf(each);
      this.add(cluster, `vip:${vip}`);
      this.add(listener, `outbound:${vip}`);
      this.add(filterChain, `fc:${vip}`);
    }
  }

  /**
   * Other routes of a destination. Clusters that they lead to are told first; what carries its traffic only where it does so in another
   * way, or holds the shares of connections itself.
   */
  private addRoutes(
    { name, clusters, isCarriedOtherwise, isShared }: RouteChange,
    destination: Destination | undefined,
  ): void {
    this.add(cluster, ...clusters);
    this.add(routes, name);
    if (clusters.length > 0 || isCarriedOtherwise) this.relisted.add(name);
    // Those of gRPC channels hold the routes.
    if (destination) this.add(listener, ...targetsOf(destination));
    if (!destination || !(isCarriedOtherwise || isShared)) return;
    this.add(cluster, name);
    if (destination.vip === '') return;
    const vip = vipOf(destination);
    this.add(cluster, `vip:${vip}`);
    this.add(listener, `outbound:${vip}`);
    this.add(filterChain, `fc:${vip}`);
    if (isCarriedOtherwise) this.add(listener, names.OUTBOUND_LISTENER, names.REENTRY_LISTENER);
  }

  /** What other routes change, and other instances of what routes lead to; a destination that is gone takes what it led to with it. */
  addRoutesOf({ routes: changes, destinations }: TrafficChange, tables: RouteTables): void {
    const { model, explicit, routes: bound } = tables;
    for (const each of changes) {
      const destination = model.destination(each.name);
      this.addRoutes(each, destination);
      if (!destination || !(each.isCarriedOtherwise || each.isShared)) continue;
      this.addOutbounds(explicit.touchedBy({ name: destination.name, before: undefined, after: destination }));
    }
    for (const { name, after } of destinations) {
      if (!after) this.add(cluster, ...bound.forget(name));
      for (const weighed of bound.weighedBy(name)) this.add(routes, weighed);
    }
  }

  /** Other policies of the rules at a port of a service: its routes, wherever they are told. */
  addPolicies(destination: Destination | undefined): void {
    if (!destination) return;
    this.add(routes, destination.name);
    this.add(listener, ...targetsOf(destination));
  }

  /** Other policies on how a destination is reached; its own routes say by what of a request an instance is chosen. */
  addBackendPolicies(destination: Destination | undefined): void {
    if (!destination) return;
    const { name } = destination;
    // gRPC clients have endpoints of this zone as clusters of their own.
    this.add(cluster, name, names.localEndpointsName(name));
    this.add(endpoints, name, names.localEndpointsName(name));
    this.addPolicies(destination);
    if (destination.vip !== '') this.add(cluster, `vip:${vipOf(destination)}`);
  }

  /** Other policies on what these inbounds take, and what these gRPC servers do in place of a proxy's inbound. */
  addInboundPolicies(inbounds: readonly Inbound[], servers: readonly string[]): void {
    this.add(listener, ...servers);
    this.add(listener, ...inbounds.map(({ at }) => names.inboundListenerName(at)));
  }

  /** Other policies on who may leave for a destination: the egress may have it under the other of its names. */
  addEgressPolicies(destination: Destination | undefined, egresses: readonly SocketAddress[]): void {
    if (!destination?.egress) return;
    this.add(cluster, ...names.egressClusterNames(destination.egress.serverName));
    this.relisted.add(destination.name);
    this.add(listener, ...egresses.map(names.egressListenerName));
  }

  /** An address that an explicit outbound takes or leaves is, or was, no address of a service that is bound there. */
  addOutbounds({ listeners, clusters }: TouchedOutbounds): void {
    if (listeners.size > 0) this.isRelisting = true;
    for (const name of listeners) this.add(listener, name, name.replace(/^explicit:/, 'outbound:'));
    this.add(cluster, ...clusters);
  }

  /** The listeners of an ingress have changed; with the first or the last of them all its clusters come or go. */
  addIngresses(before: readonly SocketAddress[], after: readonly SocketAddress[], table: DestinationTable): void {
    this.add(listener, ...[...before, ...after].map(names.ingressListenerName));
    if (!isDeepStrictEqual(before, after)) this.isRelisting = true;
    if (before.length > 0 === after.length > 0) return;
    for (const sni of table.serverNames()) this.add(cluster, names.ingressClusterName(sni));
  }

  /** These inbounds came, went or differ, and what these gRPC servers have in place of a proxy's inbound. */
  addInbounds(inbounds: readonly Inbound[], servers: readonly string[]): void {
    this.add(listener, ...servers);
    if (inbounds.length > 0) this.isRelisting = true;
    this.add(listener, ...inbounds.map(({ at }) => names.inboundListenerName(at)));
    this.add(cluster, ...inbounds.map(({ clusterName }) => clusterName));
  }

  /** The egress is at other addresses, or listens for other meshes. `listening`: where its proxies may listen, withdrawn ones too. */
  addEgress(listening: readonly SocketAddress[], meshes: readonly { readonly mesh: string }[]): void {
    this.add(endpoints, names.EGRESS_ENDPOINTS);
    this.add(listener, ...listening.map(names.egressListenerName));
    this.add(secret, ...meshes.flatMap(({ mesh }) => Object.values(names.egressSecretNames(mesh))));
  }

  /** Who may leave for these may be others: the egress has a destination under the name that says whether policies decide. */
  addEgressRules(destinations: Iterable<Destination>): void {
    for (const { name } of destinations) this.relisted.add(name);
  }

  /** The authorities that the egress believes in these meshes are others. */
  addEgressTrust(meshes: readonly string[]): void {
    this.add(secret, ...meshes.map((mesh) => names.egressSecretNames(mesh).trust));
  }

  *[Symbol.iterator](): Iterator<readonly [type: string, changed: readonly string[]]> {
    for (const [type, changed] of this.byType) if (changed.size > 0) yield [type, [...changed]];
  }
}

type Destinations = Pick<TrafficModel, 'destination' | 'destinations'>;

/** The destinations of one model, and what became of them in another. */
export function* changesBetween(before: Destinations, after: Destinations): Generator<DestinationChange> {
  for (const each of before.destinations()) {
    const { name } = each;
    yield { name, before: each, after: after.destination(name) };
  }
}

/** The names under which destinations were and are no more. */
export function* lostNames(
  changes: Iterable<DestinationChange>,
): Generator<readonly [type: string, lost: readonly string[]]> {
  for (const { name, before, after } of changes) {
    if (!before || (after && !isListedOtherwise({ name, before, after }))) continue;
    const [had, has] = [new ChangedNames(), new ChangedNames()];
    had.addDestination({ name, before, after: undefined });
    if (after) has.addDestination({ name, before: undefined, after });
    const kept = new Map(has);
    for (const [type, found] of had) yield [type, found.filter((each) => kept.get(type)?.includes(each) !== true)];
  }
}

/** Whether lists of names may differ by a change of a destination: not by its endpoints. */
function isListedOtherwise({ before, after }: DestinationChange): boolean {
  if (!before || !after) return true;
  const endpointless = { local: [], localNames: [], remote: [], identities: [], hosts: undefined };
  return !isDeepStrictEqual({ ...before, ...endpointless }, { ...after, ...endpointless });
}

/** Whether policies may decide after a change about other destinations outside the mesh than before. */
export function mayRuleEgress({ isEgressRuled, access }: ModelChange): boolean {
  return isEgressRuled || access.length > 0;
}

/** Whether what the egress of the zone listens for may differ after a change. */
export function concernsEgress(change: ModelChange): boolean {
  const { isEgressMoved, destinations } = change;
  return (
    isEgressMoved || mayRuleEgress(change) || destinations.some(({ before, after }) => before?.egress ?? after?.egress)
  );
}
