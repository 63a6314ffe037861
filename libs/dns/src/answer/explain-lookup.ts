import { isIP } from 'node:net';
import type { DnsLookup } from '@causeway/api';
import { describeIdentity } from '@causeway/resources';
import { decode, type Answer } from 'dns-packet';
import type { Names } from '../table/followed-names';
import type { HostPort } from '../table/named-service';
import type { Holder, HostEntry } from '../table/table-entries';
import { rcodeName, Type, typeName, typeNumber } from '../wire/codes';
import { formatDnsName, parseDnsName, reverseName, type DnsName } from '../wire/dns-name';
import type { EncodedAnswer } from '../wire/encoded-answer';
import { writeReply } from '../wire/reply';
import type { Answers } from './answers';
import type { DirectNames } from './direct-names';
import { findPort, findHostAbove, portLabel } from './port-names';

/** Sources of an explanation. */
export interface ExplainSources {
  readonly zone: string;
  readonly answers: Answers;
  readonly names: Names;
  readonly direct?: DirectNames;
  /** Resolvers that get queries for other names; without any, such queries are refused. */
  readonly upstreams: { list(): readonly { readonly label: string }[] };
}

/** Reads a user's question: an address without a type means PTR of its reverse name, any other name without a type means A. */
export function readLookup(name: string, type?: string): { readonly name: string; readonly type: string } {
  if (type === undefined && isIP(name) !== 0) return { name: formatDnsName(reverseName(name)), type: 'PTR' };
  return { name, type: type ?? 'A' };
}

/** Fields of the answer that the question and the table of names decide. */
type KnownQuestion = Pick<DnsLookup, 'name' | 'type' | 'zone' | 'holders'>;

/** Returns the server's answer to a question, and the reason. A malformed name or type gives `result: FORMERR` with the reason. */
export function explainLookup(
  asked: { readonly name: string; readonly type: string },
  from: ExplainSources,
): DnsLookup {
  const name = parseDnsName(asked.name);
  const type = typeNumber(asked.type);
  const head = { name: asked.name, type: asked.type.toUpperCase(), zone: from.zone };
  if (name === undefined) return malformed(head, `"${asked.name}" is not a domain name`);
  if (type === undefined) return malformed(head, `"${asked.type}" is not a record type`);
  const known = { ...head, name: formatDnsName(name), type: typeName(type), holders: listHolders(name, from) };
  const found = from.answers.find(name, type);
  if (!found)
    return explainForwarding(
      known,
      from.upstreams.list().map(({ label }) => label),
    );
  const suffix = from.names.authority.findApex(name)?.text;
  return {
    ...known,
    result: rcodeName(found.rcode),
    authoritative: true,
    ...(suffix === undefined ? {} : { suffix }),
    reason: explainReason({ name, type, empty: found.answers === 0 }, from),
    answers: listRecords(name, type, found),
  };
}

function malformed(head: Omit<KnownQuestion, 'holders'>, reason: string): DnsLookup {
  return { ...head, result: 'FORMERR', authoritative: false, reason, answers: [], holders: [] };
}

function explainForwarding(known: KnownQuestion, upstreams: readonly string[]): DnsLookup {
  const reason = 'no service holds this name and it is under no suffix of ours';
  const unanswered = { ...known, authoritative: false, answers: [] };
  if (upstreams.length === 0)
    return { ...unanswered, result: 'REFUSED', reason: `${reason}; the query is not forwarded` };
  return { ...unanswered, result: 'FORWARDED', reason, upstreams };
}

/** Lists all services that hold the hostname; the first one is in the answer. */
function listHolders(name: DnsName, { names: { table }, direct }: ExplainSources): DnsLookup['holders'] {
  const host = direct?.covers(name) ? direct.findHost(name) : table.host(name);
  const holders = host?.holders ?? [];
  return holders.map(({ service, generators }, i) => ({
    ...service.id,
    vip: service.ip,
    generators,
    answers: i === 0,
  }));
}

