import type { Identity } from '@causeway/resources';
import type { RouteDestination as Backend } from '@causeway/routing';
import { localEndpointsName } from '../names/resource-names';
import type { Destination, DestinationConfig } from '../model/destination';
import { NO_BACKEND, type GrpcCluster } from './grpc-routes';

/** The zone of the clients of a channel, and the channel's frontend. */
export interface ChannelContext {
  readonly zone: string;
  /** The destination that the channel's target names. */
  readonly frontend: Pick<Destination, 'name'>;
  readonly findDestination: (service: Identity, port: number) => DestinationConfig | undefined;
}

/**
 * Returns the cluster in which a channel reaches a backend. A gRPC client sends the name of its channel as the server name for every cluster, so the
 * ingress of another zone would route to the frontend. Clusters of other services therefore have the endpoints of this zone only; the result names
 * what is left out.
 */
export function toGrpcCluster(
  { services, port }: Backend,
  { zone, frontend, findDestination }: ChannelContext,
): GrpcCluster {
  const found = services.flatMap((service) => findDestination(service, port) ?? []);
  const isOwn = ({ name }: DestinationConfig): boolean => name === frontend.name;
  const away = found.find((each) => !isOwn(each) && reachesAway(each.service, zone));
  const chosen = found.find(isOwn) ?? found[0];
  if (!chosen) return { cluster: NO_BACKEND };
  return {
    cluster: isOwn(chosen) ? chosen.name : localEndpointsName(chosen.name),
    ...(away && { lost: lostText(away.service) }),
  };
}

const reachesAway = ({ kind, zone }: Identity, own: string): boolean =>
  kind === 'MeshMultiZoneService' || (kind === 'MeshService' && zone !== own);

const lostText = ({ kind, namespace, name }: Identity): string =>
  `gRPC clients do not reach ${kind} ${namespace}/${name} in other zones: their ingress knows a call by the name of its channel`;
