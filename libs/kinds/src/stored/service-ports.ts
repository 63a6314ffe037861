import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';
import { MAX_ITEMS, protocols } from '../schema/schema-parts';

/** A port of a stored service. Unreadable parts are left out, because the service may come from another zone. */
export interface ServicePort {
  readonly number: number;
  /** Name of the port; its number as text if it has no name or shares its name with another port. */
  readonly section: string;
  readonly target: number | string;
  readonly protocol: (typeof protocols)[number];
}

/** Returns the ports in `spec.ports` of services in the mesh, or in `spec.match` of external ones; of several with one number only the first. */
export function servicePorts({ spec }: Pick<Resource, 'spec'>): readonly ServicePort[] {
  const { ports, match } = spec;
  const listed = isJsonArray(ports) ? ports.slice(0, MAX_ITEMS) : [match];
  const found = new Map<number, ServicePort>();
  const sections = new Set<string>();
  for (const port of listed) {
    const number = isJsonObject(port) ? port['port'] : undefined;
    if (!isJsonObject(port) || !isPort(number) || found.has(number)) continue;
    const { name, targetPort, appProtocol, protocol } = port;
    // Skips numbers used as names: they could be another port's section.
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
