import { isIPv6 } from 'node:net';
import type { Answer, SoaData } from 'dns-packet';
import type { Apex } from '../table/authority';
import type { HostEntry, ReverseEntry } from '../table/table-entries';
import { Rcode, Type } from '../wire/codes';
import {
  characterString,
  encodeAboutQuestion,
  encodeRecord,
  joinSections,
  type EncodedAnswer,
  type Sections,
} from '../wire/encoded-answer';

const MAX_NAME_LENGTH = 253;

/** Builds encoded answers from names and services; the records are encoded by dns-packet. */
export class AnswerBuilder {
  /** Number of answers built so far: misses of the answer caches in the name table. */
  built = 0;
  private readonly ttl: number;

  /** `ttl` in ms; `ownAddresses`: the addresses at which clients reach this server. */
  constructor(
    ttl: number,
    private readonly ownAddresses: () => readonly string[],
  ) {
    this.ttl = Math.floor(ttl / 1_000);
  }

  /** A or AAAA record, depending on the family of the service's address. */
  address(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: this.answerAddresses(host).map(encodeAboutQuestion) });
  }

  /** TXT record: the service that holds the name, for debugging. */
  description(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: [encodeAboutQuestion(this.text(host))] });
  }

  /** Answer to ANY: all records of the name. */
  everything(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, {
      answers: [...this.answerAddresses(host), this.text(host)].map(encodeAboutQuestion),
    });
  }

  /** PTR records: all hostnames of the address. */
  pointers(reverse: ReverseEntry): EncodedAnswer {
    const hostnames = reverse.named.flatMap(({ hostnames: held }) => held.map(({ hostname }) => hostname));
    const records = hostnames.map((data): Answer => ({ type: 'PTR', name: '.', ttl: this.ttl, data }));
    return this.finish(Rcode.NOERROR, { answers: records.map(encodeAboutQuestion) });
  }

  /** SRV record of one port, with the address as additional record. */
  service(host: HostEntry, port: number): EncodedAnswer {
    const data = { priority: 0, weight: 0, port, target: host.hostname };
    return this.finish(Rcode.NOERROR, {
      answers: [encodeAboutQuestion({ type: 'SRV', name: '.', ttl: this.ttl, data })],
      additionals: this.answerAddresses(host).map(encodeRecord),
    });
  }

  startOfAuthority(apex: Apex, serial: number): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: [encodeAboutQuestion(this.soa(apex, serial))] });
  }

  nameServers(apex: Apex): EncodedAnswer {
    return this.finish(Rcode.NOERROR, {
      answers: [encodeAboutQuestion({ type: 'NS', name: '.', ttl: this.ttl, data: formatNameServer(apex) })],
    });
  }

  /** Addresses of `ns.<suffix>`; undefined if this server has none of the type. */
  nameServer(type: number): EncodedAnswer | undefined {
    if (type !== Type.A && type !== Type.AAAA) return undefined;
    const addresses = this.ownAddresses().filter((address) => isIPv6(address) === (type === Type.AAAA));
    if (addresses.length === 0) return undefined;
    return this.finish(Rcode.NOERROR, { answers: addresses.map((ip) => encodeAboutQuestion(this.ipRecord('.', ip))) });
  }

  /** A negative answer; its SOA limits how long it may be cached (RFC 2308). */
  negative(apex: Apex, rcode: number): EncodedAnswer {
    return this.finish(rcode, { authorities: [encodeRecord(this.soa(apex, apex.serial))] });
  }

  private finish(rcode: number, sections: Sections): EncodedAnswer {
    this.built += 1;
    return joinSections(rcode, sections);
  }

  private answerAddresses(host: HostEntry): Answer[] {
    const ip = host.holders[0]?.service.ip ?? '';
    return ip === '' ? [] : [this.ipRecord(host.hostname, ip)];
  }

  private ipRecord(name: string, ip: string): Answer {
    return { type: isIPv6(ip) ? 'AAAA' : 'A', name, ttl: this.ttl, data: ip };
  }

  private text(host: HostEntry): Answer {
    const holder = host.holders[0];
    const { kind = '', mesh = '', zone = '', namespace = '', name = '' } = holder?.service.id ?? {};
    const facts = { service: name, kind, namespace, zone, mesh };
    const set = Object.entries(facts).filter(([, value]) => value !== '');
    const generators = (holder?.generators ?? []).map((generator): [string, string] => ['generator', generator]);
    const data = [...set, ...generators].map(([key, value]) => characterString(`${key}=${value}`));
    return { type: 'TXT', name: '.', ttl: this.ttl, data };
  }

  private soa(apex: Apex, serial: number): Answer {
    const mail = `hostmaster.${apex.text}`;
    const data: SoaData = {
      mname: formatNameServer(apex),
      rname: mail.length > MAX_NAME_LENGTH ? apex.text : mail,
      serial,
      refresh: 60,
      retry: 10,
      expire: 600,
      minimum: this.ttl,
    };
    return { type: 'SOA', name: apex.text, ttl: this.ttl, data };
  }
}

/** Returns the name server of an apex: `ns.<suffix>`, or the hostname itself if it is outside all suffixes. */
function formatNameServer(apex: Apex): string {
  const name = `ns.${apex.text}`;
  return apex.isSuffix && name.length <= MAX_NAME_LENGTH ? name : apex.text;
}
