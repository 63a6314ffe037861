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
 * The services of App Mesh that the Dataplane of a VirtualNode may not call, because they are no backends of its node (T003-35): what a
 * client would enter them by is answered as if no service were there. Clusters that routes lead to are not excluded: a route of a
 * service that may be called leads to them.
 */
export class ExcludedServices {
  constructor(private readonly options: Pick<TranslationOptions, 'tables'>) {}

  /** Whether a destination is excluded from the proxies of a view. Costs one look where the mesh has no service of App Mesh. */
  has({ mesh, dataplane }: EnvoyView, destination: DestinationConfig): boolean {
    if (!dataplane || !this.options.tables().backends.hasAppMesh(mesh)) return false;
    return isExcludedFrom(this.options.tables().dataplane(dataplane), destination);
  }

  /** The destination at an address of the view's mesh, unless it is excluded. */
  atVip(view: EnvoyView, vip: string): DestinationConfig | undefined {
    const found = this.options.tables().table.configAtVip(view.mesh, vip);
    return found && !this.has(view, found) ? found : undefined;
  }

  /** Returns what is sent in place of a resource that leads to a excluded service: `absent`, or what leads nowhere; undefined for others. */
  findReplacement(view: EnvoyView, type: string, name: string): ResourceBuild | 'absent' | undefined {
    const entered = view.dataplane && this.entered(view, type, name);
    if (!entered || !this.has(view, entered)) return undefined;
    const made = (encode: ResourceBuild['encode']): ResourceBuild => ({ ...kept('view', encode), isKept: false });
    if (type === cluster) return made((last) => encodeResource(Cluster, emptyCluster(name), last));
    if (type === filterChain) return made((last) => encodeResource(FilterChain, closedChain(name), last));
    if (view.wire !== 'grpc') return 'absent';
    return made((last) => encodeResource(Listener, clientListener(name, undefined, { routes: [] }), last));
  }

  /** The destination that a client enters by a resource of this name. */
  private entered({ mesh, wire }: EnvoyView, type: string, name: string): DestinationConfig | undefined {
    const { table, backends } = this.options.tables();
    if (!backends.hasAppMesh(mesh)) return undefined;
    if (wire === 'grpc') return type === listener ? table.configOfTarget(mesh, name) : undefined;
    const vip = names.vipIn(type, name);
    return vip === undefined ? undefined : table.configAtVip(mesh, vip);
  }
}
