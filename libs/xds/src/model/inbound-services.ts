import type { DataplaneResource, ServiceResource } from '@causeway/controllers';
import { servicePorts } from '@causeway/kinds';
import { compareIdentities, type Identity } from '@causeway/resources';
import { isTargeted } from './destination';

/** The ports of these services that an inbound of a Dataplane serves, given by its own port; in one order. */
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
