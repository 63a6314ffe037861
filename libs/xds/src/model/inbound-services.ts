import { isDeepStrictEqual } from 'node:util';
import { asDataplane, type DataplaneResource, type ServiceResource } from '@causeway/controllers';
import { servicePorts } from '@causeway/kinds';
import { compareIdentities, type Identity, type Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { isTargeted } from './destination';
import type { InboundRules, RulesChange } from './inbound-rules';

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

/** What is asked for Dataplanes by the service that selects them. */
interface Selecting {
  readonly zone: string;
  dataplanesOf(service: Resource): Iterable<DataplaneResource>;
}

/**
 * The Dataplanes that services of this zone selected before or select now, where these came, went or select otherwise; one may be
 * named twice. Linear in them.
 */
export function* reselected(changes: readonly IndexChange[], model: Selecting): Generator<DataplaneResource> {
  for (const { id, before, after } of changes) {
    if (id.kind !== 'MeshService' || id.zone !== model.zone) continue;
    if (before && after && isDeepStrictEqual(before.spec, after.spec)) continue;
    for (const service of [before, after]) if (service) yield* model.dataplanesOf(service);
  }
}

/**
 * The Dataplanes whose inbounds may let in others, since rules or what they select by are others: the instances of these services, what
 * changed itself where a mesh has policies, and all of the meshes that got their first policy or lost their last.
 */
export function* restricted(
  changes: readonly IndexChange[],
  { services, meshes }: RulesChange,
  model: Selecting & {
    readonly index: Pick<IndexReader, 'byIdentityKey'>;
    readonly rules: Pick<InboundRules, 'hasPolicies'>;
    dataplanes(): Iterable<readonly [string, DataplaneResource]>;
  },
): Generator<DataplaneResource> {
  for (const key of services) {
    const service = model.index.byIdentityKey(key);
    if (service) yield* model.dataplanesOf(service);
  }
  for (const { id, after } of changes) {
    const dataplane = id.zone === model.zone && model.rules.hasPolicies(id.mesh) ? asDataplane(after) : undefined;
    if (dataplane) yield dataplane;
  }
  if (meshes.length === 0) return;
  for (const [, dataplane] of model.dataplanes()) if (meshes.includes(dataplane.id.mesh)) yield dataplane;
}
