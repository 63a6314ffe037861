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

const VIP = 'vip:';
const INGRESS = 'in:';
const EGRESS = 'out:';
/** The same, of what policies decide who may leave for. */
const RULED_EGRESS = 'out-ruled:';

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
export function vipClusterName(at: SocketAddress): string {
  return VIP + hostPort(at);
}

/** The `address:port` of a cluster named by `vipClusterName`; undefined for other clusters. */
export function vipOfCluster(name: string): string | undefined {
  return name.startsWith(VIP) ? name.slice(VIP.length) : undefined;
}

/**
 * The cluster of a server name at the zone ingress. The prefix is Envoy's, not the client's: no server name can lead to
 * another cluster of the ingress.
 */
export function ingressClusterName(sni: string): string {
  return INGRESS + sni;
}

/** The server name of a cluster named by `ingressClusterName`; undefined for other clusters. */
export function sniOfCluster(name: string): string | undefined {
  return name.startsWith(INGRESS) ? name.slice(INGRESS.length) : undefined;
}

/** The endpoints of a destination in this zone only, for its ingress. */
export function localEndpointsName(destination: string): string {
  return `local:${destination}`;
}

/** The destination of endpoints named by `localEndpointsName`; undefined for other endpoints. */
export function destinationOfLocalEndpoints(name: string): string | undefined {
  return name.startsWith('local:') ? name.slice('local:'.length) : undefined;
}

/** The addresses of a zone's ingress for a mesh: endpoints that all services of the zone share. */
export function ingressEndpointsName(mesh: string, zone: string): string {
  return `ingress:${mesh}/${zone}`;
}

/** The mesh and the zone of endpoints named by `ingressEndpointsName`; undefined for other endpoints. */
export function parseIngressEndpoints(name: string): { readonly mesh: string; readonly zone: string } | undefined {
  const [, mesh, zone] = /^ingress:([^/]+)\/([^/]+)$/.exec(name) ?? [];
  return mesh === undefined || zone === undefined ? undefined : { mesh, zone };
}

/** The listener that is bound to an address of a service. */
export function outboundListenerName(at: SocketAddress): string {
  return `outbound:${hostPort(at)}`;
}

/** The listener of an explicit outbound of a Dataplane; each Dataplane says itself where it leads. */
export function explicitListenerName(at: SocketAddress): string {
  return `explicit:${hostPort(at)}`;
}

/** The filter chain of an HTTP address of a service in the redirect listener. */
export function filterChainName(at: SocketAddress): string {
  return `fc:${hostPort(at)}`;
}

/** The listener of an inbound of a Dataplane. */
export function inboundListenerName(at: SocketAddress): string {
  return `inbound:${hostPort(at)}`;
}

/** The listener of a zone ingress. */
export function ingressListenerName(at: SocketAddress): string {
  return `ingress:${hostPort(at)}`;
}

/** The cluster of the process behind an inbound; a process that speaks HTTP/2 only is another cluster. */
export function processClusterName(at: SocketAddress, isHttp2: boolean): string {
  return `${isHttp2 ? 'localhost-http2' : 'localhost'}:${hostPort(at)}`;
}

/** Whether a name is one of `processClusterName`. */
export function isProcessCluster(name: string): boolean {
  return /^localhost(-http2)?:/.test(name);
}

/** The listener of a zone egress. */
export function egressListenerName(at: SocketAddress): string {
  return `egress:${hostPort(at)}`;
}

/**
 * The cluster of a server name at the zone egress; the prefix is Envoy's, as at the ingress. One that policies decide about has another name:
 * a filter chain that knows nothing of the policies leads nowhere then.
 */
export function egressClusterName(serverName: string, isRuled: boolean): string {
  return (isRuled ? RULED_EGRESS : EGRESS) + serverName;
}

/** Parses a name of `egressClusterName`; undefined for other clusters. */
export function egressCluster(name: string): { readonly serverName: string; readonly isRuled: boolean } | undefined {
  for (const [prefix, isRuled] of [
    [EGRESS, false],
    [RULED_EGRESS, true],
  ] as const)
    if (name.startsWith(prefix)) return { serverName: name.slice(prefix.length), isRuled };
  return undefined;
}

/** The names of the certificate of the zone egress in one mesh, and of the authorities of that mesh. */
export function egressSecretNames(mesh: string): { readonly identity: string; readonly trust: string } {
  return { identity: `${IDENTITY_SECRET}:${mesh}`, trust: `${TRUST_SECRET}:${mesh}` };
}

/** Parses the name of a secret of a zone egress; undefined for other secrets. */
export function parseEgressSecret(
  name: string,
): { readonly type: typeof IDENTITY_SECRET | typeof TRUST_SECRET; readonly mesh: string } | undefined {
  for (const type of [IDENTITY_SECRET, TRUST_SECRET] as const)
    if (name.startsWith(`${type}:`)) return { type, mesh: name.slice(type.length + 1) };
  return undefined;
}

/** By type, what stands before the `address:port` of a service in the name of what takes connections to it. */
const AT_ADDRESS: Readonly<Record<string, string>> = {
  [RESOURCE_TYPES.cluster]: VIP,
  [RESOURCE_TYPES.listener]: 'outbound:',
  [RESOURCE_TYPES.filterChain]: 'fc:',
};

/** The `address:port` of a service in the name of what takes connections to it; undefined for other names. */
export function vipIn(type: string, name: string): string | undefined {
  const prefix = AT_ADDRESS[type];
  return prefix !== undefined && name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}
