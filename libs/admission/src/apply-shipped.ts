import { MetaresourceDefinition } from '@causeway/kinds';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { computedLabels, globalIdentity, jsonEqual, type Identity } from '@causeway/resources';
import type { Change } from '@causeway/store';
import type { DefaultsParts } from './apply-defaults';
import { isWritable } from './rights';

/**
 * Stores the definitions of the kinds that this version brings as they are in this version, where a control plane writes definitions:
 * the global, and a zone by itself. Users change and delete them nowhere (`checkNotShipped`), so the version of the leader decides. A
 * definition that an earlier version brought and this one does not stays, for its policies. Called by the leader at each start; a second
 * call writes nothing. Resolves to the identities it wrote. Throws Fenced, Unavailable.
 */
export async function applyShipped({
  store,
  controlPlane,
  fence,
}: Omit<DefaultsParts, 'clock'>): Promise<readonly Identity[]> {
  if (!isWritable(MetaresourceDefinition, controlPlane)) return [];
  const planned = shippedPolicies.map(async (policy): Promise<readonly Change[]> => {
    const id = globalIdentity(MetaresourceDefinition.name, shippedDefinitionName(policy));
    const [labels, spec] = [computedLabels(MetaresourceDefinition, id, controlPlane), shippedDefinition(policy)];
    const stored = await store.get(id);
    if (stored && jsonEqual(stored.spec, spec) && jsonEqual(stored.labels, labels)) return [];
    return [{ type: 'put', id, expect: stored?.revision ?? 'absent', labels, spec }];
  });
  const changes = (await Promise.all(planned)).flat();
  if (changes.length === 0) return [];
  const { results } = await store.write({ changes, onRefusal: 'skip', ...(fence ? { fence } : {}) });
  return changes.filter((_, i) => results[i]?.type === 'written').map(({ id }) => id);
}
