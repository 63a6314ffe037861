import { isIPv6 } from 'node:net';
import type { SocketAddress } from '../model/ingress-endpoint';
import { RESOURCE_TYPES } from '@causeway/xds-server';

/** The secret with a workload's certificate: one name for all, another content for each workload. */
export const IDENTITY_SECRET = 'identity';
/** The secret with the authorities of the mesh. */
export const TRUST_SECRET = 'trust';
/** The listener that takes all redirected connections. */
export const OUTBOUND_LISTENER = 'outbound';
/** The loopback listener at which the first connection to an HTTP address enters the same Envoy again. */
export const REENTRY_LISTENER = 'outbound:reentry';

/** Names no cluster: what is led there is closed, and nothing is dialled. */
export const NO_CLUSTER = 'none';

/** The addresses of the zone's egress: endpoints that all services outside the mesh share. */
export const EGRESS_ENDPOINTS = 'egress';

/**
 * Prefixes of the names that we give resources, by what they name: `vip` the cluster and `outbound` and `fc` the listener and the filter
 * chain of a service's address, `explicit` and `inbound` listeners of a Dataplane, `localhost` and `localhost-http2` the processes behind
 * inbounds, `local` endpoints in this zone only; `in` clusters of a zone ingress and `out` of a zone egress, `out-ruled` those that policies
 * decide about; `ingress` the listener of a zone ingress and its endpoints in other zones, `egress` the listener of a zone egress;
 * `identity` and `trust` secrets of an egress in one mesh.
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

/** The name of an xDS resource that belongs to something: `formatXdsName` makes it, `parseXdsName` reads it. */
export type XdsName = `${XdsPrefix}:${string}`;

const isPrefix = (text: string): text is XdsPrefix => PREFIXES.has(text);
const PREFIXES: ReadonlySet<string> = new Set(XDS_PREFIXES);

/** Returns the name of what `rest` names, such as an `address:port`. */
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

/** Parses a text of `hostPort`. */
export function parseHostPort(text: string): SocketAddress {
  const end = text.lastIndexOf(':');
  const host = text.slice(0, end);
  return { address: host.startsWith('[') ? host.slice(1, -1) : host, port: Number(text.slice(end + 1)) };
}

/** The cluster that is asked for at the first connection to an address of a service. */
export function vipClusterName(at: SocketAddress): XdsName {
  return formatXdsName('vip', hostPort(at));
}

/** The `address:port` of a cluster named by `vipClusterName`; undefined for other clusters. */
export function vipOfCluster(name: string): string | undefined {
  return restOfXdsName(name, 'vip');
}

/**
 * The cluster of a server name at the zone ingress. The prefix is Envoy's, not the client's: no server name can lead to
 * another cluster of the ingress.
 */
export function ingressClusterName(sni: string): XdsName {
  return formatXdsName('in', sni);
}

/** The server name of a cluster named by `ingressClusterName`; undefined for other clusters. */
export function sniOfCluster(name: string): string | undefined {
  return restOfXdsName(name, 'in');
}

/** The endpoints of a destination in this zone only, for its ingress. */
export function localEndpointsName(destination: string): XdsName {
  return formatXdsName('local', destination);
}

/** The destination of endpoints named by `localEndpointsName`; undefined for other endpoints. */
export function destinationOfLocalEndpoints(name: string): string | undefined {
  return restOfXdsName(name, 'local');
}

/** The addresses of a zone's ingress for a mesh: endpoints that all services of the zone share. */
export function ingressEndpointsName(mesh: string, zone: string): XdsName {
  return formatXdsName('ingress', `${mesh}/${zone}`);
}

/** The mesh and the zone of endpoints named by `ingressEndpointsName`; undefined for other endpoints. */
export function parseIngressEndpoints(name: string): { readonly mesh: string; readonly zone: string } | undefined {
  const [, mesh, zone] = /^([^/]+)\/([^/]+)$/.exec(restOfXdsName(name, 'ingress') ?? '') ?? [];
  return mesh === undefined || zone === undefined ? undefined : { mesh, zone };
}

/** The listener that is bound to an address of a service. */
export function outboundListenerName(at: SocketAddress): XdsName {
  return formatXdsName('outbound', hostPort(at));
}

/** The listener of an explicit outbound of a Dataplane; each Dataplane says itself where it leads. */
export function explicitListenerName(at: SocketAddress): XdsName {
  return formatXdsName('explicit', hostPort(at));
}

/** The filter chain of an HTTP address of a service in the redirect listener. */
export function filterChainName(at: SocketAddress): XdsName {
  return formatXdsName('fc', hostPort(at));
}

/** The listener of an inbound of a Dataplane. */
export function inboundListenerName(at: SocketAddress): XdsName {
  return formatXdsName('inbound', hostPort(at));
}

/** The listener of a zone ingress. */
export function ingressListenerName(at: SocketAddress): XdsName {
  return formatXdsName('ingress', hostPort(at));
}

/** The cluster of the process behind an inbound; a process that speaks HTTP/2 only is another cluster. */
export function processClusterName(at: SocketAddress, isHttp2: boolean): XdsName {
  return formatXdsName(isHttp2 ? 'localhost-http2' : 'localhost', hostPort(at));
}

/** Whether a name is one of `processClusterName`. */
export function isProcessCluster(name: string): boolean {
  const { prefix } = parseXdsName(name) ?? {};
  return prefix === 'localhost' || prefix === 'localhost-http2';
}

/** The listener of a zone egress. */
export function egressListenerName(at: SocketAddress): XdsName {
  return formatXdsName('egress', hostPort(at));
}

/**
 * The cluster of a server name at the zone egress; the prefix is Envoy's, as at the ingress. One that policies decide about has another name:
 * a filter chain that knows nothing of the policies leads nowhere then.
 */
export function egressClusterName(serverName: string, isRuled: boolean): XdsName {
  return formatXdsName(isRuled ? 'out-ruled' : 'out', serverName);
}

/** Parses a name of `egressClusterName`; undefined for other clusters. */
export function egressCluster(name: string): { readonly serverName: string; readonly isRuled: boolean } | undefined {
  const { prefix, rest = '' } = parseXdsName(name) ?? {};
  return prefix === 'out' || prefix === 'out-ruled' ? { serverName: rest, isRuled: prefix === 'out-ruled' } : undefined;
}

/** The names of the certificate of the zone egress in one mesh, and of the authorities of that mesh. */
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

/** By type, what stands before the `address:port` of a service in the name of what takes connections to it. */
const AT_ADDRESS: Readonly<Record<string, XdsPrefix>> = {
  [RESOURCE_TYPES.cluster]: 'vip',
  [RESOURCE_TYPES.listener]: 'outbound',
  [RESOURCE_TYPES.filterChain]: 'fc',
};

/** The `address:port` of a service in the name of what takes connections to it; undefined for other names. */
export function vipIn(type: string, name: string): string | undefined {
  const prefix = AT_ADDRESS[type];
  return prefix === undefined ? undefined : restOfXdsName(name, prefix);
}
