import { describeIdentity } from '@causeway/resources';
import type { Authority } from '../table/authority';
import type { Holder, HostEntry } from '../table/host-entry';
import type { NameTable } from '../table/name-table';
import type { ServicePort } from '../table/named-service';
import { Type, typeName } from '../wire/codes';
import { parentName, type DnsName } from '../wire/dns-name';
import { askedPort, portOf } from './asked-port';

/** What a reason is read from. */
export interface ReasonSources {
  readonly table: NameTable;
  readonly authority: Authority;
}

/** Why a question about a name of ours is answered as it is, for people; `empty` = there is no record of the type. */
export function lookupReason(
  asked: { readonly name: DnsName; readonly type: number; readonly empty: boolean },
  { table, authority }: ReasonSources,
): string {
  const { name, type, empty } = asked;
  if (type === Type.AXFR || type === Type.IXFR) return 'zones are not handed out';
  const host = table.host(name);
  const [holder] = host?.holders ?? [];
  if (host && holder) return heldReason(holder, host.contested) + (empty ? missingTypeReason(holder, host, type) : '');
  const reverse = table.reverse(name);
  if (reverse) {
    const owners = reverse.named.map(({ service }) => describeIdentity(service.id)).join(', ');
    return `${reverse.ip} is the address of ${owners}${empty ? '; its reverse name has PTR records only' : ''}`;
  }
  const above = hostAbove(name, table);
  if (above) return underHostReason(above, asked);
  const suffix = authority.apexOf(name);
  if (suffix?.name === name) return `it is a suffix of ours${empty ? ' and has SOA and NS records only' : ''}`;
  if (table.hasNamesBelow(name)) return 'no service holds this name, but names under it';
  return `no service holds this name, and it is under the suffix ${suffix?.text ?? ''}, which is ours`;
}

function heldReason({ service, generators }: Holder, contested: boolean): string {
  const by = generators.map((name) => `HostnameGenerator ${name}`).join(' and ');
  const holder = `${describeIdentity(service.id)} of mesh ${service.id.mesh} holds it by ${by}`;
  const address = service.ip === '' ? '; it has no address yet' : `; its address is ${service.ip}`;
  const others = contested ? '; other meshes have the same hostname, this mesh is asked first' : '';
  return holder + address + others;
}

function missingTypeReason({ service }: Holder, { hostname }: HostEntry, type: number): string {
  if (type === Type.SRV) return `; its ports are asked for as _port._tcp.${hostname}`;
  if (type !== Type.A && type !== Type.AAAA) return `; a hostname has no ${typeName(type)} record`;
  return service.ip === '' ? '' : `; that is an IPv${service.family} address, so there is no ${typeName(type)} record`;
}

function hostAbove(name: DnsName, table: NameTable): HostEntry | undefined {
  for (let at = parentName(name); at !== ''; at = parentName(at)) {
    const host = table.host(at);
    if (host) return host;
  }
  return undefined;
}

function underHostReason(
  host: HostEntry,
  { name, empty }: { readonly name: DnsName; readonly empty: boolean },
): string {
  const label = askedPort(name, host);
  if (label === undefined) return `it is under ${host.hostname}, which a service holds; there only ports have names`;
  const port = portOf(host, label);
  if (port !== undefined)
    return `it is port ${port} of ${host.hostname}${empty ? '; a port has SRV records only' : ''}`;
  const ports = (host.holders[0]?.service.ports ?? []).map(shownPort);
  return `${host.hostname} has no port "${label}"; its ports are: ${ports.join(', ')}`;
}

/** Its number, and its name where that says more. */
function shownPort({ number, name }: ServicePort): string {
  return name === '' || name === String(number) ? String(number) : `${number} ${name}`;
}
