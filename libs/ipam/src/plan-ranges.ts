import {
  contains,
  describeRange,
  isPrivateOrReserved,
  LIMITED_BROADCAST,
  overlaps,
  parseRange,
  without,
  type AddressRange,
} from './range';

/** Range that the operator configured for one kind of service. */
export interface RangeSetting {
  /** Kind that gets the addresses. */
  readonly owner: string;
  /** Range such as `241.0.0.0/8`. */
  readonly range: string;
}

/** Addresses of one owner without the ranges of others; in order, disjoint. */
export interface OwnedRanges {
  readonly owner: string;
  readonly ranges: readonly AddressRange[];
}

/** Ranges of all owners, or every reason why the settings conflict. */
export type RangePlan =
  | { readonly ok: true; readonly owned: readonly OwnedRanges[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly errors: readonly string[] };

interface OwnerRange {
  readonly owner: string;
  readonly text: string;
  readonly range: AddressRange;
}

/**
 * Checks all ranges at once (docs/design.md §4 Ranges). Clears host bits, and carves a range inside another out of it,
 * both with a warning. Errors are equal or partly overlapping ranges, an owner left without addresses, and, unless
 * `force`, addresses that may be routed on the internet.
 */
export function planRanges(settings: readonly RangeSetting[], options: { readonly force?: boolean } = {}): RangePlan {
  const warnings: string[] = [];
  const errors: string[] = [];
  const parsed = settings.flatMap(({ owner, range: text }): readonly OwnerRange[] => {
    const result = parseRange(text);
    if (!result.ok) {
      errors.push(`${owner}: ${result.error}`);
      return [];
    }
    warnings.push(...result.warnings.map((warning) => `${owner}: ${warning}`));
    return [{ owner, text, range: result.range }];
  });
  for (const { owner, text, range } of parsed) {
    if (isPrivateOrReserved(range)) continue;
    const finding = `${owner}: ${text} is neither private nor reserved, its addresses may be somebody's on the internet`;
    if (options.force === true) warnings.push(finding);
    else errors.push(finding);
  }
  errors.push(...clashes(parsed));
  const owned = parsed.map((one) => carve(one, parsed, warnings));
  if (errors.length === 0) {
    errors.push(
      ...owned.filter((o) => o.ranges.length === 0).map((o) => `${o.owner}: other ranges leave no address of it`),
    );
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, owned, warnings };
}

/**
 * Returns why `wanted` cannot be carved out of a zone's configured ranges; undefined if it can: it lies within one of
 * them or shares no address with any. Invalid ranges have their own checks.
 */
export function carvingFault(
  wanted: RangeSetting,
  configured: readonly RangeSetting[],
  options: { readonly force?: boolean } = {},
): string | undefined {
  const parsed = parseRange(wanted.range);
  if (!parsed.ok) return undefined;
  const { range } = parsed;
  const what = `the range ${wanted.range} of ${wanted.owner}`;
  if (options.force !== true && !isPrivateOrReserved(range)) return `${what} is neither private nor reserved`;
  for (const { owner, range: text } of configured) {
    const other = parseRange(text);
    if (!other.ok || !overlaps(range, other.range)) continue;
    if (!contains(range, other.range) && contains(other.range, range)) continue;
    const how = !contains(range, other.range) ? 'overlaps in part' : contains(other.range, range) ? 'is' : 'contains';
    return `${what} ${how} the range ${text} of ${owner} that this zone is configured with`;
  }
  return undefined;
}

function clashes(parsed: readonly OwnerRange[]): readonly string[] {
  return parsed.flatMap((a, i) =>
    parsed.slice(i + 1).flatMap((b) => {
      if (!overlaps(a.range, b.range) || contains(a.range, b.range) !== contains(b.range, a.range)) return [];
      const how = contains(a.range, b.range) ? 'are the same range' : 'overlap in part';
      return [`${a.owner} and ${b.owner}: ${a.text} and ${b.text} ${how}`];
    }),
  );
}

function carve(one: OwnerRange, all: readonly OwnerRange[], warnings: string[]): OwnedRanges {
  let ranges: readonly AddressRange[] = without([one.range], LIMITED_BROADCAST);
  for (const other of all) {
    if (other === one || !contains(one.range, other.range) || contains(other.range, one.range)) continue;
    ranges = without(ranges, other.range);
    warnings.push(
      `${one.owner}: ${describeRange(other.range)} of ${other.owner} is left out of ${describeRange(one.range)}`,
    );
  }
  return { owner: one.owner, ranges };
}
