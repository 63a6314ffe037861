import {
  compareText,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import { sortedPage, type SortedPage } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import type { HostnamePart } from '../dependencies';

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

/** Hostnames of a mesh and who claims them, by hostname, then service. Rejects when the signal aborts. */
export function heldHostnames(
  index: ResourceIndex,
  mesh: string,
  { containing, ...part }: HostnamePart,
  signal: AbortSignal,
): Promise<SortedPage<HeldHostname>> {
  const byName = (a: HeldHostname, b: HeldHostname): number =>
    compareText(a.hostname, b.hostname) || compareText(orderOf(a), orderOf(b));
  return sortedPage(namesWith(index, mesh, containing, signal), byName, part);
}

function* namesWith(
  index: ResourceIndex,
  mesh: string,
  text: string,
  signal: AbortSignal,
): Generator<HeldHostname | undefined> {
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      signal.throwIfAborted();
      if (service.id.mesh === mesh) yield* addressesOf(service).filter(({ hostname }) => hostname.includes(text));
      yield;
    }
  }
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
