import { countBits, formatAddress, parseAddress, type IpAddress } from './address';
import { parseRange, type AddressRange } from './range';

/** Allows or refuses connections to a range of addresses. */
interface DialRule {
  readonly range: AddressRange;
  readonly isAllowed: boolean;
  /** Text in the settings: `10.0.0.0/8`, or `!10.0.0.5/32` to refuse. */
  readonly text: string;
}

/**
 * Addresses that may be dialled: the most specific range decides, as in a routing table. Sorted by it, so the first that contains an address decides.
 */
export type DialRules = readonly DialRule[];

/** Parsed rules, or the problem of each invalid entry. */
export type ParsedDialRules =
  { readonly ok: true; readonly rules: DialRules } | { readonly ok: false; readonly errors: readonly string[] };

/** Maximum number of rules of one list. */
const MAX_DIAL_RULES = 1_000;

/** The entry for the preset: `default, 127.42.0.0/16` is the preset and one loopback network. */
const PRESET_ENTRY = 'default';

/** Everything except this host (`0.0.0.0` and `::` reach it too), link-local addresses and the metadata addresses of clouds. */
const DEFAULT_DIAL_RULE_TEXTS: readonly string[] = [
  '0.0.0.0/0',
  '::/0',
  '!0.0.0.0/8',
  '!127.0.0.0/8',
  '!169.254.0.0/16',
  '!::/96',
  '!fe80::/10',
  '!fd00:ec2::254/128',
];

const MAPPED = parsePrefix('::ffff:0:0/96');
/** IPv6 prefixes with an embedded IPv4 address, `shift` bits from the end, to which another host translates. */
const CARRIERS: readonly { readonly prefix: AddressRange | undefined; readonly shift: bigint }[] = [
  // NAT64 (RFC 6052, RFC 8215), SIIT (RFC 2765), 6to4 (RFC 3056).
  { prefix: parsePrefix('64:ff9b::/96'), shift: 0n },
  { prefix: parsePrefix('64:ff9b:1::/48'), shift: 0n },
  { prefix: parsePrefix('::ffff:0:0:0/96'), shift: 0n },
  { prefix: parsePrefix('2002::/16'), shift: 80n },
];

/** The preset of `parseDialRules`. */
export const DEFAULT_DIAL_RULES: DialRules = sorted(DEFAULT_DIAL_RULE_TEXTS.flatMap((text) => parseRule(text) ?? []));

/**
 * Parses rules: an address or range (`10.0.0.0/8`, `fd00::/64`, `10.1.2.3`) is allowed, or refused if it starts with `!`, and `default` is the
 * preset. The most specific range decides, of two equal ones the refusing one; addresses in no range are refused. So a list without `default` allows
 * only the addresses in it, and an empty list allows none.
 */
export function parseDialRules(texts: readonly string[]): ParsedDialRules {
  if (texts.length > MAX_DIAL_RULES)
    return { ok: false, errors: [`must have at most ${MAX_DIAL_RULES} entries; has ${texts.length}`] };
  const rules: DialRule[] = [];
  const errors: string[] = [];
  for (const text of texts.map((each) => each.trim())) {
    const rule = text === PRESET_ENTRY ? undefined : parseRule(text);
    if (text === PRESET_ENTRY) rules.push(...DEFAULT_DIAL_RULES);
    else if (rule) rules.push(rule);
    else
      errors.push(
        `must be "${PRESET_ENTRY}", an address or a range like 10.0.0.0/8, with "!" to refuse it; got "${text}"`,
      );
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, rules: sorted(rules) };
}

/**
 * Whether an address may be dialled. IPv4 embedded in IPv6 counts as the IPv4 address that is reached: `::ffff:127.0.0.1` is
 * 127.0.0.1, and of a NAT64 or 6to4 address both itself and its IPv4 address must be allowed. Text that is not an address, such
 * as a name, `127.1` or `0x7f000001`, is refused: its address is known only after a resolution.
 */
