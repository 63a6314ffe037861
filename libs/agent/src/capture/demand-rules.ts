import { isIPv6 } from 'node:net';
import type { IpFamily, LocalAddress } from './local-address';

/** Maximum number of addresses in a set: a program that scans the ranges fills it, and is not answered beyond. */
const MAX_ADDRESSES = 1_024;
/** A client sends its first packet again after a second: it must then be noted again. */
const NOTED = '900ms';
/** Time for which connections to an address that no service has are refused without asking the zone again. */
const ABSENT = '5s';
/** Maximum number of addresses noted a second, and at once. */
const RATE = 200;

/** Lists the sets of addresses that were dialled while nothing listened there, and of those that no service has. */
export function formatDemandSets(families: readonly IpFamily[]): readonly string[] {
  return families.flatMap(({ type, set }) => [
    `set asked${set} {`,
    `  type ${type} . inet_service; size ${MAX_ADDRESSES}; flags dynamic,timeout; timeout ${NOTED}`,
    '}',
    `set absent${set} {`,
    `  type ${type} . inet_service; size ${MAX_ADDRESSES}; flags timeout; timeout ${ABSENT}`,
    '}',
  ]);
}

/**
 * Lists the rules of connections to addresses at which no proxy listens: the first packet is noted and dropped, not refused, so that the client's
 * next one finds the socket that the agent has opened meanwhile. A trace reports what was noted.
 */
export function formatDemandRules(families: readonly IpFamily[]): readonly string[] {
  return [
    'tcp flags & (fin | syn | rst | ack) != syn reject with tcp reset',
    ...families.flatMap(({ ip, set }) => [
      `${ip} daddr . tcp dport @absent${set} reject with tcp reset`,
      `${ip} daddr . tcp dport @asked${set} drop`,
      `limit rate ${RATE}/second burst ${RATE} packets add @asked${set} { ${ip} daddr . tcp dport } meta nftrace set 1 drop`,
    ]),
    'drop',
  ];
}

/** Lists the rules that lead packets without a proxy's socket to the chain of `formatDemandRules`. */
export function formatArrivals({ ip, set }: IpFamily, chain: string): readonly string[] {
  const which = `${ip} daddr @virtual${set} meta l4proto tcp`;
  return [
    `iif != "lo" ${ip} daddr @virtual${set} drop`,
    `${which} socket wildcard 0 accept`,
    // A process that listens at all addresses must not answer at virtual IPs.
    `${which} socket wildcard 1 goto ${chain}`,
    // Connections that are not yet, or no longer, a whole socket: of these a wildcard is not known.
    `${which} socket transparent 0 accept`,
    `${which} goto ${chain}`,
  ];
}

/** Returns the address in a line of `nft monitor` about a packet that the rules noted in a table; undefined for other lines. */
export function readNotedAddress(line: string, table: string): LocalAddress | undefined {
  if (!isTrace(line) || !line.includes(` inet ${table} `)) return undefined;
  const [, address, port] = / packet: .* ip6? daddr (\S+) .*\btcp dport (\d{1,5})\b/.exec(line) ?? [];
  return address === undefined ? undefined : { address, port: Number(port) };
}

/** Returns whether a line of `nft monitor` is about a packet, of whatever table. */
export function isTrace(line: string): boolean {
  return line.startsWith('trace id ');
}

/** Returns the command for `nft -f` that refuses connections to addresses of no service for a while. */
export function formatAbsent(addresses: readonly LocalAddress[], table: string): string {
  return addresses
    .map(
      ({ address, port }) =>
        `add element inet ${table} absent${isIPv6(address) ? '6' : '4'} { ${address} . ${port} }\n`,
    )
    .join('');
}

/** Removes the noted and the absent addresses from the text of a table: these change by themselves. */
export function withoutDemand(rules: string): string {
  return rules.replace(/(\tset (?:asked|absent)[46] \{(?:(?!\n\t\}).)*?)\n\t\telements = \{[^}]*\}/gs, '$1');
}
