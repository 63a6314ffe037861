import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { globalIdentity } from '@causeway/resources';
import type { RestFixture } from './rest-fixture';

/** Stores the definitions that each control plane brings. */
export async function seedShipped(rest: Pick<RestFixture, 'seed'>): Promise<void> {
  const labels = { 'kuma.io/origin': 'global' };
  await rest.seed(
    ...shippedPolicies.map((policy) => ({
      id: globalIdentity('MetaresourceDefinition', shippedDefinitionName(policy)),
      labels,
      spec: shippedDefinition(policy),
    })),
  );
}
