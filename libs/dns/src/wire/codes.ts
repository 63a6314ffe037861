/**
 * Numbers of record types: those that this server handles (RFC 1035 §3.2.2, 2782, 3596, 6891), and others that programs
 * and users query by name.
 */
export const Type = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  OPT: 41,
  DS: 43,
  DNSKEY: 48,
  SVCB: 64,
  HTTPS: 65,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  CAA: 257,
} as const;

/** Response codes by number (RFC 1035 §4.1.1, 2136 §2.2, 6891 §9). */
export const Rcode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const;

/** Classes by number; every other class is refused. */
export const Class = { IN: 1, ANY: 255 } as const;

const TYPE_NAMES = new Map<number, string>(Object.entries(Type).map(([name, code]) => [code, name]));
const RCODE_NAMES = new Map<number, string>(Object.entries(Rcode).map(([name, code]) => [code, name]));

/** `AAAA` for 28; `TYPE65` for a type without a name in `Type` (RFC 3597 §5). */
export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `TYPE${type}`;
}

/** The number of `AAAA` or `TYPE65` in any case; undefined for any other text. */
export function typeNumber(name: string): number | undefined {
  const upper = name.toUpperCase();
  const known = Object.entries(Type).find(([each]) => each === upper)?.[1];
  if (known !== undefined) return known;
  const digits = /^TYPE(\d{1,5})$/.exec(upper)?.[1];
  return digits !== undefined && Number(digits) <= 65_535 ? Number(digits) : undefined;
}

/** `NXDOMAIN` for 3. */
export function rcodeName(rcode: number): string {
  return RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`;
}
