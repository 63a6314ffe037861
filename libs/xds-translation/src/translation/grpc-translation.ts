import { Cluster, ClusterLoadAssignment, Listener } from '@causeway/proto-gen';
import { asDataplane, listInbounds, type DataplaneResource } from '@causeway/dataplanes';
import { FieldPath } from '@causeway/resources';
import { destinationOfLocalEndpoints, hostPort } from '../names/resource-names';
import type { EnvoyView } from '../views/envoy-view';
import type { ResourceBuild, TranslationOptions } from './resource-build';
import type { Destination } from '../model/destination';
import { socketAddress, type SocketAddress } from '../model/ingress-endpoint';
import { NO_RULES } from '../policies/cluster-rules';
import { encodeResource, RESOURCE_TYPES } from '@causeway/xds-server';
import type { GrpcRoutes } from '../grpc/grpc-routes';
import { lostBackendPolicies } from '../grpc/grpc-policies';
import { clientListener, grpcCluster, grpcEndpoints, SERVER_LISTENER, serverListener } from '../grpc/grpc-resources';

/**
 * Translates resources for proxyless gRPC by type and name (docs/reference/xds-translation.md, gRPC). No name is ever removed, except the listener of
 * an address without a server: grpc-js does not recover from a deletion.
 */
export class GrpcTranslation {
  constructor(private readonly options: Pick<TranslationOptions, 'tables'>) {}

  plan(view: EnvoyView, type: string, name: string): ResourceBuild | 'pending' | undefined {
    const { model, table, backendPolicies } = this.options.tables();
    const destination = this.destination(view, name);
    const rules = destination ? backendPolicies.getRules(destination) : NO_RULES;
    const made = (encode: ResourceBuild['encode'], isKept: boolean): ResourceBuild => ({
      scope: 'grpc',
      isKept,
      encode,
    });
    switch (type) {
      case RESOURCE_TYPES.listener: {
        if (name.startsWith(SERVER_LISTENER)) return this.server(view, name);
        return this.channel(view, name, table.ofTarget(view.mesh, name));
      }
      case RESOURCE_TYPES.cluster:
        return withLost(
          made(
            (last) => encodeResource(Cluster, grpcCluster(name, destination, rules), last),
            destination !== undefined,
          ),
          lostBackendPolicies(rules),
        );
      case RESOURCE_TYPES.endpoints: {
        const findIngressEndpoint = (mesh: string, zone: string) => model.ingressEndpoint(mesh, zone);
        const from = { zone: model.zone, findIngressEndpoint, balancing: rules.balancing };
        const fields = (): ReturnType<typeof grpcEndpoints> => grpcEndpoints(name, destination, from);
        return made((last) => encodeResource(ClusterLoadAssignment, fields(), last), destination !== undefined);
      }
      default:
        return undefined;
    }
  }

  /** Also accepts names of the endpoints in this zone only. */
  private destination({ mesh }: EnvoyView, name: string): Destination | undefined {
    const local = destinationOfLocalEndpoints(name);
    const found = this.options.tables().model.destination(local ?? name);
    if (found?.service.mesh !== mesh) return undefined;
    return local === undefined ? found : { ...found, name, remote: [] };
  }

  /** Plans the listener of a channel, with the routes that apply to the clients of the view. */
  private channel(view: EnvoyView, name: string, target: Destination | undefined): ResourceBuild {
    const { routes } = this.options.tables();
    const routed: GrpcRoutes = target ? routes.calls(view, target) : { routes: [], lost: [] };
    const encode: ResourceBuild['encode'] = (last) =>
      encodeResource(Listener, clientListener(name, target, routed), last);
    return withLost({ scope: 'grpc', isKept: target !== undefined, encode }, routed.lost);
  }

  private server({ dataplane: id }: EnvoyView, name: string): ResourceBuild | 'pending' | undefined {
    const dataplane = asDataplane(this.options.tables().dataplane(id));
    if (!dataplane) return undefined;
    const at = listGrpcServers(dataplane).find((each) => hostPort(each) === name.slice(SERVER_LISTENER.length));
    if (!at) return undefined;
    const access = this.options.tables().model.access.ofInbound(dataplane, at.port);
    if (access === 'pending') return access;
    return {
      scope: 'view',
      isKept: true,
      encode: (last) => encodeResource(Listener, serverListener(name, at, access), last),
    };
  }
}

/** Adds the parts that clients do not apply to a plan, as its problem. */
function withLost(plan: ResourceBuild, [lost, ...more]: readonly string[]): ResourceBuild {
  if (lost === undefined) return plan;
  const reason = `${lost}${more.length > 0 ? `; and ${more.length} more` : ''}`;
  return { ...plan, problem: FieldPath.at('routes').violation(reason, 'not-allowed') };
}

/** Lists the addresses at which gRPC servers of a Dataplane may listen: its inbounds, without a proxy in between. */
function listGrpcServers(dataplane: DataplaneResource): readonly SocketAddress[] {
  const { address } = dataplane.spec.networking;
  return listInbounds(dataplane).flatMap(({ state, address: own = address, port }) => {
    const found = state === 'Ignored' ? undefined : socketAddress(own, port);
    return found ? [found] : [];
  });
}
