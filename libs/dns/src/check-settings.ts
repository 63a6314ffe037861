import { isIP, isIPv4 } from 'node:net';
import { parseUpstream } from './forward/upstream-address';
import { parseDnsName } from './wire/dns-name';

/**
 * Why `ttl` cannot go with `rest`: an answer may be kept for half the time that a freed address rests, so nobody
 * connects to a service by the address of another (design.md §4 vip). Both in ms.
 */
export function checkDnsTtl(ttl: number, cooldown: number): string[] {
  if (ttl * 2 <= cooldown) return [];
  return [`must be at most half the rest of freed addresses (${cooldown / 2_000} s); got ${ttl / 1_000} s`];
}

/** What is wrong with suffixes, a line each. */
export function checkSuffixes(suffixes: readonly string[]): string[] {
  const wrong = suffixes.filter((suffix) => (parseDnsName(suffix) ?? '') === '');
  return wrong.map((suffix) => `"${suffix}" is not a domain name`);
}

/** What is wrong with upstreams, a line each. */
export function checkUpstreams(upstreams: readonly string[]): string[] {
  const wrong = upstreams.filter((upstream) => isIP(parseUpstream(upstream)?.address ?? '') === 0);
  return wrong.map(
    (upstream) => `"${upstream}" is not an address with an optional port, such as 10.0.0.53 or [fd00::53]:5353`,
  );
}

/** What is wrong with the addresses to answer at, a line each: all are to be had at one port, side by side. */
export function checkAddresses(addresses: readonly string[]): string[] {
  if (addresses.length === 0) return ['must name at least one address'];
  return addresses.flatMap((address, place) => {
    if (isIP(address) === 0) return [`"${address}" is not an address`];
    if (addresses.indexOf(address) < place) return [`"${address}" is named twice`];
    const wildcard = addresses.find((other) => other !== address && covers(other, address));
    return wildcard === undefined ? [] : [`"${address}" is one of those that ${wildcard} stands for`];
  });
}

/** `::` takes the askers of both families. */
function covers(wildcard: string, address: string): boolean {
  return wildcard === '::' || (wildcard === '0.0.0.0' && isIPv4(address));
}
