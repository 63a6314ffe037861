import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';
import { MANY, protocols } from '../schema/schema-parts';

/** A port of a service as it is stored; what cannot be read is left out, for another zone may have sent the service. */
export interface ServicePort {
  readonly number: number;
  /** Its name; its number as text where it has none, or one that another port has. */
  readonly section: string;
  readonly target: number | string;
  readonly protocol: (typeof protocols)[number];
}

/** Ports are in `spec.ports` of services in the mesh and in `spec.match` of external ones; of two with one number the first counts. */
export function servicePorts({ spec }: Pick<Resource, 'spec'>): readonly ServicePort[] {
  const { ports, match } = spec;
  const listed = isJsonArray(ports) ? ports.slice(0, MANY) : [match];
  const found = new Map<number, ServicePort>();
  const sections = new Set<string>();
  for (const port of listed) {
    const number = isJsonObject(port) ? port['port'] : undefined;
    if (!isJsonObject(port) || !isPort(number) || found.has(number)) continue;
    const { name, targetPort, appProtocol, protocol } = port;
    // A number as a name would be another port's section.
    const named = typeof name === 'string' && name !== '' && !/^\d+$/.test(name) && !sections.has(name);
    const section = named ? name : `${number}`;
    sections.add(section);
    const target = typeof targetPort === 'string' || typeof targetPort === 'number' ? targetPort : number;
    const spoken = protocols.find((known) => known === (appProtocol ?? protocol)) ?? 'tcp';
    found.set(number, { number, section, target, protocol: spoken });
  }
  return [...found.values()];
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 65_535;
}