export function mayDial(rules: DialRules, address: string): boolean {
  const parsed = parseAddress(address);
  return (
    parsed !== undefined && reachedAddresses(parsed).every((each) => decidingRule(rules, each)?.isAllowed === true)
  );
}

const LOOPBACK = sorted(['127.0.0.0/8', '::1'].flatMap((text) => parseRule(text) ?? []));

/** Whether two addresses are the same, each possibly IPv4 embedded in IPv6. */
export function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [parseAddress(one), parseAddress(other)].map((each) => each && reachedAddresses(each)[0]);
  return a !== undefined && a.family === b?.family && a.value === b.value;
}

/** Whether an address reaches the host that dials it: 127.0.0.0/8, ::1 and its IPv4 forms embedded in IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return mayDial(LOOPBACK, address);
}

const MEMBER = sorted(
  [...DEFAULT_DIAL_RULE_TEXTS.filter((text) => text !== '!127.0.0.0/8'), '::1'].flatMap(
    (text) => parseRule(text) ?? [],
  ),
);

/**
 * Whether an address may belong to a member of the mesh: not a link-local one, nor the metadata address of clouds,
 * where each caller would reach its own host's. Loopback is allowed for a mesh on one host. So is text that is no
 * address: names are checked once resolved.
 */
export function isMemberAddress(address: string): boolean {
  return parseAddress(address) === undefined || mayDial(MEMBER, address);
}

function decidingRule(rules: DialRules, { family, value }: IpAddress): DialRule | undefined {
  return rules.find(({ range }) => range.family === family && range.first <= value && value <= range.last);
}

/** Returns the addresses that a connection to this one reaches, all of which must be allowed. */
function reachedAddresses(address: IpAddress): readonly IpAddress[] {
  if (address.family === 4) return [address];
  if (isIn(MAPPED, address)) return [carried(address, 0n)];
  const carrier = CARRIERS.find(({ prefix }) => isIn(prefix, address));
  return carrier ? [address, carried(address, carrier.shift)] : [address];
}

function carried({ value }: IpAddress, shift: bigint): IpAddress {
  return { family: 4, value: (value >> shift) & 0xffffffffn };
}

function isIn(range: AddressRange | undefined, { family, value }: IpAddress): boolean {
  return range !== undefined && range.family === family && range.first <= value && value <= range.last;
}

function parsePrefix(text: string): AddressRange | undefined {
  const parsed = parseRange(text);
  return parsed.ok ? parsed.range : undefined;
}

/** Parses a rule; undefined for invalid text, and for IPv4 embedded in IPv6, which counts as IPv4. */
function parseRule(text: string): DialRule | undefined {
  const isAllowed = !text.startsWith('!');
  const written = isAllowed ? text : text.slice(1);
  const address = parseAddress(written);
  const range = parsePrefix(address ? `${written}/${countBits(address.family)}` : written);
  if (!range || (isIn(MAPPED, { family: range.family, value: range.first }) && countAddresses(range) <= 1n << 32n))
    return undefined;
  const bits = countBits(range.family) - (countAddresses(range).toString(2).length - 1);
  const normal = `${formatAddress({ family: range.family, value: range.first })}/${bits}`;
  return { range, isAllowed, text: isAllowed ? normal : `!${normal}` };
}

function countAddresses({ first, last }: AddressRange): bigint {
  return last - first + 1n;
}

function sorted(rules: readonly DialRule[]): DialRules {
  const rank = ({ range, isAllowed }: DialRule): readonly [bigint, number] => [
    countAddresses(range),
    isAllowed ? 1 : 0,
  ];
  return [...rules].sort((a, b) => {
    const [[sizeA, allowedA], [sizeB, allowedB]] = [rank(a), rank(b)];
    return sizeA === sizeB ? allowedA - allowedB : sizeA < sizeB ? -1 : 1;
  });
}
