import { isIPv4 } from 'node:net';
import { header, type RestRequest } from './rest-request';

/** Headers that a proxy adds: a request with one of them comes from elsewhere, whoever made the connection. */
const FORWARDING =
  /^(forwarded|via|client-ip|true-client-ip|cf-.*|fastly-.*|x-(forwarded|original|real|client|cluster|envoy|proxyuser|azure|appengine|amzn|arr|host|url).*)$/;

/**
 * True for what a program on this machine asks itself: over loopback, by a name of this machine and the port of this
 * server, through no proxy, for no web page of another origin. A page that has its own name point here (DNS rebinding)
 * would otherwise pass for the operator (docs/reference/kuma-rest.md §5.2). A proxy on this machine that rewrites `Host` to a loopback name
 * and adds no header cannot be told from a local program: only an operator token keeps out what comes through it.
 */
export function isLocalRequest(request: RestRequest): boolean {
  const host = header(request, 'host') ?? '';
  if (!isLoopback(request.socket.remoteAddress ?? '')) return false;
  if (!isLocalHost(host, request.socket.localPort)) return false;
  if (Object.keys(request.headers).some((name) => FORWARDING.test(name))) return false;
  const origin = header(request, 'origin');
  const site = header(request, 'sec-fetch-site') ?? 'none';
  const ownOrigin = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  return ownOrigin && ['none', 'same-origin'].includes(site);
}

/** True for addresses that only this machine reaches. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return ipv4.startsWith('127.') && isIPv4(ipv4);
}

/** A loopback name with the port of this server or none; a request that came through no socket has no port to compare. */
function isLocalHost(host: string, ownPort: number | undefined): boolean {
  const [, name = '', port] = /^(\[::1\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  if (name !== '[::1]' && !isLoopback(name)) return false;
  return port === undefined || ownPort === undefined || Number(port) === ownPort;
}
