import { identityKey, type ResourceKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { EgressChange } from './zone-egress';

type Services = Pick<IndexReader, 'ofKind'>;

/**
 * Yields the MeshExternalServices, by identity key, whose route through the egress changed. Linear in all of them: an egress seldom comes or goes.
 */
export function* externalsThrough(index: Services, { meshes }: EgressChange): Iterable<ResourceKey> {
  if (meshes !== 'all' && meshes.size === 0) return;
  for (const { id } of index.ofKind('MeshExternalService'))
    if (meshes === 'all' || meshes.has(id.mesh)) yield identityKey(id);
}
