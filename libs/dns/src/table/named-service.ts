import { SERVICE_KINDS } from '@causeway/naming';
import {
  compareIdentities,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import { isIP } from 'node:net';
import { Interner } from './shared';

/** One port of a service; every protocol of ours runs over TCP. */
export interface ServicePort {
  readonly number: number;
  /** Empty where it has none. */
  readonly name: string;
}

/** What DNS knows of a service, whatever its names. */
export interface DnsService {
  readonly id: Identity;
  /** Empty while it has none. */
  readonly ip: string;
  readonly family: 0 | 4 | 6;
  readonly ports: readonly ServicePort[];
}

/** A hostname that a service holds, and by which generators. */
export interface ServiceHostname {
  readonly hostname: string;
  readonly generators: readonly string[];
}

/** A service and its hostnames: Available ones only, each once. */
export interface NamedService {
  readonly service: DnsService;
  readonly hostnames: readonly ServiceHostname[];
}

/** Ports of one service that have SRV records: what a kind allows. What was stored with more has none beyond. */
const MOST_PORTS = 1_024;
/** Longer lists are not alike, and a table of them would be large. */
const MOST_SHARED = 32;

// Most services of a mesh look alike; what they share is held once.
const PORTS = new Interner<readonly ServicePort[]>();
const GENERATORS = new Interner<readonly string[]>();

/** Kinds that have hostnames. */
export const NAMED_KINDS: readonly string[] = Object.values(SERVICE_KINDS);

/** Reads a service as its zone's controllers have written it; what is malformed counts as absent. */
export function namedService(resource: Resource): NamedService {
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

/** True when both give the same answers, so that a change of something else costs nothing. */
export function sameAnswers(a: Resource, b: Resource): boolean {
  if (a.status === b.status && a.spec === b.spec) return true;
  const left = namedService(a);
  const right = namedService(b);
  return (
    left.service.ip === right.service.ip &&
    JSON.stringify([left.hostnames, left.service.ports]) === JSON.stringify([right.hostnames, right.service.ports])
  );
}

/** True when both speak of one service. */
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

/** `spec.ports` of services in the mesh, `spec.match` of external ones. */
function readPorts(ports: JsonValue | undefined, match: JsonValue | undefined): readonly ServicePort[] {
  const listed = isJsonArray(ports) ? ports.slice(0, MOST_PORTS) : [match];
  const read = listed.flatMap((port) => {
    if (!isJsonObject(port)) return [];
    const { port: number, name } = port;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > 65_535) return [];
    return [{ number, name: typeof name === 'string' ? name.toLowerCase() : '' }];
  });
  return read.length > MOST_SHARED ? read : PORTS.intern(read);
}
