import {
  compareText,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';

/** One address of a service as its status has it: a hostname that it holds or that it was denied. */
export interface HeldHostname {
  readonly hostname: string;
  readonly status: string;
  readonly service: { readonly kind: string; readonly zone: string; readonly namespace: string; readonly name: string };
  readonly ip: string;
  readonly generator: string;
  readonly reason?: string;
}

/** Kinds whose status holds hostnames. */
export const NAMED_KINDS: readonly string[] = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'];

/** Every hostname of a mesh and who claims it, sorted by hostname, then service. */
export function hostnamesOf(index: ResourceIndex, mesh: string): HeldHostname[] {
  const services = NAMED_KINDS.flatMap((kind) => [...index.ofKind(kind)]).filter(({ id }) => id.mesh === mesh);
  return services
    .flatMap(addressesOf)
    .sort((a, b) => compareText(a.hostname, b.hostname) || compareText(orderOf(a), orderOf(b)));
}

/** The hostnames in the status of one service; entries without a hostname are left out. */
export function addressesOf({ id, status }: Resource): HeldHostname[] {
  const addresses = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.filter(isJsonObject).flatMap((address) => held(id, vipOf(status), address));
}

function held(id: Identity, ip: string, address: JsonObject): HeldHostname[] {
  const { hostname, status, origin, reason } = address;
  if (typeof hostname !== 'string') return [];
  const generator = isJsonObject(origin) ? origin['name'] : undefined;
  return [
    {
      hostname,
      status: status === 'Available' ? 'Available' : 'NotAvailable',
      service: { kind: id.kind, zone: id.zone, namespace: id.namespace, name: id.name },
      ip,
      generator: typeof generator === 'string' ? generator : '',
      ...(typeof reason === 'string' ? { reason } : {}),
    },
  ];
}

function vipOf(status: JsonObject | undefined): string {
  const vip = status?.['vip'];
  const ip = isJsonObject(vip) ? vip['ip'] : undefined;
  return typeof ip === 'string' ? ip : '';
}

function orderOf({ service, generator, status }: HeldHostname): string {
  return [status, service.kind, service.zone, service.namespace, service.name, generator].join('/');
}
