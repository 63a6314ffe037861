import { hash } from 'node:crypto';
import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  FilterChain,
  HostName,
  Listener,
  RouteConfiguration,
  TlsSecret,
} from '@causeway/proto-gen';
import type { Violation } from '@causeway/resources';
import { encodeWhole, formatTypeUrl, type MessageCodec } from './any';
import { checkMessage } from './check-message';

/** The type URLs of the resources that proxies subscribe to. */
export const RESOURCE_TYPES = {
  cluster: formatTypeUrl(Cluster),
  endpoints: formatTypeUrl(ClusterLoadAssignment),
  listener: formatTypeUrl(Listener),
  filterChain: formatTypeUrl(FilterChain),
  routes: formatTypeUrl(RouteConfiguration),
  secret: formatTypeUrl(TlsSecret),
  /** The addresses of a hostname: a type of ours, not Envoy's. */
  hostName: formatTypeUrl(HostName),
} as const;

/** An encoded resource, shared by all proxies. Equal versions of one name mean equal content. */
export interface EncodedResource {
  readonly type: string;
  readonly name: string;
  /** A hash of the content. */
  readonly version: string;
  readonly bytes: Buffer;
  /** Set for a cluster that gets its endpoints by EDS: their name. Envoy needs them again after it accepted a change of the cluster. */
  readonly endpointsName?: string;
}

export type EncodeResult =
  | { readonly ok: true; readonly resource: EncodedResource }
  | { readonly ok: false; readonly violations: readonly Violation[] };

type DiscoveredCluster = { readonly name: string } & Partial<
  Pick<Cluster, 'clusterDiscoveryType' | 'edsClusterConfig'>
>;
/** A message with a name; the name of endpoints is `cluster_name`. */
type NamedMessage = DiscoveredCluster | { readonly clusterName: string };

/**
 * Encodes a resource and checks Envoy's constraints; with violations it must not be sent. If its content equals that of `previous`, returns
 * `previous` itself without checking again.
 */
export function encodeResource<T extends NamedMessage, P>(
  type: MessageCodec<T, P>,
  message: P,
  previous?: EncodedResource,
): EncodeResult {
  const whole = type.fromPartial(message);
  const bytes = encodeWhole(type, whole);
  if (previous?.bytes.equals(bytes)) return { ok: true, resource: previous };
  const name = 'clusterName' in whole ? whole.clusterName : whole.name;
  const violations = [...nameViolations(name), ...checkMessage(formatTypeUrl(type), bytes)];
  if (violations.length > 0) return { ok: false, violations };
  const version = hash('sha256', bytes).slice(0, 16);
  const endpointsName = 'clusterName' in whole ? undefined : findEndpointsName(whole);
  return {
    ok: true,
    resource: {
      type: formatTypeUrl(type),
      name,
      version,
      bytes,
      ...(endpointsName !== undefined && { endpointsName }),
    },
  };
}

/** Envoy accepts an empty name of a chain or a secret, but no client can subscribe to it. */
function nameViolations(name: string): readonly Violation[] {
  return name === '' ? [{ field: 'name', rule: 'too-short', reason: 'a resource needs a name' }] : [];
}

/** Returns the EDS name of a cluster; undefined if the cluster does not use EDS. */
export function readEndpointsName(type: string, bytes: Buffer): string | undefined {
  return type === RESOURCE_TYPES.cluster ? findEndpointsName(Cluster.decode(bytes)) : undefined;
}

function findEndpointsName({ name, clusterDiscoveryType, edsClusterConfig }: DiscoveredCluster): string | undefined {
  const isEds = clusterDiscoveryType?.$case === 'type' && clusterDiscoveryType.value === Cluster_DiscoveryType.EDS;
  return isEds ? edsClusterConfig?.serviceName || name : undefined;
}