/** Explains in words the answer for a name of this server; `empty`: it has no record of the type. */
function explainReason(
  asked: { readonly name: DnsName; readonly type: number; readonly empty: boolean },
  { names: { table, authority }, direct }: ExplainSources,
): string {
  const { name, type, empty } = asked;
  if (type === Type.AXFR || type === Type.IXFR) return 'zone transfers are refused';
  if (direct?.covers(name) && authority.findApex(name)?.name !== name) return direct.explain(name);
  const host = table.host(name);
  const [holder] = host?.holders ?? [];
  if (host && holder) return holderReason(holder, host.contested) + (empty ? noRecordReason(holder, host, type) : '');
  const reverse = table.reverse(name);
  if (reverse) {
    const owners = reverse.named.map(({ service }) => describeIdentity(service.id)).join(', ');
    return `${reverse.ip} is the address of ${owners}${empty ? '; its reverse name has PTR records only' : ''}`;
  }
  const above = findHostAbove(name, table);
  if (above) return underHostReason(above, asked);
  const suffix = authority.findApex(name);
  if (suffix?.name === name) return `it is a suffix of ours${empty ? ' and has SOA and NS records only' : ''}`;
  if (table.hasNamesBelow(name)) return 'no service holds this name, but names under it';
  return `no service holds this name, and it is under the suffix ${suffix?.text ?? ''}, which is ours`;
}

function holderReason({ service, generators }: Holder, contested: boolean): string {
  const by = generators.map((name) => `HostnameGenerator ${name}`).join(' and ');
  const holder = `${describeIdentity(service.id)} of mesh ${service.id.mesh} holds it by ${by}`;
  const address = service.ip === '' ? '; it has no address yet' : `; its address is ${service.ip}`;
  const others = contested ? '; other meshes have the same hostname, this mesh is asked first' : '';
  return holder + address + others;
}

function noRecordReason({ service }: Holder, { hostname }: HostEntry, type: number): string {
  if (type === Type.SRV) return `; its ports are asked for as _port._tcp.${hostname}`;
  if (type !== Type.A && type !== Type.AAAA) return `; a hostname has no ${typeName(type)} record`;
  return service.ip === '' ? '' : `; that is an IPv${service.family} address, so there is no ${typeName(type)} record`;
}

function underHostReason(
  host: HostEntry,
  { name, empty }: { readonly name: DnsName; readonly empty: boolean },
): string {
  const label = portLabel(name, host);
  if (label === undefined) return `it is under ${host.hostname}, which a service holds; there only ports have names`;
  const port = findPort(host, label);
  if (port !== undefined)
    return `it is port ${port} of ${host.hostname}${empty ? '; a port has SRV records only' : ''}`;
  const ports = (host.holders[0]?.service.ports ?? []).map(formatPort);
  return `${host.hostname} has no port "${label}"; its ports are: ${ports.join(', ')}`;
}

/** Formats a port: its number, and its name if that differs. */
function formatPort({ number, name }: HostPort): string {
  return name === '' || name === String(number) ? String(number) : `${number} ${name}`;
}

/** Lists the answer records in presentation form, decoded from the packet that a client would get. */
function listRecords(name: DnsName, type: number, found: EncodedAnswer): DnsLookup['answers'] {
  const query = buildQuery(name, type);
  const packet = writeReply(query, found, { end: query.length, edns: undefined, udp: false, recursion: false });
  return (decode(packet).answers ?? []).map((answer) => ({
    name: answer.name,
    type: answer.type,
    ttl: 'ttl' in answer ? (answer.ttl ?? 0) : 0,
    data: recordText(answer),
  }));
}

/** Builds a query packet with one question of class IN. */
function buildQuery(name: DnsName, type: number): Buffer {
  const header = Buffer.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const end = Buffer.from([0, type >> 8, type & 0xff, 0, 1]);
  return Buffer.concat([header, Buffer.from(name, 'latin1'), end]);
}

function recordText(answer: Answer): string {
  switch (answer.type) {
    case 'A':
    case 'AAAA':
    case 'NS':
    case 'PTR':
      return answer.data;
    case 'SRV':
      return `${answer.data.priority ?? 0} ${answer.data.weight ?? 0} ${answer.data.port} ${answer.data.target}`;
    case 'TXT':
      return [answer.data]
        .flat()
        .map((text) => JSON.stringify(text.toString()))
        .join(' ');
    case 'SOA':
      return Object.values(answer.data).join(' ');
    default:
      return '';
  }
}
