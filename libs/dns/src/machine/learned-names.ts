import { identityKey } from '@causeway/resources';
import type { Answers } from '../answer/answers';
import type { RecursiveResolver } from '../answer/responder';
import type { DnsMetrics } from '../dns-metrics';
import type { Authority } from '../table/authority';
import type { NameTable } from '../table/name-table';
import type { NamedService } from '../table/named-service';
import { Rcode } from '../wire/codes';
import { firstLabel, formatDnsName, parentName, type DnsName } from '../wire/dns-name';
import { codeOnly, type EncodedAnswer } from '../wire/encoded-answer';
import { writeReply } from '../wire/reply';

/** Source of names that are requested one by one from a server: only some of them are known. */
export interface LearnedNameSource {
  /**
   * Returns the service with a hostname in lower case; `pending`: not known yet; undefined: no service has it. The
   * first call sends the request.
   */
  get(hostname: string): NamedService | 'pending' | undefined;
  /** Resolves when a hostname is no longer pending, or after a timeout. Never rejects. */
  settled(hostname: string): Promise<void>;
  /** Calls `listener` with hostnames whose answer may have changed, until the returned function is called. */
  subscribe(listener: (hostnames: readonly string[]) => void): () => void;
}

const HOSTNAME = /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;
/** Maximum number of hostnames in the table; the oldest is evicted, and requested again by the next query. */
const MAX_LEARNED = 16_384;
/** Maximum number of queries that wait for a pending name. */
const MAX_PENDING = 500;

export interface LearnedNamesParts {
  readonly source: LearnedNameSource;
  readonly table: NameTable;
  readonly authority: Authority;
  readonly answers: Answers;
  readonly metrics: DnsMetrics;
  /** Resolves all names outside the suffixes. */
  readonly others: RecursiveResolver;
}

/**
 * Answers queries by the names of a source: known names immediately, others once the source knows them. The table holds
 * the known names that were queried.
 */
export class LearnedNames implements RecursiveResolver {
  private readonly failed = codeOnly(Rcode.SERVFAIL);
  private readonly byHostname = new Map<string, NamedService>();
  /** The hostnames of each service, and its current entry in the table. */
  private readonly byService = new Map<string, { readonly hostnames: Set<string>; shown: NamedService | undefined }>();
  private waiting = 0;

  constructor(private readonly parts: LearnedNamesParts) {}

  /** Subscribes to the source until the returned function is called. */
  follow(): () => void {
    return this.parts.source.subscribe((hostnames) => {
      for (const hostname of hostnames) if (this.byHostname.has(hostname)) this.learn(hostname);
    });
  }

  /** Returns the answer; undefined if it is pending, or if another resolver must be queried. */
  find(name: DnsName, type: number): EncodedAnswer | undefined {
    const hostname = this.hostnameIn(name);
    if (hostname !== undefined && this.learn(hostname) === 'pending') return undefined;
    return this.parts.answers.find(name, type);
  }

  isOfferedTo(...[client]: Parameters<RecursiveResolver['isOfferedTo']>): boolean {
    return this.parts.others.isOfferedTo(client);
  }

  resolve(...asked: Parameters<RecursiveResolver['resolve']>): Promise<Buffer> | undefined {
    const [packet, question, client] = asked;
    const hostname = this.hostnameIn(question.name);
    if (hostname === undefined) return this.parts.others.resolve(...asked);
    const reply = (found: EncodedAnswer): Buffer => {
      this.parts.metrics.answered(question.type, found.rcode);
      const recursion = this.isOfferedTo(client);
      return writeReply(packet, found, { end: question.end, edns: question.edns, udp: client.udp, recursion });
    };
    if (this.waiting >= MAX_PENDING) return Promise.resolve(reply(this.failed));
    this.waiting += 1;
    const settled = this.parts.source.settled(hostname).finally(() => (this.waiting -= 1));
    return settled.then(() => reply(this.find(question.name, question.type) ?? this.failed));
  }

  /** Returns the hostname in a name under a suffix, or in the name of one of its ports; undefined if there is none. */
  private hostnameIn(name: DnsName): string | undefined {
    const { authority } = this.parts;
    const apex = authority.findApex(name);
    if (!apex || apex.name === name || (firstLabel(name) === 'ns' && parentName(name) === apex.name)) return undefined;
    const isPort = firstLabel(name).startsWith('_');
    const hostname = formatDnsName(isPort ? parentName(parentName(name)) : name);
    return HOSTNAME.test(hostname) ? hostname : undefined;
  }

  /** Updates the table with the source's answer for a hostname. */
  private learn(hostname: string): NamedService | 'pending' | undefined {
    const found = this.parts.source.get(hostname);
    const before = this.byHostname.get(hostname);
    const now = found === 'pending' ? undefined : found;
    if (now === before) return found;
    if (now) this.byHostname.set(hostname, now);
    else this.byHostname.delete(hostname);
    const [oldest] = this.byHostname;
    if (oldest && this.byHostname.size > MAX_LEARNED) {
      this.byHostname.delete(oldest[0]);
      this.replace(formatKey(oldest[1]), oldest[0], undefined);
    }
    if (before && (!now || formatKey(before) !== formatKey(now))) this.replace(formatKey(before), hostname, undefined);
    if (now) this.replace(formatKey(now), hostname, now);
    return found;
  }

  /** Adds a hostname to a service's entry, or removes it if `now` is undefined. */
  private replace(key: string, hostname: string, now: NamedService | undefined): void {
    const { table } = this.parts;
    const entry = this.byService.get(key) ?? { hostnames: new Set<string>(), shown: undefined };
    if (now) entry.hostnames.add(hostname);
    else entry.hostnames.delete(hostname);
    if (entry.shown) table.remove(entry.shown);
    const [first] = entry.hostnames;
    const service = now?.service ?? (first === undefined ? undefined : this.byHostname.get(first)?.service);
    if (!service) return void this.byService.delete(key);
    const hostnames = [...entry.hostnames].map((each) => ({ hostname: each, generators: [] }));
    entry.shown = { service, hostnames };
    this.byService.set(key, entry);
    table.add(entry.shown);
  }
}

function formatKey({ service }: NamedService): string {
  return identityKey(service.id);
}
