import { isIPv4 as nodeIsIPv4, isIPv6 as nodeIsIPv6 } from 'node:net';

/** An IP address as a number; addresses of the two families never compare. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** Maximum length: an IPv6 address of which the last two groups are dotted IPv4. */
const MAX_TEXT_LENGTH = 45;

/** True for an IPv4 address in dotted decimals without leading zeros. */
export function isIPv4(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && nodeIsIPv4(text);
}

/** True for an IPv6 address by RFC 4291 §2.2. A zone index (`fe80::1%eth0`) is refused: it has no meaning on another host. */
export function isIPv6(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && nodeIsIPv6(text) && !text.includes('%');
}

/** True for an address of either family. */
export function isIP(text: string): boolean {
  return isIPv4(text) || isIPv6(text);
}

/** Returns the number of bits of an address of the family. */
export function countBits(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** Parses a text that `isIP` accepts; undefined for any other. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  if (text.includes(':')) return isIPv6(text) ? { family: 6, value: valueOfV6(text) } : undefined;
  const value = parseV4(text);
  return value === undefined ? undefined : { family: 4, value: BigInt(value) };
}

/** Formats an address in canonical form: dotted IPv4, IPv6 by RFC 5952. */
export function formatAddress({ family, value }: IpAddress): string {
  return family === 4 ? formatV4(Number(value)) : formatV6(value);
}

const [DOT, ZERO, NINE] = [0x2e, 0x30, 0x39];

/** Checks and parses in one pass without allocating: it runs several times for every address of a mesh. */
function parseV4(text: string): number | undefined {
  let [value, octet, digits, dots] = [0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === DOT) {
      if (digits === 0) return undefined;
      value = value * 256 + octet;
      [octet, digits] = [0, 0];
      dots += 1;
    } else {
      const leadingZero = digits > 0 && octet === 0;
      if (char < ZERO || char > NINE || leadingZero) return undefined;
      octet = octet * 10 + char - ZERO;
      if (octet > 255) return undefined;
      digits += 1;
    }
  }
  return dots === 3 && digits > 0 ? value * 256 + octet : undefined;
}

/** Returns the value of a valid IPv6 address. */
function valueOfV6(text: string): bigint {
  const [head = [], tail = []] = withoutDots(text)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  const gap = Array<string>(8 - head.length - tail.length).fill('0');
  return [...head, ...gap, ...tail].reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Rewrites a dotted end (`::ffff:10.0.0.1`) as two groups. */
function withoutDots(text: string): string {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const v4 = parseV4(text.slice(start)) ?? 0;
  return `${text.slice(0, start)}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`;
}

function formatV4(value: number): string {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.');
}

function formatV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => (value >> BigInt(16 * (7 - i))) & 0xffffn);
  const gap = longestZeros(groups);
  const write = (part: readonly bigint[]): string => part.map((group) => group.toString(16)).join(':');
  if (gap.length < 2) return write(groups);
  return `${write(groups.slice(0, gap.start))}::${write(groups.slice(gap.start + gap.length))}`;
}

function longestZeros(groups: readonly bigint[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  groups.forEach((group, i) => {
    length = group === 0n ? length + 1 : 0;
    if (length > best.length) best = { start: i - length + 1, length };
  });
  return best;
}
