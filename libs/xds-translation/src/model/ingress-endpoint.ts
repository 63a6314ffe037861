import { isIP } from 'node:net';
import { isMemberAddress } from '@causeway/ipam';
import { compareText, isJsonObject, type Resource } from '@causeway/resources';
import { readLostState } from '@causeway/sync';

/** An IP address and a TCP port. */
export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** A host name that Envoy can resolve; data of another zone may contain any text. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i;
/** Maximum number of addresses of one zone; further ones are ignored. */
const MAX_ADDRESSES = 256;

/**
 * The ingress of one zone for one mesh. `sni` is the form of server name that it expects: `kri` where the zone has a MeshZoneAddress, `hash` where it
 * has only a ZoneIngress. A depreferred zone gets traffic only if no other zone has endpoints.
 */
export interface ZoneIngressEndpoint {
  readonly sni: 'kri' | 'hash';
  readonly depreferred: boolean;
  /** IP addresses, sorted. */
  readonly addresses: readonly SocketAddress[];
  /** Host names, sorted. An ingress endpoint has at least one address or name. */
  readonly names: readonly SocketAddress[];
}

/** Inputs of an ingress endpoint. */
export interface IngressFacts {
  readonly mesh: string;
  readonly zone: Resource | undefined;
  /** MeshZoneAddresses of the zone for the mesh. */
  readonly meshAddresses: Iterable<Resource>;
  /** ZoneIngresses of the zone. */
  readonly ingresses: Iterable<Resource>;
}

/**
 * Returns the ingress endpoint of a zone; undefined where the zone cannot be reached: it is disabled, lost with the policy `withdraw`, or has no
 * address. A zone without a Zone resource counts as enabled.
 */
export function computeIngressEndpoint({
  mesh,
  zone,
  meshAddresses,
  ingresses,
}: IngressFacts): ZoneIngressEndpoint | undefined {
  const policy = zone && readLostState(zone, mesh)?.policy;
  if (zone?.spec['enabled'] === false || policy === 'withdraw') return undefined;
  const own = sortedAddresses([...meshAddresses].map(({ spec }) => hostAddress(spec['address'], spec['port'])));
  const found = own.length > 0 ? own : sortedAddresses([...ingresses].map(ingressAddress));
  if (found.length === 0) return undefined;
  return {
    sni: own.length > 0 ? 'kri' : 'hash',
    depreferred: policy === 'depreferred',
    addresses: found.filter(({ address }) => isIP(address) !== 0),
    names: found.filter(({ address }) => isIP(address) === 0),
  };
}

function ingressAddress({ spec }: Resource): SocketAddress | undefined {
  const networking = spec['networking'];
  if (!isJsonObject(networking)) return undefined;
  const { address, port, advertisedAddress = address, advertisedPort = port } = networking;
  return hostAddress(advertisedAddress, advertisedPort);
}

/** Returns undefined unless `address` is an IP address and `port` a port. */
export function socketAddress(address: unknown, port: unknown): SocketAddress | undefined {
  if (typeof address !== 'string' || isIP(address) === 0 || !isPort(port)) return undefined;
  return { address, port };
}

/** Returns undefined unless `port` is a port and `address` is a possible host name, or an IP address that a mesh may use. */
export function hostAddress(address: unknown, port: unknown): SocketAddress | undefined {
  if (typeof address !== 'string' || !isPort(port)) return undefined;
  const isUsable = isIP(address) === 0 ? HOST_NAME.test(address) : isMemberAddress(address);
  return isUsable ? { address, port } : undefined;
}

export function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}

/** Returns each address once, sorted, up to the limit. */
export function sortedAddresses(found: readonly (SocketAddress | undefined)[]): readonly SocketAddress[] {
  const distinct = new Map(found.flatMap((each) => (each ? [[`${each.address} ${each.port}`, each] as const] : [])));
  return [...distinct.values()].sort(compareAddresses).slice(0, MAX_ADDRESSES);
}

export function compareAddresses(a: SocketAddress, b: SocketAddress): number {
  return compareText(a.address, b.address) || a.port - b.port;
}
