import { isIPv4 } from 'node:net';

/** What is looked at to tell whether a call comes from this machine. */
export interface CallOrigin {
  /** The address of the peer. */
  readonly address: string;
  /** The header `Host`, or the pseudo-header `:authority`. */
  readonly host: string;
  /** The port of this server; undefined where it is not known, or the call came through no socket. */
  readonly localPort?: number | undefined;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Headers that a proxy adds: a request with one of them comes from elsewhere, whoever made the connection. */
const FORWARDING =
  /^(forwarded|via|client-ip|true-client-ip|cf-.*|fastly-.*|x-(forwarded|original|real|client|cluster|envoy|proxyuser|azure|appengine|amzn|arr|host|url).*)$/;

/**
 * True for what a program on this machine asks itself, over REST or gRPC: over loopback, by a name of this machine and the port of
 * this server, through no proxy, for no web page of another origin. A page that has its own name point here (DNS rebinding)
 * would otherwise pass for the operator (docs/reference/kuma-rest.md §5.2). A proxy on this machine that rewrites `Host` to a
 * loopback name and adds no header cannot be told from a local program: only an operator token keeps out what comes through it.
 */
export function isLocalCall({ address, host, localPort, headers }: CallOrigin): boolean {
  if (!isLoopback(address) || !isLocalHost(host, localPort)) return false;
  if (Object.keys(headers).some((name) => FORWARDING.test(name))) return false;
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  const ownOrigin = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  return ownOrigin && (site === 'none' || site === 'same-origin');
}

/** True for addresses that only this machine reaches. */
export function isLoopback(address: string): boolean {
  if (address === 'localhost' || address === '::1') return true;
  const ipv4 = address.toLowerCase().startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
  return ipv4.startsWith('127.') && isIPv4(ipv4);
}

/** A loopback name with the port of this server or none. */
function isLocalHost(host: string, ownPort: number | undefined): boolean {
  const [, name = '', port] = /^(\[::1\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  if (name !== '[::1]' && !isLoopback(name)) return false;
  return port === undefined || ownPort === undefined || Number(port) === ownPort;
}
