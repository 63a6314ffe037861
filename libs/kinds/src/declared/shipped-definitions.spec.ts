import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { sketch } from '../../../../test/support/traffic-zone';
import { DefinitionEvaluator } from './evaluate-definitions';

describe('the kinds that are shipped', () => {
  it('are declared by definitions as all others, which have words for what each target means', () => {
    const definitions = shippedPolicies.map((policy) =>
      sketch('MetaresourceDefinition', shippedDefinitionName(policy), shippedDefinition(policy)),
    );
    const results = new DefinitionEvaluator().evaluate(definitions);
    expect(results.map(({ message }) => message)).toEqual(shippedPolicies.map(() => ''));
    expect(results.map(({ kind }) => kind?.name).sort()).toEqual(shippedPolicies.map(({ kind }) => kind).sort());
  });
});
