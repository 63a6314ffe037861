import { isIPv6 } from 'node:net';
import type { SocketAddress } from '../model/ingress-endpoint';
import { RESOURCE_TYPES } from '@causeway/xds-server';

/** The secret with a workload's certificate: one name for all workloads, with a different content for each. */
export const IDENTITY_SECRET = 'identity';
/** The secret with the authorities of the mesh. */
export const TRUST_SECRET = 'trust';
/** The listener that takes all redirected connections. */
export const OUTBOUND_LISTENER = 'outbound';
/** The loopback listener at which the first connection to an HTTP address enters the same Envoy again. */
export const REENTRY_LISTENER = 'outbound:reentry';

/** The name of no cluster: connections to it are closed, and nothing is dialled. */
export const NO_CLUSTER = 'none';

/** The EDS name of the zone's egress addresses: all services outside the mesh share these endpoints. */
export const EGRESS_ENDPOINTS = 'egress';

/**
 * Prefixes of our xDS resource names: `vip` for the cluster, and `outbound` and `fc` for the listener and the filter chain of a service's address;
 * `explicit` and `inbound` for listeners of a Dataplane; `localhost` and `localhost-http2` for the processes behind inbounds; `local` for endpoints
 * in this zone only; `in` for clusters of a zone ingress, `out` for clusters of a zone egress, `out-ruled` for those of services that policies
 * target; `ingress` for the listener of a zone ingress and its endpoints in other zones; `egress` for the listener of a zone egress; `identity` and
 * `trust` for secrets of an egress in one mesh.
 */
export const XDS_PREFIXES = [
  'vip',
  'outbound',
  'fc',
  'explicit',
  'inbound',
  'localhost',
  'localhost-http2',
  'local',
  'in',
  'out',
  'out-ruled',
  'ingress',
  'egress',
  'identity',
  'trust',
] as const;

/** One of `XDS_PREFIXES`. */
export type XdsPrefix = (typeof XDS_PREFIXES)[number];

/** The name of an xDS resource with a prefix: `formatXdsName` makes it, `parseXdsName` reads it. */
export type XdsName = `${XdsPrefix}:${string}`;

const isPrefix = (text: string): text is XdsPrefix => PREFIXES.has(text);
const PREFIXES: ReadonlySet<string> = new Set(XDS_PREFIXES);

/** Returns the name with this prefix; `rest` is for example an `address:port`. */
export function formatXdsName(prefix: XdsPrefix, rest: string): XdsName {
  return `${prefix}:${rest}`;
}

/** Returns the parts of a name; undefined for names without a prefix of ours. */
export function parseXdsName(name: string): { readonly prefix: XdsPrefix; readonly rest: string } | undefined {
  const end = name.indexOf(':');
  const prefix = name.slice(0, Math.max(end, 0));
  return isPrefix(prefix) ? { prefix, rest: name.slice(end + 1) } : undefined;
}

/** Returns what follows a prefix in a name; undefined for names with another one. */
export function restOfXdsName(name: string, wanted: XdsPrefix): string | undefined {
  const parsed = parseXdsName(name);
  return parsed?.prefix === wanted ? parsed.rest : undefined;
}

/** `address:port`, as Envoy's `%DOWNSTREAM_LOCAL_ADDRESS%` writes it. */
export function hostPort({ address, port }: SocketAddress): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Parses a text that `hostPort` made. */
export function parseHostPort(text: string): SocketAddress {
  const end = text.lastIndexOf(':');
  const host = text.slice(0, end);
  return { address: host.startsWith('[') ? host.slice(1, -1) : host, port: Number(text.slice(end + 1)) };
}

/** Returns the name of the cluster that Envoy requests at the first connection to an address of a service. */
export function vipClusterName(at: SocketAddress): XdsName {
  return formatXdsName('vip', hostPort(at));
}

/** Returns the `address:port` in a name of `vipClusterName`; undefined for other clusters. */
export function vipOfCluster(name: string): string | undefined {
  return restOfXdsName(name, 'vip');
}

/**
 * Returns the cluster of a server name at the zone ingress. The filter adds the prefix to the client's server name, so no server name can select
 * another kind of cluster of the ingress.
 */
export function ingressClusterName(sni: string): XdsName {
  return formatXdsName('in', sni);
}

/** Returns the server name in a name of `ingressClusterName`; undefined for other clusters. */
export function sniOfCluster(name: string): string | undefined {
  return restOfXdsName(name, 'in');
}

/** Returns the EDS name of a destination's endpoints in this zone, for its ingress. */
export function localEndpointsName(destination: string): XdsName {
  return formatXdsName('local', destination);
}

