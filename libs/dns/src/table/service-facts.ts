import { SERVICE_KINDS } from '@causeway/naming';
import {
  identityKey,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import { isIP } from 'node:net';

/** One port of a service; every protocol of ours runs over TCP. */
export interface ServicePort {
  readonly number: number;
  /** Empty where it has none. */
  readonly name: string;
}

/** A hostname that a service holds, and by which generators. */
export interface HeldHostname {
  readonly hostname: string;
  readonly generators: readonly string[];
}

/** What DNS knows of a service. */
export interface ServiceFacts {
  readonly key: string;
  readonly id: Identity;
  /** Empty while it has none. */
  readonly ip: string;
  readonly family: 0 | 4 | 6;
  readonly ports: readonly ServicePort[];
  /** Available ones only, each once. */
  readonly hostnames: readonly HeldHostname[];
}

/** Kinds that have hostnames. */
export const NAMED_KINDS: readonly string[] = Object.values(SERVICE_KINDS);

/** Reads a service as its zone's controllers have written it; what is malformed counts as absent. */
export function serviceFacts(resource: Resource): ServiceFacts {
  const status = resource.status ?? {};
  const vip = isJsonObject(status['vip']) ? status['vip']['ip'] : undefined;
  const ip = typeof vip === 'string' ? vip : '';
  const version = isIP(ip);
  return {
    key: identityKey(resource.id),
    id: resource.id,
    ip: version === 0 ? '' : ip,
    family: version === 4 ? 4 : version === 6 ? 6 : 0,
    ports: readPorts(resource.spec['ports'], resource.spec['match']),
    hostnames: readHostnames(status['addresses']),
  };
}

/** True when both give the same answers, so that a change of something else costs nothing. */
export function sameFacts(a: Resource, b: Resource): boolean {
  if (a.status === b.status && a.spec === b.spec) return true;
  const left = serviceFacts(a);
  const right = serviceFacts(b);
  return (
    left.ip === right.ip &&
    JSON.stringify(left.hostnames) === JSON.stringify(right.hostnames) &&
    JSON.stringify(left.ports) === JSON.stringify(right.ports)
  );
}

function readHostnames(addresses: JsonValue | undefined): HeldHostname[] {
  if (!isJsonArray(addresses)) return [];
  const held: { readonly hostname: string; readonly generators: string[] }[] = [];
  for (const address of addresses) {
    if (!isJsonObject(address) || address['status'] !== 'Available') continue;
    const { hostname, origin } = address;
    if (typeof hostname !== 'string') continue;
    const generator = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const same = held.find((each) => each.hostname === hostname);
    if (same) same.generators.push(generator);
    else held.push({ hostname, generators: [generator] });
  }
  return held;
}

/** `spec.ports` of services in the mesh, `spec.match` of external ones. */
function readPorts(ports: JsonValue | undefined, match: JsonValue | undefined): ServicePort[] {
  const listed = isJsonArray(ports) ? ports : [match];
  return listed.flatMap((port) => {
    if (!isJsonObject(port)) return [];
    const { port: number, name } = port;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < 1 || number > 65_535) return [];
    return [{ number, name: typeof name === 'string' ? name.toLowerCase() : '' }];
  });
}
