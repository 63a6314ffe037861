import type { Answer, SoaData } from 'dns-packet';
import { isIPv6 } from 'node:net';
import type { Apex } from '../table/apex';
import type { HostEntry } from '../table/host-entry';
import type { ReverseEntry } from '../table/reverse-entry';
import { Rcode, Type } from '../wire/codes';
import { joinSections, type EncodedAnswer, type Sections } from '../wire/encoded-answer';
import { aboutQuestion, characterString, encodeOne } from './records';

const LONGEST_NAME = 253;

/** Makes the finished answers; written by dns-packet. */
export class AnswerBuilder {
  /** Answers made so far: how often nothing finished was at hand. */
  built = 0;
  private readonly ttl: number;

  /** `ttl` in ms; `own`: the addresses this server can be asked at. */
  constructor(
    ttl: number,
    private readonly ownAddresses: () => readonly string[],
  ) {
    this.ttl = Math.floor(ttl / 1_000);
  }

  /** A or AAAA, whichever the service has. */
  address(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: this.addressOf(host).map(aboutQuestion) });
  }

  /** TXT: whose name this is, for people who look for a mistake. */
  description(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: [aboutQuestion(this.text(host))] });
  }

  /** ANY: what the name has. */
  everything(host: HostEntry): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: [...this.addressOf(host), this.text(host)].map(aboutQuestion) });
  }

  /** PTR: every hostname of the address. */
  pointers(reverse: ReverseEntry): EncodedAnswer {
    const hostnames = reverse.named.flatMap(({ hostnames: held }) => held.map(({ hostname }) => hostname));
    const records = hostnames.map((data): Answer => ({ type: 'PTR', name: '.', ttl: this.ttl, data }));
    return this.finish(Rcode.NOERROR, { answers: records.map(aboutQuestion) });
  }

  /** SRV, with the address beside it. */
  service(host: HostEntry, port: number): EncodedAnswer {
    const data = { priority: 0, weight: 0, port, target: host.hostname };
    return this.finish(Rcode.NOERROR, {
      answers: [aboutQuestion({ type: 'SRV', name: '.', ttl: this.ttl, data })],
      additionals: this.addressOf(host).map(encodeOne),
    });
  }

  startOfAuthority(apex: Apex, serial: number): EncodedAnswer {
    return this.finish(Rcode.NOERROR, { answers: [aboutQuestion(this.soa(apex, serial))] });
  }

  nameServers(apex: Apex): EncodedAnswer {
    return this.finish(Rcode.NOERROR, {
      answers: [aboutQuestion({ type: 'NS', name: '.', ttl: this.ttl, data: nameServerOf(apex) })],
    });
  }

  /** Addresses of `ns.<suffix>`; undefined when there are none of this type. */
  nameServer(type: number): EncodedAnswer | undefined {
    if (type !== Type.A && type !== Type.AAAA) return undefined;
    const addresses = this.ownAddresses().filter((address) => isIPv6(address) === (type === Type.AAAA));
    if (addresses.length === 0) return undefined;
    return this.finish(Rcode.NOERROR, { answers: addresses.map((ip) => aboutQuestion(this.ipRecord('.', ip))) });
  }

  /** Without data, with the SOA that says how long that may be believed (RFC 2308). */
  negative(apex: Apex, rcode: number): EncodedAnswer {
    return this.finish(rcode, { authorities: [encodeOne(this.soa(apex, apex.serial))] });
  }

  private finish(rcode: number, sections: Sections): EncodedAnswer {
    this.built += 1;
    return joinSections(rcode, sections);
  }

  private addressOf(host: HostEntry): Answer[] {
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
    const said = Object.entries(facts).filter(([, value]) => value !== '');
    const generators = (holder?.generators ?? []).map((generator): [string, string] => ['generator', generator]);
    const data = [...said, ...generators].map(([key, value]) => characterString(`${key}=${value}`));
    return { type: 'TXT', name: '.', ttl: this.ttl, data };
  }

  private soa(apex: Apex, serial: number): Answer {
    const mail = `hostmaster.${apex.text}`;
    const data: SoaData = {
      mname: nameServerOf(apex),
      rname: mail.length > LONGEST_NAME ? apex.text : mail,
      serial,
      refresh: 60,
      retry: 10,
      expire: 600,
      minimum: this.ttl,
    };
    return { type: 'SOA', name: apex.text, ttl: this.ttl, data };
  }
}

/** A suffix has its server under it; a lone hostname is its own. */
function nameServerOf(apex: Apex): string {
  const name = `ns.${apex.text}`;
  return apex.isSuffix && name.length <= LONGEST_NAME ? name : apex.text;
}
