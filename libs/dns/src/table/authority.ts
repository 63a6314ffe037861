import { parseTemplate } from '@causeway/naming';
import { formatDnsName, parentName, parseDnsName, type DnsName } from '../wire/dns-name';
import { Apex } from './apex';

/**
 * Which names are ours: configured suffixes, and of each generator the literal text after its last placeholder where
 * that has two labels or more. A suffix under another one belongs to it.
 */
export class Authority {
  /** Raised when the suffixes change. */
  version = 0;
  private readonly apexes = new Map<DnsName, Apex>();
  private readonly users = new Map<DnsName, number>();
  private readonly ofGenerator = new Map<string, DnsName>();

  constructor(private readonly configured: readonly DnsName[]) {
    this.configured.forEach((suffix) => this.add(suffix));
  }

  /** Takes in a generator's template, or that it is gone. */
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

  /** Forgets all generators. */
  clear(): void {
    for (const key of [...this.ofGenerator.keys()]) this.setGenerator(key, undefined);
  }

  /** The outermost suffix that `name` is or is under. */
  apexOf(name: DnsName): Apex | undefined {
    let found: Apex | undefined;
    for (let at = name; at !== ''; at = parentName(at)) found = this.apexes.get(at) ?? found;
    return found;
  }

  /** The suffixes as text, outermost only. */
  suffixes(): string[] {
    return [...this.apexes.keys()].filter((name) => this.apexOf(name)?.name === name).map(formatDnsName);
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

/** The suffix that a template's names share, from the first dot after its last placeholder on. */
export function literalSuffix(text: string): DnsName | undefined {
  const parsed = parseTemplate(text);
  if (!parsed.ok || parsed.template.parts.every((part) => part.type === 'literal')) return undefined;
  const { literalSuffix: literal } = parsed.template;
  const dot = literal.indexOf('.');
  const suffix = dot < 0 ? '' : literal.slice(dot + 1);
  return suffix.includes('.') ? parseDnsName(suffix) : undefined;
}
