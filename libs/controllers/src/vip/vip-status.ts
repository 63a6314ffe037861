import {
  findCondition,
  isJsonObject,
  withCondition,
  type Condition,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { PatchChange } from '@causeway/store';

/** The address in a service's status. One of type `Kubernetes` is managed by that cluster. */
export interface ServiceVip {
  readonly ip: string;
  readonly type: 'Kuma' | 'Kubernetes';
}

/** Reads `status.vip`; undefined if there is none. */
export function readVip(status: JsonObject | undefined): ServiceVip | undefined {
  const vip = status?.['vip'];
  if (!isJsonObject(vip) || typeof vip['ip'] !== 'string') return undefined;
  return { ip: vip['ip'], type: vip['type'] === 'Kubernetes' ? 'Kubernetes' : 'Kuma' };
}

/** The condition that states whether a service has an address; absent until an allocation has failed. */
export const VIP_ALLOCATED = 'VIPAllocated';

/** Returns the patch that gives `ip` to a service. */
export function grant(service: Resource, ip: string, now: number): PatchChange {
  const status: JsonObject = { ...service.status, vip: { ip, type: 'Kuma' } };
  return { type: 'patch', id: service.id, expect: service.revision, status: allocated(service, status, now), vip: ip };
}

/** Returns the patch which states that no address is free for a service, and `why`; undefined if its status states that. */
export function deny(service: Resource, ranges: string, now: number, why = ''): PatchChange | undefined {
  const before = service.status ?? {};
  const message = `no address of ${ranges} is free${why}`;
  const status = withCondition(before, condition(service, 'False', 'RangeExhausted', message), now);
  return status === before ? undefined : { type: 'patch', id: service.id, expect: service.revision, status };
}

/** Returns the patch that ends the denial of a service that has an address; undefined if its status shows none. */
export function confirm(service: Resource, now: number): PatchChange | undefined {
  const before = service.status ?? {};
  const status = allocated(service, before, now);
  return status === before ? undefined : { type: 'patch', id: service.id, expect: service.revision, status };
}

function allocated(service: Resource, status: JsonObject, now: number): JsonObject {
  if (findCondition(status, VIP_ALLOCATED)?.['status'] !== 'False') return status;
  return withCondition(status, condition(service, 'True', 'Allocated', ''), now);
}

function condition(service: Resource, status: 'True' | 'False', reason: string, message: string): Condition {
  return { type: VIP_ALLOCATED, status, reason, message, observedGeneration: service.generation };
}
