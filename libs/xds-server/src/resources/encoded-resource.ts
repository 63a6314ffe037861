import { createHash } from 'node:crypto';
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

/** The type URLs of what a proxy subscribes to. */
export const RESOURCE_TYPES = {
  cluster: formatTypeUrl(Cluster),
  endpoints: formatTypeUrl(ClusterLoadAssignment),
  listener: formatTypeUrl(Listener),
  filterChain: formatTypeUrl(FilterChain),
  routes: formatTypeUrl(RouteConfiguration),
  secret: formatTypeUrl(TlsSecret),
  /** The meaning of a hostname: a type of ours, not Envoy's. */
  hostName: formatTypeUrl(HostName),
} as const;

/** A resource as it is sent, encoded once for all proxies. Equal versions of one name mean equal content. */
export interface EncodedResource {
  readonly type: string;
  readonly name: string;
  /** A hash of the content. */
  readonly version: string;
  readonly bytes: Buffer;
  /** Of a cluster with endpoints of their own: their name. Envoy must get them again after it has taken the cluster. */
  readonly endpointsName?: string;
}

export type EncodeResult =
  | { readonly ok: true; readonly resource: EncodedResource }
  | { readonly ok: false; readonly violations: readonly Violation[] };

/** A message with a name: `cluster_name` for endpoints. */
type NamedMessage = { readonly name: string } | { readonly clusterName: string };

/**
 * Encodes a resource and checks it by Envoy's own rules; with violations it must not be sent. Where the content is that of
 * `previous`, `previous` itself is the result, and nothing is checked twice.
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
  const version = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const endpointsName = readEndpointsName(formatTypeUrl(type), bytes);
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

/** Envoy takes an empty name of a chain or a secret, but nobody can subscribe to it. */
function nameViolations(name: string): readonly Violation[] {
  return name === '' ? [{ field: 'name', rule: 'too-short', reason: 'a resource needs a name' }] : [];
}

/** The name of the endpoints of a cluster that has endpoints of their own. */
export function readEndpointsName(type: string, bytes: Buffer): string | undefined {
  if (type !== RESOURCE_TYPES.cluster) return undefined;
  const { name, clusterDiscoveryType, edsClusterConfig } = Cluster.decode(bytes);
  const isEds = clusterDiscoveryType?.$case === 'type' && clusterDiscoveryType.value === Cluster_DiscoveryType.EDS;
  return isEds ? edsClusterConfig?.serviceName || name : undefined;
}
