import { Apex } from '../table/authority';
import type { Names } from '../table/followed-names';
import type { HostEntry, TableEntry } from '../table/table-entries';
import { Rcode, Type } from '../wire/codes';
import { firstLabel, parentName, type DnsName } from '../wire/dns-name';
import { codeOnly, type EncodedAnswer } from '../wire/encoded-answer';
import type { AnswerBuilder } from './answer-builder';
import type { DirectNames } from './direct-names';
import { findPort, findHostAbove, isServiceLabel, portLabel } from './port-names';

/** Sources of the answers. */
export interface AnswerSources {
  /** Names; a reload replaces the table. */
  readonly names: Names;
  readonly builder: AnswerBuilder;
  readonly serial: () => number;
  readonly direct?: DirectNames;
}

/** Builds authoritative answers. Each encoded answer is cached in the entry of its name until that entry changes. */
export class Answers {
  private readonly refused = codeOnly(Rcode.REFUSED);
  private readonly notAuth = codeOnly(Rcode.NOTAUTH);
  private readonly notImplemented = codeOnly(Rcode.NOTIMP);

  constructor(private readonly sources: AnswerSources) {}

  /** Returns the answer; undefined if this server is not authoritative for the name. */
  find(name: DnsName, type: number): EncodedAnswer | undefined {
    if (type >= Type.IXFR && type <= Type.MAILA) return this.transfer(name, type);
    if (this.sources.direct?.covers(name)) return this.answerDirectName(this.sources.direct, name, type);
    const host = this.sources.names.table.host(name);
    if (host) return this.ofHost(host, type);
    const reverse = this.sources.names.table.reverse(name);
    if (reverse) {
      if (type !== Type.PTR && type !== Type.ANY) return this.empty(this.getApex(reverse));
      return (reverse.ptr ??= this.sources.builder.pointers(reverse));
    }
    return this.answerOtherName(name, type);
  }

  private ofHost(host: HostEntry, type: number): EncodedAnswer {
    // Nearly all queries return here. The code below reads memory that is not in the CPU's cache for random names.
    if (type === Type.A && host.a) return host.a;
    if (type === Type.AAAA && host.aaaa) return host.aaaa;
    const { builder: records } = this.sources;
    const service = host.holders[0]?.service;
    switch (type) {
      case Type.A:
        if (service?.family !== 4) break;
        return (host.a ??= records.address(host));
      case Type.AAAA:
        if (service?.family !== 6) break;
        return (host.aaaa ??= records.address(host));
      case Type.TXT:
        return host.cached('TXT', () => records.description(host));
      case Type.ANY:
        return host.cached('ANY', () => records.everything(host));
      default:
    }
    const apex = this.getApex(host);
    return apex.name === host.name ? this.answerApex(apex, type) : this.empty(apex);
  }

  /** Answers names under the direct suffix, which `authority` contains. */
  private answerDirectName(direct: DirectNames, name: DnsName, type: number): EncodedAnswer | undefined {
    const apex = this.sources.names.authority.findApex(name);
    if (apex?.name === name) return this.answerApex(apex, type);
    if (!apex || (firstLabel(name) === 'ns' && parentName(name) === apex.name)) return this.answerOtherName(name, type);
    const found = direct.find(name, type);
    if (found === 'missing') return this.missing(apex);
    return found === 'empty' ? this.empty(apex) : found;
  }

  /** Answers names that are no hostname: an apex, a port of a hostname, an empty non-terminal, a name that does not exist. */
  private answerOtherName(name: DnsName, type: number): EncodedAnswer | undefined {
    const { names, builder: records } = this.sources;
    const { authority, table } = names;
    const apex = authority.findApex(name);
    if (apex?.name === name) return this.answerApex(apex, type);
    // Below a suffix only port names depend on a hostname above; searching for it is the largest cost of an NXDOMAIN.
    const above = apex && !isServiceLabel(name) ? undefined : findHostAbove(name, table);
    if (above) return this.answerBelowHost(above, name, type);
    if (!apex) return undefined;
    if (firstLabel(name) === 'ns' && parentName(name) === apex.name)
      return records.nameServer(type) ?? this.empty(apex);
    return table.hasNamesBelow(name) ? this.empty(apex) : this.missing(apex);
  }

  /** Answers a name below a hostname: `_port._tcp.hostname` (RFC 2782), or a name that does not exist. */
  private answerBelowHost(host: HostEntry, name: DnsName, type: number): EncodedAnswer {
    const apex = this.getApex(host);
    if (parentName(name) === host.name && firstLabel(name) === '_tcp') return this.empty(apex);
    const label = portLabel(name, host);
    const port = label === undefined ? undefined : findPort(host, label);
    if (port === undefined) return this.belowOrMissing(apex, name);
    if (type !== Type.SRV && type !== Type.ANY) return this.empty(apex);
    return host.cached(`SRV ${port}`, () => this.sources.builder.service(host, port));
  }

  private answerApex(apex: Apex, type: number): EncodedAnswer {
    const { builder: records, serial } = this.sources;
    if (type === Type.SOA) return records.startOfAuthority(apex, serial());
    if (type === Type.NS) return records.nameServers(apex);
    if (type === Type.ANY) return records.startOfAuthority(apex, serial());
    return this.empty(apex);
  }

  private belowOrMissing(apex: Apex, name: DnsName): EncodedAnswer {
    return this.sources.names.table.hasNamesBelow(name) ? this.empty(apex) : this.missing(apex);
  }

  /** Returns NOERROR without records. */
  private empty(apex: Apex): EncodedAnswer {
    this.refresh(apex);
    return (apex.noData ??= this.sources.builder.negative(apex, Rcode.NOERROR));
  }

  private missing(apex: Apex): EncodedAnswer {
    this.refresh(apex);
    return (apex.nxDomain ??= this.sources.builder.negative(apex, Rcode.NXDOMAIN));
  }

  private refresh(apex: Apex): void {
    const serial = this.sources.serial();
    if (apex.serial === serial) return;
    apex.serial = serial;
    apex.noData = undefined;
    apex.nxDomain = undefined;
  }

  /** Returns the apex above an entry; an entry outside all suffixes is its own apex. */
  private getApex(entry: TableEntry): Apex {
    const { authority } = this.sources.names;
    if (entry.apex && entry.apexVersion === authority.version) return entry.apex;
    entry.apexVersion = authority.version;
    return (entry.apex = authority.findApex(entry.name) ?? new Apex(entry.name, false));
  }

  /** Zone transfers are refused (RFC 5936 §2.2.1); MAILA and MAILB are obsolete. */
  private transfer(name: DnsName, type: number): EncodedAnswer {
    if (type >= Type.MAILB) return this.notImplemented;
    const ours = this.sources.names.authority.findApex(name) ?? this.sources.names.table.host(name);
    return ours ? this.refused : this.notAuth;
  }
}
