import { ClusterLoadAssignment, HealthStatus, type LocalityLbEndpoints } from '@causeway/proto-gen';
import { UnsupportedConfig } from './unsupported-config';

/** Endpoint of a cluster. */
export interface UpstreamEndpoint {
  /** IP address, or a host name in a STRICT_DNS cluster. */
  readonly address: string;
  readonly port: number;
  readonly isHealthy: boolean;
  /** Metadata that selects the transport socket (`envoy.transport_socket_match`). */
  readonly match: Readonly<Record<string, string>>;
}

/** Endpoints of one locality. Priority 0 is the highest; lower ones serve if the higher ones cannot. */
export interface EndpointLocality {
  readonly zone: string;
  readonly priority: number;
  /** Share of the priority's traffic, if the cluster weights localities. */
  readonly weight: number;
  readonly endpoints: readonly UpstreamEndpoint[];
}

const SOCKET_MATCH = 'envoy.transport_socket_match';
/** Envoy's limit. */
const LOWEST_PRIORITY = 128;
const HEALTHY: readonly HealthStatus[] = [HealthStatus.UNKNOWN, HealthStatus.HEALTHY];

/** @throws UnsupportedConfig */
export function decodeEndpoints(bytes: Uint8Array): readonly EndpointLocality[] {
  return decodeLocalities(ClusterLoadAssignment.decode(bytes));
}

/** Decodes the endpoints of a load assignment, standalone or inline in a cluster. */
export function decodeLocalities({ endpoints }: Pick<ClusterLoadAssignment, 'endpoints'>): readonly EndpointLocality[] {
  const lowest = Math.max(0, ...endpoints.map(({ priority }) => priority));
  if (lowest > LOWEST_PRIORITY) throw new UnsupportedConfig('priority', `is ${lowest}, at most ${LOWEST_PRIORITY}`);
  return endpoints.map(({ locality, priority, loadBalancingWeight, lbEndpoints }) => ({
    zone: locality?.zone ?? '',
    priority,
    weight: loadBalancingWeight ?? 1,
    endpoints: lbEndpoints.map(readEndpoint),
  }));
}

function readEndpoint({
  hostIdentifier,
  healthStatus,
  metadata,
}: LocalityLbEndpoints['lbEndpoints'][number]): UpstreamEndpoint {
  const at = hostIdentifier?.$case === 'endpoint' ? hostIdentifier.value.address?.address : undefined;
  if (at?.$case !== 'socketAddress') throw new UnsupportedConfig('lbEndpoints', 'an endpoint has no socket address');
  const { address, portSpecifier } = at.value;
  if (portSpecifier?.$case !== 'portValue') throw new UnsupportedConfig('lbEndpoints', 'an endpoint has no port');
  return {
    address,
    port: portSpecifier.value,
    isHealthy: HEALTHY.includes(healthStatus),
    match: readTextValues(metadata?.filterMetadata[SOCKET_MATCH]),
  };
}

/** Returns the values of a Struct as text. */
export function readTextValues(struct: object = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(struct).map(([key, value]) => [key, String(value)]));
}
