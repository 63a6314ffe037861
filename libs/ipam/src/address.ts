/** An IP address as a number; the two families never compare. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** How many bits an address of the family has. */
export function bitsOf(family: 4 | 6): number {
  return family === 4 ? 32 : 128;
}

/** IPv6 of eight groups of which the last two are dotted IPv4. */
const MAX_TEXT_LENGTH = 45;

/** Reads dotted IPv4 (no leading zeros) or IPv6 in any of its spellings (no zone index); undefined when it is neither. */
export function parseAddress(text: string): IpAddress | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const value = text.includes(':') ? parseV6(text) : parseV4(text);
  return value === undefined ? undefined : { family: text.includes(':') ? 6 : 4, value };
}

/** The one spelling we write: dotted IPv4, IPv6 by RFC 5952. */
export function formatAddress({ family, value }: IpAddress): string {
  return family === 4 ? formatV4(value) : formatV6(value);
}

const [DOT, ZERO, NINE] = [0x2e, 0x30, 0x39];
const GROUP = /^[0-9a-fA-F]{1,4}$/;

/** Made for every address of a mesh, more than once: reads each character once and makes nothing in between. */
function parseV4(text: string): bigint | undefined {
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
  return dots === 3 && digits > 0 ? BigInt(value * 256 + octet) : undefined;
}

function parseV6(text: string): bigint | undefined {
  const halves = withoutDots(text)?.split('::');
  if (!halves || halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const gap = 8 - head.length - tail.length;
  if (halves.length === 2 ? gap < 1 : gap !== 0) return undefined;
  const groups = [...head, ...Array<string>(gap).fill('0'), ...tail];
  if (!groups.every((group) => GROUP.test(group))) return undefined;
  return groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Rewrites a dotted end (`::ffff:10.0.0.1`) as two groups. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text;
  const cut = text.lastIndexOf(':') + 1;
  const v4 = parseV4(text.slice(cut));
  return v4 === undefined
    ? undefined
    : `${text.slice(0, cut)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`;
}

function formatV4(value: bigint): string {
  const number = Number(value);
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].join('.');
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
