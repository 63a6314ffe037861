import type { DestinationChange } from '../model/traffic-model';
import { RESOURCE_TYPES } from '../resources/encoded-resource';
import type { SocketAddress } from '../model/zone-entrance';
import { type DestinationTable, serverNames, targetsOf, vipOf } from './destination-table';
import * as names from './names';

const { cluster, endpoints, listener, filterChain, routes } = RESOURCE_TYPES;

/** The names of resources whose content may differ after a change, by type. */
export class ChangedNames {
  private readonly byType = new Map<string, Set<string>>();

  add(type: string, ...changed: readonly string[]): void {
    const ofType = this.byType.get(type) ?? new Set<string>();
    for (const name of changed) ofType.add(name);
    this.byType.set(type, ofType);
  }

  /** All resources that a destination is in. */
  addDestination({ name, before, after }: DestinationChange): void {
    this.add(cluster, name);
    this.add(endpoints, name, names.localEndpointsName(name));
    this.add(routes, name);
    for (const each of [before, after]) {
      if (!each) continue;
      this.add(cluster, ...serverNames(each).map(names.ingressClusterName));
      this.add(listener, ...targetsOf(each));
      if (each.egress) this.add(cluster, names.egressClusterName(each.egress.serverName));
      if (each.vip === '') continue;
      const vip = vipOf(each);
      this.add(cluster, `vip:${vip}`);
      this.add(listener, `outbound:${vip}`);
      this.add(filterChain, `fc:${vip}`);
    }
  }

  /** The listeners of an ingress have changed; with the first or the last of them all its clusters come or go. */
  addIngresses(before: readonly SocketAddress[], after: readonly SocketAddress[], table: DestinationTable): void {
    this.add(listener, ...[...before, ...after].map(names.ingressListenerName));
    if (before.length > 0 === after.length > 0) return;
    for (const sni of table.serverNames()) this.add(cluster, names.ingressClusterName(sni));
  }

  *[Symbol.iterator](): Iterator<readonly [type: string, changed: readonly string[]]> {
    for (const [type, changed] of this.byType) if (changed.size > 0) yield [type, [...changed]];
  }
}
