import { isIPv4 } from 'node:net';
import type { DnsConfig } from '../dns-config';
import { nibbles, parseDnsName, type DnsName } from '../wire/dns-name';

const MOST_ZONES_OF_A_RANGE = 256;

/** The suffixes that are ours whatever the generators say: the configured ones, and the reverse names of the VIP ranges. */
export function configuredSuffixes(config: Pick<DnsConfig, 'suffixes' | 'ranges'>): DnsName[] {
  const names = [...config.suffixes, ...config.ranges.flatMap(reverseSuffixes)];
  return [...new Set(names.flatMap((name) => parseDnsName(name) ?? []))].filter((name) => name !== '');
}

/** `241.in-addr.arpa` for 241.0.0.0/8; several where the prefix ends inside a label, none where that were too many. */
export function reverseSuffixes(cidr: string): string[] {
  const [ip = '', length = ''] = cidr.split('/');
  const v4 = isIPv4(ip);
  const labels = v4 ? ip.split('.') : nibbles(ip);
  const [bits, radix, top] = v4 ? [8, 10, 'in-addr.arpa'] : [4, 16, 'ip6.arpa'];
  const prefix = Number(length);
  const whole = Math.ceil(prefix / bits);
  const free = 2 ** (whole * bits - prefix);
  if (!Number.isInteger(prefix) || whole === 0 || free > MOST_ZONES_OF_A_RANGE) return [];
  const fixed = labels.slice(0, whole - 1);
  const first = parseInt(labels[whole - 1] ?? '0', radix);
  return Array.from({ length: free }, (_, i) =>
    [(first - (first % free) + i).toString(radix), ...[...fixed].reverse(), top].join('.'),
  );
}
