import { createHash } from 'node:crypto';

/** The parts of the server names (SNI) of one port of a service. */
export interface SniSubject {
  readonly shortName: ServiceShortName;
  readonly mesh: string;
  /** Empty for services without a zone. */
  readonly zone: string;
  /** Empty for services without a namespace. */
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** The port's name, or its number. */
  readonly section: string;
}

export type ServiceShortName = 'msvc' | 'mzsvc' | 'extsvc';

/** In the hash form a part is truncated to this length and marked with an `x`. */
const MAX_PART_LENGTH = 62;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const HASH_SUFFIX = { msvc: 'ms', mzsvc: 'mzms', extsvc: 'mes' } as const;

/**
 * Returns `sni.<kind>.<mesh>[.<zone>[.<namespace>]].<name>.<section>`, Kuma 2.14's form for workloads with a MeshIdentity
 * (docs/reference/xds-translation.md, Server names). Undefined where a part is not a DNS label or the whole is longer than 253.
 */
export function kriSni({ shortName, mesh, zone, namespace, name, section }: SniSubject): string | undefined {
  const optional = [zone, zone === '' ? '' : namespace].filter((part) => part !== '');
  const parts = [mesh, ...optional, name, section];
  if (!parts.every((part) => part.length <= 63 && LABEL.test(part))) return undefined;
  const sni = ['sni', shortName, ...parts].join('.');
  return sni.length <= 253 ? sni : undefined;
}

/**
 * Returns `a<hash>.<name>.<port>.<mesh>.<kind>`, Kuma 2.14's form for zones without a MeshZoneAddress (docs/reference/xds-translation.md, Server
 * names). The hash covers the whole name and mesh, not the port and the kind; the name includes the namespace. Undefined where the whole is longer
 * than 253.
 */
export function hashSni({ shortName, mesh, namespace, name, port }: SniSubject): string | undefined {
  const whole = namespace === '' ? name : `${name}.${namespace}`;
  const hash = fnv1a64(`${whole};${mesh};`).toString(16).padStart(16, '0');
  const sni = `a${hash}.${shortened(whole)}.${port}.${shortened(mesh)}.${HASH_SUFFIX[shortName]}`;
  return sni.length <= 253 ? sni : undefined;
}

/**
 * Returns `<readable>-<hash>.<readable>-<hash>.egress`, made of the name of a destination and of its mesh: no two destinations share one, and its end
 * identifies the mesh, whatever the names contain (docs/reference/xds-translation.md, The zone egress).
 */
export function egressServerName(mesh: string, destination: string): string {
  const [, , , , , ...named] = destination.split('_');
  return `${hashedLabel(destination, named.join('-'))}.${formatEgressServerNames(mesh)}`;
}

/** Returns the suffix of all server names at the egress for the destinations of one mesh; no other mesh has it. */
export function formatEgressServerNames(mesh: string): string {
  return `${hashedLabel(mesh, mesh)}.egress`;
}

/** Returns up to 24 readable characters, then 128 bits of a hash. */
function hashedLabel(text: string, readable: string): string {
  const start = readable.replaceAll('.', '-').slice(0, 24);
  return `${start}-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

function shortened(part: string): string {
  return part.length > MAX_PART_LENGTH ? `${part.slice(0, MAX_PART_LENGTH)}x` : part;
}

function fnv1a64(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}