/** Returns the destination in a name of `localEndpointsName`; undefined for other endpoints. */
export function destinationOfLocalEndpoints(name: string): string | undefined {
  return restOfXdsName(name, 'local');
}

/** Returns the EDS name of a zone's ingress for a mesh: all services of the zone share these endpoints. */
export function ingressEndpointsName(mesh: string, zone: string): XdsName {
  return formatXdsName('ingress', `${mesh}/${zone}`);
}

/** Returns the mesh and zone in a name of `ingressEndpointsName`; undefined for other endpoints. */
export function parseIngressEndpoints(name: string): { readonly mesh: string; readonly zone: string } | undefined {
  const [, mesh, zone] = /^([^/]+)\/([^/]+)$/.exec(restOfXdsName(name, 'ingress') ?? '') ?? [];
  return mesh === undefined || zone === undefined ? undefined : { mesh, zone };
}

/** Returns the listener that is bound to an address of a service. */
export function outboundListenerName(at: SocketAddress): XdsName {
  return formatXdsName('outbound', hostPort(at));
}

/** Returns the listener of an explicit outbound; the Dataplane defines its destination. */
export function explicitListenerName(at: SocketAddress): XdsName {
  return formatXdsName('explicit', hostPort(at));
}

/** Returns the filter chain of an HTTP address of a service in the redirect listener. */
export function filterChainName(at: SocketAddress): XdsName {
  return formatXdsName('fc', hostPort(at));
}

/** Returns the listener of an inbound of a Dataplane. */
export function inboundListenerName(at: SocketAddress): XdsName {
  return formatXdsName('inbound', hostPort(at));
}

/** Returns the listener of a zone ingress. */
export function ingressListenerName(at: SocketAddress): XdsName {
  return formatXdsName('ingress', hostPort(at));
}

/** Returns the cluster of the process behind an inbound; processes that speak only HTTP/2 have a cluster name of their own. */
export function processClusterName(at: SocketAddress, isHttp2: boolean): XdsName {
  return formatXdsName(isHttp2 ? 'localhost-http2' : 'localhost', hostPort(at));
}

/** Reports whether a name was made by `processClusterName`. */
export function isProcessCluster(name: string): boolean {
  const { prefix } = parseXdsName(name) ?? {};
  return prefix === 'localhost' || prefix === 'localhost-http2';
}

/** Returns the listener of a zone egress. */
export function egressListenerName(at: SocketAddress): XdsName {
  return formatXdsName('egress', hostPort(at));
}

/**
 * Returns the cluster of a server name at the zone egress; the filter adds the prefix, as at the ingress. A service that policies target has a
 * cluster of another name: a filter chain that is older than the policies then finds no cluster.
 */
export function egressClusterName(serverName: string, isRuled: boolean): XdsName {
  return formatXdsName(isRuled ? 'out-ruled' : 'out', serverName);
}

/** Parses a name of `egressClusterName`; undefined for other clusters. */
export function egressCluster(name: string): { readonly serverName: string; readonly isRuled: boolean } | undefined {
  const { prefix, rest = '' } = parseXdsName(name) ?? {};
  return prefix === 'out' || prefix === 'out-ruled' ? { serverName: rest, isRuled: prefix === 'out-ruled' } : undefined;
}

/** Returns the secret names of the zone egress in one mesh: its certificate, and the authorities of the mesh. */
export function egressSecretNames(mesh: string): { readonly identity: XdsName; readonly trust: XdsName } {
  return { identity: formatXdsName(IDENTITY_SECRET, mesh), trust: formatXdsName(TRUST_SECRET, mesh) };
}

/** Parses the name of a secret of a zone egress; undefined for other secrets. */
export function parseEgressSecret(
  name: string,
): { readonly type: typeof IDENTITY_SECRET | typeof TRUST_SECRET; readonly mesh: string } | undefined {
  const { prefix, rest = '' } = parseXdsName(name) ?? {};
  return prefix === IDENTITY_SECRET || prefix === TRUST_SECRET ? { type: prefix, mesh: rest } : undefined;
}

/** By resource type, the prefix before the `address:port` of a service in the name of the resource that takes its connections. */
const AT_ADDRESS: Readonly<Record<string, XdsPrefix>> = {
  [RESOURCE_TYPES.cluster]: 'vip',
  [RESOURCE_TYPES.listener]: 'outbound',
  [RESOURCE_TYPES.filterChain]: 'fc',
};

/** Returns the `address:port` of a service in the name of the resource that takes its connections; undefined for other names. */
export function vipIn(type: string, name: string): string | undefined {
  const prefix = AT_ADDRESS[type];
  return prefix === undefined ? undefined : restOfXdsName(name, prefix);
}
