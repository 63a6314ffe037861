import { FollowedRoutes } from '@causeway/meshes';
import { type IndexReader } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { EnvoyResources, type AccessSource } from '@causeway/xds-translation';
import type { EnvoyResourcesOptions } from '@causeway/xds-translation/testing';

/** Sources from which resources of a zone are derived. */
export interface ResourcesPlace {
  readonly index: IndexReader;
  readonly access: AccessSource;
}

/** Returns the options of resources: routes of their own, and everything at once, unless given. */
export function resourceOptions(
  { index, access }: ResourcesPlace,
  zone: string,
  { run = fillAtOnce, ...given }: Partial<EnvoyResourcesOptions> = {},
): EnvoyResourcesOptions {
  const { maxAtOnce } = given;
  const routes = given.routes ?? new FollowedRoutes({ index, zone, meshes: access.meshes, run, maxAtOnce });
  return { run, ...given, routes };
}

/** Resources of a zone as a process has them. */
export function zoneResources(
  place: ResourcesPlace,
  zone: string,
  given: Partial<EnvoyResourcesOptions> = {},
): EnvoyResources {
  return new EnvoyResources(place.index, zone, place.access, resourceOptions(place, zone, given));
}
