import type { ResourceKey } from '@causeway/resources';
import { asDataplane, type DataplaneResource } from '@causeway/dataplanes';
import type { IndexChange, IndexReader } from '@causeway/store';
import type { InboundRules, RulesChange } from './inbound-rules';
import type { Selecting } from './inbound-services';

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
