import { isIP } from 'node:net';
import { compareText, isJsonObject, type Resource } from '@causeway/resources';
import { lostStateOf } from '@causeway/sync';

/** An IP address and a TCP port. */
export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** Most addresses of one zone that are used; further ones are ignored. */
const MOST_ADDRESSES = 256;

/**
 * Where one zone is entered by traffic of one mesh. `sni` is the form of server name that its ingress expects: `kri` where the
 * zone has a MeshZoneAddress, `hash` where it has only a ZoneIngress. A depreferred zone gets traffic when no other has endpoints.
 */
export interface ZoneEntrance {
  readonly sni: 'kri' | 'hash';
  readonly depreferred: boolean;
  /** Sorted; never empty. */
  readonly addresses: readonly SocketAddress[];
}

/** What an entrance is made of. */
export interface ZoneFacts {
  readonly mesh: string;
  readonly zone: Resource | undefined;
  /** MeshZoneAddresses of the zone for the mesh. */
  readonly meshAddresses: Iterable<Resource>;
  /** ZoneIngresses of the zone. */
  readonly ingresses: Iterable<Resource>;
}

/**
 * The entrance of a zone; undefined where it cannot be entered: it is disabled, lost with the policy `withdraw`, or has no IP
 * address. Host names are passed over: Envoy takes none as an endpoint. A zone without a Zone resource counts as enabled.
 */
export function zoneEntrance({ mesh, zone, meshAddresses, ingresses }: ZoneFacts): ZoneEntrance | undefined {
  const policy = zone && lostStateOf(zone, mesh)?.policy;
  if (zone?.spec['enabled'] === false || policy === 'withdraw') return undefined;
  const own = sorted([...meshAddresses].map(({ spec }) => socketAddress(spec['address'], spec['port'])));
  const addresses = own.length > 0 ? own : sorted([...ingresses].map(ingressAddress));
  if (addresses.length === 0) return undefined;
  return { sni: own.length > 0 ? 'kri' : 'hash', depreferred: policy === 'depreferred', addresses };
}

function ingressAddress({ spec }: Resource): SocketAddress | undefined {
  const networking = spec['networking'];
  if (!isJsonObject(networking)) return undefined;
  const { address, port, advertisedAddress = address, advertisedPort = port } = networking;
  return socketAddress(advertisedAddress, advertisedPort);
}

/** Undefined unless `address` is an IP address and `port` a port. */
export function socketAddress(address: unknown, port: unknown): SocketAddress | undefined {
  if (typeof address !== 'string' || isIP(address) === 0 || !isPort(port)) return undefined;
  return { address, port };
}

export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** Each address once, in one order. */
function sorted(found: readonly (SocketAddress | undefined)[]): readonly SocketAddress[] {
  const distinct = new Map(found.flatMap((each) => (each ? [[`${each.address} ${each.port}`, each] as const] : [])));
  return [...distinct.values()].sort(compareAddresses).slice(0, MOST_ADDRESSES);
}

export function compareAddresses(a: SocketAddress, b: SocketAddress): number {
  return compareText(a.address, b.address) || a.port - b.port;
}
