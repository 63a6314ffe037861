import { conditionOf, withCondition, type Condition, type JsonObject, type Resource } from '@causeway/resources';
import type { PatchChange } from '@causeway/store';

/** Says whether a service could be given an address; absent until it once could not. */
export const VIP_ALLOCATED = 'VIPAllocated';

/** The write that gives `ip` to a service. */
export function grant(service: Resource, ip: string, now: number): PatchChange {
  const status: JsonObject = { ...service.status, vip: { ip, type: 'Kuma' } };
  return { type: 'patch', id: service.id, expect: service.revision, status: allocated(service, status, now), vip: ip };
}

/** The write that says there is no address for a service; undefined when that is said already. */
export function deny(service: Resource, ranges: string, now: number): PatchChange | undefined {
  const before = service.status ?? {};
  const message = `no address of ${ranges} is free`;
  const status = withCondition(before, condition(service, 'False', 'RangeExhausted', message), now);
  return status === before ? undefined : { type: 'patch', id: service.id, expect: service.revision, status };
}

/** The write that takes a denial back from a service that has an address; undefined when none stands. */
export function confirm(service: Resource, now: number): PatchChange | undefined {
  const before = service.status ?? {};
  const status = allocated(service, before, now);
  return status === before ? undefined : { type: 'patch', id: service.id, expect: service.revision, status };
}

function allocated(service: Resource, status: JsonObject, now: number): JsonObject {
  if (conditionOf(status, VIP_ALLOCATED)?.['status'] !== 'False') return status;
  return withCondition(status, condition(service, 'True', 'Allocated', ''), now);
}

function condition(service: Resource, status: 'True' | 'False', reason: string, message: string): Condition {
  return { type: VIP_ALLOCATED, status, reason, message, observedGeneration: service.generation };
}
