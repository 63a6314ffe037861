import type { ServiceResource } from '@causeway/dataplanes';
import { MeshService } from '@causeway/kinds';
import type { Resource, ResourceKey } from '@causeway/resources';

/** Whether an identity key is that of a MeshMultiZoneService. */
export function isGroup(key: ResourceKey): boolean {
  return key.startsWith('MeshMultiZoneService/');
}

/** Whether the endpoints that a Dataplane is are the same before and after a change. */
export function isSameEndpoint(before: Resource, after: Resource): boolean {
  return before.spec === after.spec && before.labels === after.labels;
}

export function asService(resource: Resource | undefined): ServiceResource | undefined {
  return resource && MeshService.is(resource) ? resource : undefined;
}
