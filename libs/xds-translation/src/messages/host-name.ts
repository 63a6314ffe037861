import { HostName } from '@causeway/proto-gen';
import type { Identity } from '@causeway/resources';
import type { DestinationConfig } from '../model/destination';

/**
 * Returns the fields of `causeway.dns.v1.Name` for a hostname of a service: the addresses and clusters that clients of the mesh use. `ports`: all
 * ports of the service.
 */
export function toHostName(
  name: string,
  { service, vip }: DestinationConfig,
  ports: readonly DestinationConfig[],
): Parameters<typeof HostName.fromPartial>[0] & { readonly name: string } {
  return {
    name,
    addresses: vip === '' ? [] : [vip],
    ports: ports
      .map((each) => ({ number: each.port, name: each.section, cluster: each.name }))
      .sort((a, b) => a.number - b.number),
    service: { ...service },
  };
}

/** A decoded resource of type `causeway.dns.v1.Name`. */
export interface HostNameMeaning {
  readonly hostname: string;
  readonly service: Identity;
  /** The virtual IPs of the service; empty while it has none. */
  readonly addresses: readonly string[];
  /** Sorted by number; `cluster` is the name of the cluster of the port. */
  readonly ports: readonly { readonly number: number; readonly name: string; readonly cluster: string }[];
}

/** Decodes the content of such a resource. Throws on malformed bytes. */
export function readHostName(bytes: Uint8Array): HostNameMeaning {
  const { name, addresses, ports, service } = HostName.decode(bytes);
  const { kind = '', mesh = '', zone = '', namespace = '', name: called = '' } = service ?? {};
  return {
    hostname: name,
    service: { kind, mesh, zone, namespace, name: called },
    addresses,
    ports: ports.map((port) => ({ number: port.number, name: port.name, cluster: port.cluster })),
  };
}
