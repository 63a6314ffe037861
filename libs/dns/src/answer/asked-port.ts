import type { HostEntry } from '../table/host-entry';
import { firstLabel, parentName, type DnsName } from '../wire/dns-name';

const UNDERSCORE = 95;

/** True for `_x.y`: names of ports and protocols begin so. */
export function mayBePort(name: DnsName): boolean {
  return name.charCodeAt(1) === UNDERSCORE;
}

/** The port that `_port._tcp.<host>` asks for, as it is written there (RFC 2782); undefined for other names. */
export function askedPort(name: DnsName, host: HostEntry): string | undefined {
  if (!mayBePort(name)) return undefined;
  const protocol = parentName(name);
  if (firstLabel(protocol) !== '_tcp' || parentName(protocol) !== host.name) return undefined;
  return firstLabel(name).slice(1);
}

/** The port of the service behind `host` that `label` names, by number or by name. */
export function portOf(host: HostEntry, label: string): number | undefined {
  const ports = host.holders[0]?.service.ports ?? [];
  return ports.find(({ number, name }) => String(number) === label || (name !== '' && name === label))?.number;
}
