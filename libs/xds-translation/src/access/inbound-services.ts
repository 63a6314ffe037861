import { isDeepStrictEqual } from 'node:util';
import type { DataplaneResource, ServiceResource } from '@causeway/dataplanes';
import { servicePorts } from '@causeway/kinds';
import { compareIdentities, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange } from '@causeway/store';
import { isTargeted } from '../model/destination';

/** Returns the ports of these services that an inbound of a Dataplane, given by its own port, serves; sorted. */
export function portsServedAt(
  dataplane: DataplaneResource,
  port: number,
  services: readonly ServiceResource[],
): readonly { readonly service: Identity; readonly port: number }[] {
  return [...services]
    .sort((a, b) => compareIdentities(a.id, b.id))
    .flatMap((service) =>
      servicePorts(service)
        .filter(({ target }) => isTargeted(dataplane, target, port))
        .map(({ number }) => ({ service: service.id, port: number })),
    );
}

/** Finds the Dataplanes that a service of this zone selects. */
export interface Selecting {
  readonly zone: string;
  listDataplanes(service: Resource): Iterable<DataplaneResource>;
}

/**
 * Yields the Dataplanes that services of this zone selected before or select now, for services that came, went or changed their selector. A Dataplane
 * may be yielded twice. Linear in the Dataplanes.
 */
export function* reselected(changes: readonly IndexChange[], model: Selecting): Generator<DataplaneResource> {
  for (const { id, before, after } of changes) {
    if (id.kind !== 'MeshService' || id.zone !== model.zone) continue;
    if (before && after && isDeepStrictEqual(before.spec, after.spec)) continue;
    for (const service of [before, after]) if (service) yield* model.listDataplanes(service);
  }
}
