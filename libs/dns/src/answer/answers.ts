import { Apex } from '../table/apex';
import type { Authority } from '../table/authority';
import type { HostEntry } from '../table/host-entry';
import type { NameTable } from '../table/name-table';
import type { TableEntry } from '../table/own-name';
import { Rcode, Type } from '../wire/codes';
import { firstLabel, parentName, type DnsName } from '../wire/dns-name';
import { askedPort, mayBePort, portOf } from './asked-port';
import { codeOnly, type EncodedAnswer } from '../wire/encoded-answer';
import { type AnswerBuilder } from './answer-builder';

/** What the answers are made of. */
export interface AnswerSources {
  readonly table: NameTable;
  readonly authority: Authority;
  readonly builder: AnswerBuilder;
  readonly serial: () => number;
}

/** Answers about the names that are ours; finished answers are kept with the names and die with their changes. */
export class Answers {
  private readonly refused = codeOnly(Rcode.REFUSED);
  private readonly notAuth = codeOnly(Rcode.NOTAUTH);
  private readonly notImplemented = codeOnly(Rcode.NOTIMP);

  constructor(private readonly sources: AnswerSources) {}

  /** The answer, or undefined when the name is not ours. */
  find(name: DnsName, type: number): EncodedAnswer | undefined {
    if (type >= Type.IXFR && type <= Type.MAILA) return this.transfer(name, type);
    const host = this.sources.table.host(name);
    if (host) return this.ofHost(host, type);
    const reverse = this.sources.table.reverse(name);
    if (reverse) {
      if (type !== Type.PTR && type !== Type.ANY) return this.empty(this.apexOf(reverse));
      return (reverse.ptr ??= this.sources.builder.pointers(reverse));
    }
    return this.ofOther(name, type);
  }

  private ofHost(host: HostEntry, type: number): EncodedAnswer {
    // Nearly all questions end here; what follows touches memory that random names never have in a cache.
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
    const apex = this.apexOf(host);
    return apex.name === host.name ? this.ofApex(apex, type) : this.empty(apex);
  }

  /** Names without records of services: the top of a suffix, ports of a hostname, names between, names that are not. */
  private ofOther(name: DnsName, type: number): EncodedAnswer | undefined {
    const { authority, table, builder: records } = this.sources;
    const apex = authority.apexOf(name);
    if (apex?.name === name) return this.ofApex(apex, type);
    // Under a suffix only ports depend on a hostname above; to look for one costs more than all else of an NXDOMAIN.
    const above = apex && !mayBePort(name) ? undefined : this.hostAbove(name);
    if (above) return this.underHost(above, name, type);
    if (!apex) return undefined;
    if (firstLabel(name) === 'ns' && parentName(name) === apex.name)
      return records.nameServer(type) ?? this.empty(apex);
    return table.hasNamesBelow(name) ? this.empty(apex) : this.missing(apex);
  }

  /** `_port._proto.hostname` (RFC 2782), or nothing that exists. */
  private underHost(host: HostEntry, name: DnsName, type: number): EncodedAnswer {
    const apex = this.apexOf(host);
    if (parentName(name) === host.name && firstLabel(name) === '_tcp') return this.empty(apex);
    const label = askedPort(name, host);
    const port = label === undefined ? undefined : portOf(host, label);
    if (port === undefined) return this.belowOrMissing(apex, name);
    if (type !== Type.SRV && type !== Type.ANY) return this.empty(apex);
    return host.cached(`SRV ${port}`, () => this.sources.builder.service(host, port));
  }

  private ofApex(apex: Apex, type: number): EncodedAnswer {
    const { builder: records, serial } = this.sources;
    if (type === Type.SOA) return records.startOfAuthority(apex, serial());
    if (type === Type.NS) return records.nameServers(apex);
    if (type === Type.ANY) return records.startOfAuthority(apex, serial());
    return this.empty(apex);
  }

  private belowOrMissing(apex: Apex, name: DnsName): EncodedAnswer {
    return this.sources.table.hasNamesBelow(name) ? this.empty(apex) : this.missing(apex);
  }

  /** NOERROR without data. */
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

  /** The suffix that an own name is under, or the name itself. */
  private apexOf(own: TableEntry): Apex {
    const { authority } = this.sources;
    if (own.apex && own.apexVersion === authority.version) return own.apex;
    own.apexVersion = authority.version;
    return (own.apex = authority.apexOf(own.name) ?? new Apex(own.name, false));
  }

  private hostAbove(name: DnsName): HostEntry | undefined {
    for (let at = parentName(name); at !== ''; at = parentName(at)) {
      const host = this.sources.table.host(at);
      if (host) return host;
    }
    return undefined;
  }

  /** Zones are not handed out (RFC 5936 §2.2.1); MAILA and MAILB are of the past. */
  private transfer(name: DnsName, type: number): EncodedAnswer {
    if (type >= Type.MAILB) return this.notImplemented;
    const ours = this.sources.authority.apexOf(name) ?? this.sources.table.host(name);
    return ours ? this.refused : this.notAuth;
  }
}
