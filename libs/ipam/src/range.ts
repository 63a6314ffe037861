import { bitsOf, formatAddress, parseAddress, type IpAddress } from './address';

/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** A parsed range, or what is wrong with its text. */
export type ParsedRange =
  | { readonly ok: true; readonly range: AddressRange; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** Reads `241.0.0.0/8` or `fd00::/64`. Bits of the host part are cleared, with a warning (docs/design.md §4 Ranges). */
export function parseRange(text: string): ParsedRange {
  const [ip = '', length = '', ...more] = text.trim().split('/');
  const address = parseAddress(ip);
  if (!address || more.length > 0 || !/^[0-9]{1,3}$/.test(length) || Number(length) > bitsOf(address.family)) {
    return { ok: false, error: `must be a range like 241.0.0.0/8 or fd00::/64; got "${text}"` };
  }
  const { family } = address;
  const hostMask = (1n << BigInt(bitsOf(family) - Number(length))) - 1n;
  const first = address.value & ~hostMask;
  const range = { family, first, last: first | hostMask };
  const normal = `${formatAddress({ family, value: first })}/${Number(length)}`;
  const warnings = first === address.value ? [] : [`"${text}" has host bits set and is taken as ${normal}`];
  return { ok: true, range, warnings };
}

/** A range as text: first and last address. */
export function describeRange({ family, first, last }: AddressRange): string {
  return `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`;
}

/** True when every address of `inner` is one of `outer`. */
export function contains(outer: AddressRange, inner: AddressRange): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

/** True when the two ranges share an address. */
export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** `ranges` without the addresses of `hole`, in order. */
export function without(ranges: readonly AddressRange[], hole: AddressRange): readonly AddressRange[] {
  return ranges.flatMap((range) => {
    if (!overlaps(range, hole)) return [range];
    const before = { ...range, last: hole.first - 1n };
    const after = { ...range, first: hole.last + 1n };
    return [before, after].filter(({ first, last }) => first <= last);
  });
}

const NOT_ROUTED: readonly AddressRange[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '240.0.0.0/4',
  'fc00::/7',
  '2001:db8::/32',
].flatMap((text) => rangesOf(text));

/** Not the address of a host: packets to it go to every host on the link. */
export const LIMITED_BROADCAST: AddressRange = { family: 4, first: 0xffffffffn, last: 0xffffffffn };

/** True when the whole range is private, shared, for benchmarks or documentation, or reserved: not routed on the internet. */
export function isPrivateOrReserved(range: AddressRange): boolean {
  return NOT_ROUTED.some((block) => contains(block, range));
}

function rangesOf(text: string): readonly AddressRange[] {
  const parsed = parseRange(text);
  return parsed.ok ? [parsed.range] : [];
}

/** A range whose first address has the number `start`. */
interface NumberedRange extends AddressRange {
  readonly start: bigint;
}

/** Numbers the addresses of disjoint ranges from 0 on, in the order of the ranges, without listing them. */
export class AddressSpace {
  readonly size: bigint;
  private readonly ranges: readonly NumberedRange[];

  constructor(ranges: readonly AddressRange[]) {
    let start = 0n;
    this.ranges = ranges.map((range) => {
      const numbered = { ...range, start };
      start += range.last - range.first + 1n;
      return numbered;
    });
    this.size = start;
  }

  /** The number of an address; undefined when it is outside the ranges. */
  numberOf(ip: string): bigint | undefined {
    const address = parseAddress(ip);
    const range = address && this.ranges.find((candidate) => isIn(candidate, address));
    return range && range.start + address.value - range.first;
  }

  /** The address with number `n`; throws RangeError when there is none. */
  addressOf(n: bigint): string {
    const range = this.ranges.find(({ start, first, last }) => n >= start && n - start <= last - first);
    if (!range) throw new RangeError(`there is no address ${n} among ${this.size}`);
    return formatAddress({ family: range.family, value: range.first + n - range.start });
  }
}

function isIn({ family, first, last }: AddressRange, address: IpAddress): boolean {
  return family === address.family && first <= address.value && address.value <= last;
}
