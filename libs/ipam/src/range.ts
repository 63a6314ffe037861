import { countBits, formatAddress, parseAddress, type IpAddress } from './address';

/** Addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** A parsed range, or the problem of its text. */
export type ParsedRange =
  | { readonly ok: true; readonly range: AddressRange; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly error: string };

/** Parses `241.0.0.0/8` or `fd00::/64`. Clears host bits, with a warning (docs/design.md §4 Ranges). */
export function parseRange(text: string): ParsedRange {
  const [ip = '', length = '', ...more] = text.trim().split('/');
  const address = parseAddress(ip);
  if (!address || more.length > 0 || !/^[0-9]{1,3}$/.test(length) || Number(length) > countBits(address.family)) {
    return { ok: false, error: `must be a range like 241.0.0.0/8 or fd00::/64; got "${text}"` };
  }
  const { family } = address;
  const hostMask = (1n << BigInt(countBits(family) - Number(length))) - 1n;
  const first = address.value & ~hostMask;
  const range = { family, first, last: first | hostMask };
  const normal = `${formatAddress({ family, value: first })}/${Number(length)}`;
  const warnings = first === address.value ? [] : [`"${text}" has host bits set and is taken as ${normal}`];
  return { ok: true, range, warnings };
}

/** Formats a range as its first and last address. */
export function describeRange({ family, first, last }: AddressRange): string {
  return `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`;
}

/** True if every address of `inner` is in `outer`. */
export function contains(outer: AddressRange, inner: AddressRange): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

/** True if the two ranges share an address. */
export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** Returns `ranges` without the addresses of `hole`, in order. */
export function without(ranges: readonly AddressRange[], hole: AddressRange): readonly AddressRange[] {
  return ranges.flatMap((range) => {
    if (!overlaps(range, hole)) return [range];
    const before = { ...range, last: hole.first - 1n };
    const after = { ...range, first: hole.last + 1n };
    return [before, after].filter(({ first, last }) => first <= last);
  });
}

/** Returns `ranges`, in order and disjoint, without the addresses of any hole; holes may be nested. Linear after sorting. */
export function withoutAll(ranges: readonly AddressRange[], holes: readonly AddressRange[]): readonly AddressRange[] {
  const sorted = [...holes].sort((a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  return ranges.flatMap((range) => {
    const left: AddressRange[] = [];
    let { first } = range;
    for (const hole of sorted) {
      if (!overlaps(range, hole)) continue;
      if (hole.first > first) left.push({ ...range, first, last: hole.first - 1n });
      if (hole.last >= first) first = hole.last + 1n;
    }
    return first <= range.last ? [...left, { ...range, first }] : left;
  });
}

const NOT_ROUTED: readonly AddressRange[] = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '240.0.0.0/4',
  'fc00::/7',
  '2001:db8::/32',
].flatMap((text) => parseRanges(text));

/** Never the address of a host: packets to it reach every host on the link. */
export const LIMITED_BROADCAST: AddressRange = { family: 4, first: 0xffffffffn, last: 0xffffffffn };

/** True if the whole range is private, shared, loopback, for benchmarks or documentation, or reserved: not routed on the internet. */
export function isPrivateOrReserved(range: AddressRange): boolean {
  return NOT_ROUTED.some((block) => contains(block, range));
}

function parseRanges(text: string): readonly AddressRange[] {
  const parsed = parseRange(text);
  return parsed.ok ? [parsed.range] : [];
}

/** A range with a value. */
export type Ranged<T> = AddressRange & { readonly value: T };

/** Finds the range of an address among disjoint ranges, in logarithmic time. */
export class RangeIndex<T> {
  private readonly sorted: readonly Ranged<T>[];

  constructor(ranges: readonly Ranged<T>[]) {
    this.sorted = [...ranges].sort((a, b) => a.family - b.family || (a.first < b.first ? -1 : 1));
  }

  /** Returns the range that contains the address. */
  find({ family, value }: IpAddress): Ranged<T> | undefined {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const range = this.sorted[middle];
      if (range && (range.family < family || (range.family === family && range.last < value))) low = middle + 1;
      else high = middle;
    }
    const range = this.sorted[low];
    return range && range.family === family && range.first <= value ? range : undefined;
  }
}

/** Numbers the addresses of disjoint ranges from 0, in the order of the ranges, without listing them. */
export class AddressSpace {
  readonly size: bigint;
  private readonly index: RangeIndex<bigint>;
  /** Ranges with the number of their first address. */
  private readonly numbered: readonly Ranged<bigint>[];

  constructor(ranges: readonly AddressRange[]) {
    let start = 0n;
    this.numbered = ranges.map((range) => {
      const numbered = { ...range, value: start };
      start += range.last - range.first + 1n;
      return numbered;
    });
    this.index = new RangeIndex(this.numbered);
    this.size = start;
  }

  /** Returns the number of an address; undefined if it is outside the ranges. */
  toNumber(ip: string): bigint | undefined {
    const address = parseAddress(ip);
    const range = address && this.index.find(address);
    return range && range.value + address.value - range.first;
  }

  /** Returns the address with number `n`; throws RangeError if there is none. */
  toAddress(n: bigint): string {
    let [low, high] = [0, this.numbered.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.numbered[middle]?.value ?? 0n) <= n) low = middle;
      else high = middle - 1;
    }
    const range = n >= 0n && n < this.size ? this.numbered[low] : undefined;
    if (!range) throw new RangeError(`there is no address ${n} among ${this.size}`);
    return formatAddress({ family: range.family, value: range.first + n - range.value });
  }
}
