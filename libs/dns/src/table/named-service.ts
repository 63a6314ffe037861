import { isIP } from 'node:net';
import { SERVICE_KINDS } from '@causeway/naming';
import {
  compareIdentities,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonValue,
  type Resource,
} from '@causeway/resources';

/** One port of a service. All application protocols run over TCP. */
export interface HostPort {
  readonly number: number;
  /** Empty if the port has no name. */
  readonly name: string;
}

/** The parts of a service that DNS answers contain, without its hostnames. */
export interface DnsService {
  readonly id: Identity;
  /** Empty while the service has no address. */
  readonly ip: string;
  readonly family: 0 | 4 | 6;
  readonly ports: readonly HostPort[];
}

/** A hostname that a service holds, and the generators that made it. */
interface ServiceHostname {
  readonly hostname: string;
  readonly generators: readonly string[];
}

/** A service and its Available hostnames, each once. */
export interface NamedService {
  readonly service: DnsService;
  readonly hostnames: readonly ServiceHostname[];
}

/**
 * Maximum number of ports of one service with SRV records: the maximum that a kind allows. Further ports of a stored
 * service are ignored.
 */
const MAX_PORTS = 1_024;
/** Longer lists are rarely equal; interning them would waste memory. */
const MAX_INTERNED_LENGTH = 32;

/** Maximum number of values that an `Interner` keeps. */
const MAX_INTERNED = 1_024;

/** Returns the same object for equal values, so that equal values are in memory once. Values are JSON and never changed. */
class Interner<T> {
  private known = new Map<string, T>();

  intern(value: T): T {
    const key = JSON.stringify(value);
    const found = this.known.get(key);
    if (found !== undefined) return found;
    if (this.known.size >= MAX_INTERNED) this.known = new Map();
    this.known.set(key, value);
    return value;
  }
}

// Most services of a mesh have the same ports and generators.
const PORTS = new Interner<readonly HostPort[]>();
const GENERATORS = new Interner<readonly string[]>();

/** Kinds that have hostnames. */
export const NAMED_KINDS: readonly string[] = Object.values(SERVICE_KINDS);

/** Reads a service as the control loops of the zone wrote it. Malformed parts are ignored. */
export function readNamedService(resource: Resource): NamedService {
  const status = resource.status ?? {};
  const vip = isJsonObject(status['vip']) ? status['vip']['ip'] : undefined;
  const ip = typeof vip === 'string' ? vip : '';
  const version = isIP(ip);
  const service: DnsService = {
    id: resource.id,
    ip: version === 0 ? '' : ip,
    family: version === 4 ? 4 : version === 6 ? 6 : 0,
    ports: readPorts(resource.spec['ports'], resource.spec['match']),
  };
  return { service, hostnames: readHostnames(status['addresses']) };
}

/** True if both versions of a service give the same answers, so that the table need not change. */
export function sameAnswers(a: Resource, b: Resource): boolean {
  if (a.status === b.status && a.spec === b.spec) return true;
  const left = readNamedService(a);
  const right = readNamedService(b);
  return (
    left.service.ip === right.service.ip &&
    JSON.stringify([left.hostnames, left.service.ports]) === JSON.stringify([right.hostnames, right.service.ports])
  );
}

/** True if both are the same service, even with different addresses. */
export function sameService(a: DnsService, b: DnsService): boolean {
  return compareIdentities(a.id, b.id) === 0;
}

function readHostnames(addresses: JsonValue | undefined): ServiceHostname[] {
  if (!isJsonArray(addresses)) return [];
  const held = new Map<string, string[]>();
  for (const address of addresses) {
    if (!isJsonObject(address) || address['status'] !== 'Available') continue;
    const { hostname, origin } = address;
    if (typeof hostname !== 'string') continue;
    const generator = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const generators = held.get(hostname);
    if (generators) generators.push(generator);
    else held.set(hostname, [generator]);
  }
  return [...held].map(([hostname, generators]) => ({ hostname, generators: GENERATORS.intern(generators) }));
}

/** Reads the ports in `spec.ports` of services in the mesh, or in `spec.match` of external ones. */
function readPorts(ports: JsonValue | undefined, match: JsonValue | undefined): readonly HostPort[] {
  const listed = isJsonArray(ports) ? ports.slice(0, MAX_PORTS) : [match];
  const read = listed.flatMap((port) => {
    if (!isJsonObject(port)) return [];
    const { port: number, name } = port;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > 65_535) return [];
    return [{ number, name: typeof name === 'string' ? name.toLowerCase() : '' }];
  });
  return read.length > MAX_INTERNED_LENGTH ? read : PORTS.intern(read);
}
