import type { ResourceKey } from '@causeway/resources';
import { asDataplane, type DataplaneResource } from '@causeway/dataplanes';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { InboundRules, RulesChange } from './inbound-rules';
import type { Selecting } from './inbound-services';

/**
 * Yields the Dataplanes whose inbounds may accept other callers because rules or selectors changed: the instances of changed services, changed
 * Dataplanes of meshes that have policies, and all Dataplanes of a mesh that got its first policy or lost its last.
 */
export function* restricted(
  changes: readonly IndexChange[],
  { services, meshes }: RulesChange,
  model: Selecting & {
    readonly index: Pick<IndexReader, 'byIdentityKey'>;
    readonly rules: Pick<InboundRules, 'hasPolicies'>;
    dataplanes(): Iterable<readonly [ResourceKey, DataplaneResource]>;
  },
): Generator<DataplaneResource> {
  for (const key of services) {
    const service = model.index.byIdentityKey(key);
    if (service) yield* model.listDataplanes(service);
  }
  for (const { id, after } of changes) {
    const dataplane = id.zone === model.zone && model.rules.hasPolicies(id.mesh) ? asDataplane(after) : undefined;
    if (dataplane) yield dataplane;
  }
  if (meshes.length === 0) return;
  for (const [, dataplane] of model.dataplanes()) if (meshes.includes(dataplane.id.mesh)) yield dataplane;
}
