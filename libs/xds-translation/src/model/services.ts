import type { ServiceResource } from '@causeway/dataplanes';
import { MeshService } from '@causeway/kinds';
import type { Resource, ResourceKey } from '@causeway/resources';

/** Reports whether an identity key belongs to a MeshMultiZoneService. */
export function isGroup(key: ResourceKey): boolean {
  return key.startsWith('MeshMultiZoneService/');
}

/** Reports whether two states of a Dataplane are the same endpoints. */
export function isSameEndpoint(before: Resource, after: Resource): boolean {
  return before.spec === after.spec && before.labels === after.labels;
}

export function asService(resource: Resource | undefined): ServiceResource | undefined {
  return resource && MeshService.is(resource) ? resource : undefined;
}
