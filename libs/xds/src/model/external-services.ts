import { identityKey, type Identity } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { secretsOf } from './external-target';
import type { EgressChange } from './zone-egress';

type Services = Pick<IndexReader, 'ofKind'>;

/** MeshExternalServices, by identity key, that take a certificate or a key from a Secret. Linear in all of them: Secrets change rarely. */
export function externalsWithSecret(
  index: Services,
  { mesh, name }: Pick<Identity, 'mesh' | 'name'>,
): readonly string[] {
  return [...index.ofKind('MeshExternalService')]
    .filter(({ id, spec }) => id.mesh === mesh && secretsOf(spec).includes(name))
    .map(({ id }) => identityKey(id));
}

/** MeshExternalServices, by identity key, whose way through the egress is another. Linear in all of them: an egress seldom comes or goes. */
export function* externalsThrough(index: Services, { meshes }: EgressChange): Iterable<string> {
  if (meshes !== 'all' && meshes.size === 0) return;
  for (const { id } of index.ofKind('MeshExternalService'))
    if (meshes === 'all' || meshes.has(id.mesh)) yield identityKey(id);
}
