import { Cluster, FilterChain, Listener } from '@causeway/proto-gen';
import { clientListener } from '../grpc/grpc-resources';
import type { DestinationConfig } from '../model/destination';
import { encodeResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { isExcludedFrom } from '../dataplane/reachable-backends';
import type { EnvoyView } from '../views/envoy-view';
import { emptyCluster } from '../messages/clusters';
import { closedChain } from '../messages/outbound-listeners';
import * as names from '../names/resource-names';
import { kept, type ResourceBuild, type TranslationOptions } from './resource-build';

const { cluster, listener, filterChain } = RESOURCE_TYPES;

/**
 * Excludes the services from App Mesh that the Dataplane of a VirtualNode may not call, because they are not backends of its node (T003-35): the
 * resources by which a client would reach them are answered as if the service did not exist. Clusters behind routes are not excluded: a route of a
 * permitted service may lead to them.
 */
export class ExcludedServices {
  constructor(private readonly options: Pick<TranslationOptions, 'tables'>) {}

  /** Reports whether a destination is excluded from the proxies of a view. Costs one look-up if the mesh has no service from App Mesh. */
  has({ mesh, dataplane }: EnvoyView, destination: DestinationConfig): boolean {
    if (!dataplane || !this.options.tables().backends.hasAppMesh(mesh)) return false;
    return isExcludedFrom(this.options.tables().dataplane(dataplane), destination);
  }

  /** Returns the destination at an address of the view's mesh, unless it is excluded. */
  atVip(view: EnvoyView, vip: string): DestinationConfig | undefined {
    const found = this.options.tables().table.configAtVip(view.mesh, vip);
    return found && !this.has(view, found) ? found : undefined;
  }

  /**
   * Returns the replacement of a resource that leads to an excluded service: `absent`, or a resource that leads nowhere; undefined for other
   * resources.
   */
  findReplacement(view: EnvoyView, type: string, name: string): ResourceBuild | 'absent' | undefined {
    const entered = view.dataplane && this.entered(view, type, name);
    if (!entered || !this.has(view, entered)) return undefined;
    const made = (encode: ResourceBuild['encode']): ResourceBuild => ({ ...kept('view', encode), isKept: false });
    if (type === cluster) return made((last) => encodeResource(Cluster, emptyCluster(name), last));
    if (type === filterChain) return made((last) => encodeResource(FilterChain, closedChain(name), last));
    if (view.wire !== 'grpc') return 'absent';
    return made((last) => encodeResource(Listener, clientListener(name, undefined, { routes: [] }), last));
  }

  /** Returns the destination that a client reaches by a resource of this name. */
  private entered({ mesh, wire }: EnvoyView, type: string, name: string): DestinationConfig | undefined {
    const { table, backends } = this.options.tables();
    if (!backends.hasAppMesh(mesh)) return undefined;
    if (wire === 'grpc') return type === listener ? table.configOfTarget(mesh, name) : undefined;
    const vip = names.vipIn(type, name);
    return vip === undefined ? undefined : table.configAtVip(mesh, vip);
  }
}
