import { describeIdentity, type JsonObject } from '@causeway/resources';
import type { Authority } from '../table/authority';
import type { Holder } from '../table/host-entry';
import type { NameTable } from '../table/name-table';
import { rcodeName, typeName, typeNumber } from '../wire/codes';
import { parentName, nameText, wireName, type WireName } from '../wire/wire-name';
import type { Answers } from './answers';
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

/**
 * What would be answered to a question and why: `{name, type, zone, result, authoritative, reason, answers, holders}`,
 * with `suffix` where the name is under one of ours and `upstreams` where others would be asked. A name or a type that
 * is none gives `result: FORMERR` with the reason.
 */
export function explainLookup(
  asked: { readonly name: string; readonly type: string },
  from: ExplainSources,
): JsonObject {
  const name = wireName(asked.name);
  const type = typeNumber(asked.type);
  const head = { name: asked.name, type: asked.type.toUpperCase(), zone: from.zone };
  if (name === undefined) return malformed(head, `"${asked.name}" is not a domain name`);
  if (type === undefined) return malformed(head, `"${asked.type}" is not a record type`);
  const said = { ...head, name: nameText(name), type: typeName(type), ...holdersOf(name, from) };
  const found = from.answers.find(name, type);
  if (!found) return { ...said, ...notOurs(from.upstreams.list().map(({ label }) => label)) };
  const suffix = from.authority.apexOf(name)?.text;
  return {
    ...said,
    result: rcodeName(found.rcode),
    authoritative: true,
    ...(suffix === undefined ? {} : { suffix }),
    reason: reasonOf(name, from),
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
function holdersOf(name: WireName, { table }: ExplainSources): { readonly holders: readonly JsonObject[] } {
  return { holders: (table.host(name)?.holders ?? []).map(shownHolder) };
}

function shownHolder({ service, generators }: Holder, place: number): JsonObject {
  return { ...service.id, vip: service.ip, generators, answers: place === 0 };
}

function reasonOf(name: WireName, { table, authority }: ExplainSources): string {
  const host = table.host(name);
  const holder = host?.holders[0];
  if (host && holder) return held(holder, host.contested);
  const reverse = table.reverse(name);
  if (reverse)
    return `${reverse.ip} is the address of ${reverse.named.map(({ service }) => describeIdentity(service.id)).join(', ')}`;
  for (let at = parentName(name); at !== ''; at = parentName(at)) {
    const above = table.host(at);
    if (above) return `it is under ${above.hostname}, which a service holds`;
  }
  const suffix = authority.apexOf(name);
  if (suffix?.name === name) return 'it is a suffix of ours';
  if (table.hasBelow(name)) return 'no service holds this name, but names under it';
  return `no service holds this name, and it is under the suffix ${suffix?.text ?? ''}, which is ours`;
}

function held({ service, generators }: Holder, contested: boolean): string {
  const by = generators.map((name) => `HostnameGenerator ${name}`).join(' and ');
  const holder = `${describeIdentity(service.id)} of mesh ${service.id.mesh} holds it by ${by}`;
  const address = service.ip === '' ? '; it has no address yet' : `; its address is ${service.ip}`;
  const others = contested ? '; other meshes have the same hostname, this mesh is asked first' : '';
  return holder + address + others;
}
