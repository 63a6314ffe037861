import { isIP } from 'node:net';
import type { JsonObject } from '@causeway/resources';
import type { Authority } from '../table/authority';
import type { Holder } from '../table/host-entry';
import type { NameTable } from '../table/name-table';
import { rcodeName, typeName, typeNumber } from '../wire/codes';
import { formatDnsName, reverseName, parseDnsName, type DnsName } from '../wire/dns-name';
import type { Answers } from './answers';
import { lookupReason } from './reason';
import { shownRecords } from './shown-records';

/** What an explanation is made from. */
export interface ExplainSources {
  readonly zone: string;
  readonly answers: Answers;
  readonly table: NameTable;
  readonly authority: Authority;
  /** Who is asked about names that are not ours; none = they are refused. */
  readonly upstreams: { list(): readonly { readonly label: string }[] };
}

/** The question that people mean: an address without a type is asked for by its reverse name, other names for A. */
export function readLookup(name: string, type?: string): { readonly name: string; readonly type: string } {
  if (type === undefined && isIP(name) !== 0) return { name: formatDnsName(reverseName(name)), type: 'PTR' };
  return { name, type: type ?? 'A' };
}

/**
 * What would be answered to a question and why: `{name, type, zone, result, authoritative, reason, answers, holders}`,
 * with `suffix` where the name is under one of ours and `upstreams` where others would be asked. A name or a type that
 * is none gives `result: FORMERR` with the reason.
 */
export function explainLookup(
  asked: { readonly name: string; readonly type: string },
  from: ExplainSources,
): JsonObject {
  const name = parseDnsName(asked.name);
  const type = typeNumber(asked.type);
  const head = { name: asked.name, type: asked.type.toUpperCase(), zone: from.zone };
  if (name === undefined) return malformed(head, `"${asked.name}" is not a domain name`);
  if (type === undefined) return malformed(head, `"${asked.type}" is not a record type`);
  const said = { ...head, name: formatDnsName(name), type: typeName(type), ...holdersOf(name, from) };
  const found = from.answers.find(name, type);
  if (!found) return { ...said, ...notOurs(from.upstreams.list().map(({ label }) => label)) };
  const suffix = from.authority.apexOf(name)?.text;
  return {
    ...said,
    result: rcodeName(found.rcode),
    authoritative: true,
    ...(suffix === undefined ? {} : { suffix }),
    reason: lookupReason({ name, type, empty: found.answers === 0 }, from),
    answers: shownRecords(name, type, found),
  };
}

function malformed(head: JsonObject, reason: string): JsonObject {
  return { ...head, result: 'FORMERR', authoritative: false, reason, answers: [], holders: [] };
}

function notOurs(upstreams: readonly string[]): JsonObject {
  const reason = 'no service holds this name and it is under no suffix of ours';
  if (upstreams.length === 0)
    return { result: 'REFUSED', authoritative: false, reason: `${reason}; nobody else is asked`, answers: [] };
  return { result: 'FORWARDED', authoritative: false, reason, answers: [], upstreams };
}

/** Everything that holds the hostname, the one that answers first. */
function holdersOf(name: DnsName, { table }: ExplainSources): { readonly holders: readonly JsonObject[] } {
  return { holders: (table.host(name)?.holders ?? []).map(shownHolder) };
}

function shownHolder({ service, generators }: Holder, place: number): JsonObject {
  return { ...service.id, vip: service.ip, generators, answers: place === 0 };
}
