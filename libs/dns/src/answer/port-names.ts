import type { NameTable } from '../table/name-table';
import type { HostEntry } from '../table/table-entries';
import { firstLabel, parentName, type DnsName } from '../wire/dns-name';

const UNDERSCORE = 95;

/** True for `_x.y`: the labels of ports and protocols begin with an underscore. */
export function isServiceLabel(name: DnsName): boolean {
  return name.charCodeAt(1) === UNDERSCORE;
}

/** Returns the text of `port` in `_port._tcp.<host>` (RFC 2782); undefined for every other name. */
export function portLabel(name: DnsName, host: HostEntry): string | undefined {
  if (!isServiceLabel(name)) return undefined;
  const protocol = parentName(name);
  if (firstLabel(protocol) !== '_tcp' || parentName(protocol) !== host.name) return undefined;
  return firstLabel(name).slice(1);
}

/** Returns the port of the service behind `host` whose number or name is `label`. */
export function findPort(host: HostEntry, label: string): number | undefined {
  const ports = host.holders[0]?.service.ports ?? [];
  return ports.find(({ number, name }) => String(number) === label || (name !== '' && name === label))?.number;
}

/** Returns the nearest hostname above `name` that a service holds. */
export function findHostAbove(name: DnsName, table: NameTable): HostEntry | undefined {
  for (let at = parentName(name); at !== ''; at = parentName(at)) {
    const host = table.host(at);
    if (host) return host;
  }
  return undefined;
}
