import { isIP, isIPv4 } from 'node:net';
import { parseUpstream } from './forward/upstream-address';
import { parseDnsName } from './wire/dns-name';

/** Settings for forwarding queries for other names. */
export interface ForwardConfig {
  /** If false, every query for another name is refused. */
  readonly enabled: boolean;
  /** `address` or `address:port` (`[v6]:port`); empty = the nameservers of `resolverFile`. */
  readonly upstreams: readonly string[];
  /** Resolver configuration (resolv.conf) that is read if there are no upstreams. */
  readonly resolverFile: string;
  /** Also forward for clients outside private and loopback ranges, which makes the server an open resolver. */
  readonly publicClients: boolean;
  /** Timeout of one attempt at one upstream, ms. */
  readonly timeout: number;
  /** Maximum number of attempts for one query, each at the next upstream. */
  readonly tries: number;
  /** Maximum number of pending queries, in total and of one client. */
  readonly pending: number;
  readonly pendingPerClient: number;
}

/** Limits that keep one client from harming the others. */
export interface DnsLimits {
  /** Maximum number of queries of one client per second; 0 = no limit. */
  readonly ratePerClient: number;
  readonly tcpConnections: number;
  readonly tcpConnectionsPerClient: number;
  /** Idle timeout of a TCP connection without a complete query, ms. */
  readonly tcpIdle: number;
}

/** DNS settings of a zone. */
export interface DnsConfig {
  /** Time for which clients may cache an answer, positive or negative, ms; answers carry whole seconds. */
  readonly ttl: number;
  /** Suffixes of the names for which the server is authoritative, besides the literal suffixes of the generators. */
  readonly suffixes: readonly string[];
  /** `<hostname>.<directSuffix>` has the addresses of a service's instances; empty disables these names. */
  readonly directSuffix: string;
  /** Ranges of VIPs (CIDR). The server is authoritative for the reverse names of their addresses. */
  readonly ranges: readonly string[];
  /** Precedence of meshes with the same hostname: listed meshes first, in this order, then the others by name. */
  readonly meshOrder: readonly string[];
  readonly forward: ForwardConfig;
  readonly limits: DnsLimits;
}

/** Settings that apply if a caller gives none. */
export const DEFAULT_DNS_CONFIG: DnsConfig = {
  ttl: 5_000,
  suffixes: ['mesh.local'],
  directSuffix: '',
  ranges: [],
  meshOrder: [],
  forward: {
    enabled: true,
    upstreams: [],
    resolverFile: '/etc/resolv.conf',
    publicClients: false,
    timeout: 1_500,
    tries: 3,
    pending: 500,
    pendingPerClient: 100,
  },
  limits: { ratePerClient: 50_000, tcpConnections: 1_000, tcpConnectionsPerClient: 100, tcpIdle: 10_000 },
};

/** Settings given by a caller; every absent field is as in `DEFAULT_DNS_CONFIG`. */
export interface DnsSettings extends Partial<Omit<DnsConfig, 'forward' | 'limits'>> {
  readonly forward?: Partial<ForwardConfig>;
  readonly limits?: Partial<DnsLimits>;
}

/** Returns the settings completed with those of `DEFAULT_DNS_CONFIG`. */
export function completeDnsConfig(settings: DnsSettings): DnsConfig {
  return {
    ...DEFAULT_DNS_CONFIG,
    ...settings,
    forward: { ...DEFAULT_DNS_CONFIG.forward, ...settings.forward },
    limits: { ...DEFAULT_DNS_CONFIG.limits, ...settings.limits },
  };
}

/**
 * Returns why `ttl` is too long for `cooldown`, both in ms: an answer may be cached for at most half the cooldown of freed
 * addresses, so that no client connects to an address that meanwhile belongs to another service (docs/design.md §4).
 */
export function checkDnsTtl(ttl: number, cooldown: number): string[] {
  if (ttl * 2 <= cooldown) return [];
  return [`must be at most half the cooldown of freed addresses (${cooldown / 2_000} s); got ${ttl / 1_000} s`];
}

/** Returns the problems of suffixes, one line each. */
export function checkSuffixes(suffixes: readonly string[]): string[] {
  const wrong = suffixes.filter((suffix) => (parseDnsName(suffix) ?? '') === '');
  return wrong.map((suffix) => `"${suffix}" is not a domain name`);
}

/** Returns the problems of upstreams, one line each. */
export function checkUpstreams(upstreams: readonly string[]): string[] {
  const wrong = upstreams.filter((upstream) => isIP(parseUpstream(upstream)?.address ?? '') === 0);
  return wrong.map(
    (upstream) => `"${upstream}" is not an address with an optional port, such as 10.0.0.53 or [fd00::53]:5353`,
  );
}

/** Returns the problems of listen addresses, one line each. All of them share one port. */
export function checkAddresses(addresses: readonly string[]): string[] {
  if (addresses.length === 0) return ['must name at least one address'];
  return addresses.flatMap((address, i) => {
    if (isIP(address) === 0) return [`"${address}" is not an address`];
    if (addresses.indexOf(address) < i) return [`"${address}" is named twice`];
    const wildcard = addresses.find((other) => other !== address && covers(other, address));
    return wildcard === undefined ? [] : [`"${address}" is one of those that ${wildcard} stands for`];
  });
}

/** Whether a socket on `wildcard` also accepts packets for `address`: one on `::` accepts both families. */
function covers(wildcard: string, address: string): boolean {
  return wildcard === '::' || (wildcard === '0.0.0.0' && isIPv4(address));
}
