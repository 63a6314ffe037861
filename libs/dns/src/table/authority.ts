import { isIPv4 } from 'node:net';
import { parseTemplate } from '@causeway/naming';
import type { DnsConfig } from '../dns-config';
import { formatDnsName, nibbles, parentName, parseDnsName, type DnsName } from '../wire/dns-name';
import type { EncodedAnswer } from '../wire/encoded-answer';

/** The apex of a zone of names for which the server is authoritative: a suffix, or a hostname outside all suffixes. */
export class Apex {
  readonly text: string;
  /** Serial of the SOA in the two cached answers below. */
  serial = -1;
  noData: EncodedAnswer | undefined;
  nxDomain: EncodedAnswer | undefined;

  constructor(
    readonly name: DnsName,
    readonly isSuffix: boolean,
  ) {
    this.text = formatDnsName(name);
  }
}

/**
 * The suffixes for which the server is authoritative: the configured ones and, for each generator, the literal text
 * after its last placeholder if it has at least two labels. A suffix below another suffix belongs to the outer one.
 */
export class Authority {
  /** Incremented when the set of suffixes changes. */
  version = 0;
  private readonly apexes = new Map<DnsName, Apex>();
  /** Number of settings and generators that produce each suffix. */
  private readonly users = new Map<DnsName, number>();
  private readonly ofGenerator = new Map<string, DnsName>();

  constructor(configured: readonly DnsName[]) {
    configured.forEach((suffix) => this.add(suffix));
  }

  /** Sets the template of a generator; undefined removes the generator. */
  setGenerator(key: string, template: string | undefined): void {
    const before = this.ofGenerator.get(key);
    const suffix = template === undefined ? undefined : literalSuffix(template);
    if (before === suffix) return;
    if (before !== undefined) this.remove(before);
    if (suffix === undefined) this.ofGenerator.delete(key);
    else {
      this.ofGenerator.set(key, suffix);
      this.add(suffix);
    }
  }

  /** Returns the outermost suffix that equals `name` or is above it. */
  findApex(name: DnsName): Apex | undefined {
    let found: Apex | undefined;
    for (let at = name; at !== ''; at = parentName(at)) found = this.apexes.get(at) ?? found;
    return found;
  }

  /** Returns the outermost suffixes as text. */
  suffixes(): string[] {
    return [...this.apexes.keys()].filter((name) => this.findApex(name)?.name === name).map(formatDnsName);
  }

  private add(suffix: DnsName): void {
    const users = this.users.get(suffix) ?? 0;
    this.users.set(suffix, users + 1);
    if (users > 0) return;
    this.apexes.set(suffix, new Apex(suffix, true));
    this.version += 1;
  }

  private remove(suffix: DnsName): void {
    const users = (this.users.get(suffix) ?? 1) - 1;
    if (users > 0) return void this.users.set(suffix, users);
    this.users.delete(suffix);
    this.apexes.delete(suffix);
    this.version += 1;
  }
}

/** Returns the suffix that all names of a template share: the text after the first dot that follows the last placeholder. */
export function literalSuffix(text: string): DnsName | undefined {
  const parsed = parseTemplate(text);
  if (!parsed.ok || parsed.template.parts.every((part) => part.type === 'literal')) return undefined;
  const { literalSuffix: literal } = parsed.template;
  const dot = literal.indexOf('.');
  const suffix = dot < 0 ? '' : literal.slice(dot + 1);
  return suffix.includes('.') ? parseDnsName(suffix) : undefined;
}

const MAX_ZONES_PER_RANGE = 256;

/** Returns the suffixes that no generator changes: the configured ones, that of direct names and the reverse zones of the VIP ranges. */
export function configuredSuffixes(
  config: Pick<DnsConfig, 'suffixes' | 'ranges'> & Partial<Pick<DnsConfig, 'directSuffix'>>,
): DnsName[] {
  const names = [...config.suffixes, config.directSuffix ?? '', ...config.ranges.flatMap(reverseSuffixes)];
  return [...new Set(names.flatMap((name) => parseDnsName(name) ?? []))].filter((name) => name !== '');
}

/**
 * Returns the reverse zones of a range: `241.in-addr.arpa` for 241.0.0.0/8. A prefix that ends inside a label gives
 * several zones, or none if there would be too many.
 */
export function reverseSuffixes(cidr: string): string[] {
  const [ip = '', length = ''] = cidr.split('/');
  const v4 = isIPv4(ip);
  const labels = v4 ? ip.split('.') : nibbles(ip);
  const [bits, radix, top] = v4 ? [8, 10, 'in-addr.arpa'] : [4, 16, 'ip6.arpa'];
  const prefix = Number(length);
  const whole = Math.ceil(prefix / bits);
  const free = 2 ** (whole * bits - prefix);
  if (!Number.isInteger(prefix) || whole === 0 || free > MAX_ZONES_PER_RANGE) return [];
  const fixed = labels.slice(0, whole - 1);
  const first = parseInt(labels[whole - 1] ?? '0', radix);
  return Array.from({ length: free }, (_, i) =>
    [(first - (first % free) + i).toString(radix), ...[...fixed].reverse(), top].join('.'),
  );
}
