import { findCondition, globalIdentity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { LoopHarness, put, type Replica } from '../../../../test/support/loop-harness';
import { createDefinitionsLoop } from './definitions-reconciler';

const idOf = (name: string) => globalIdentity('MetaresourceDefinition', name);
const definition = (name: string, more: JsonObject = {}): Change =>
  put(idOf(name), {
    group: 'a.io',
    kind: 'PaintPolicy',
    plural: 'paintpolicies',
    hierarchy: 'mesh',
    schema: { type: 'object' },
    declaredTargets: [{ kind: 'Mesh', semantics: 'all' }],
    effectiveTarget: { level: 'Rule', semantics: 'a rule' },
    ...more,
  });

describe('the condition of a definition', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([createDefinitionsLoop()]);
  });
  afterEach(() => harness.stop());

  const accepted = async (...names: readonly string[]): Promise<unknown[]> => {
    await replica.settle();
    const found = await Promise.all(names.map((name) => harness.get(idOf(name))));
    return found.map((one) => findCondition(one?.status, 'Accepted')?.['reason']);
  };

  it('says who has its name, until that one goes, and is written once', async () => {
    await harness.write(definition('first'));
    await harness.write(definition('second'), definition('third', { kind: 'OtherPolicy', plural: 'others' }));
    expect(await accepted('first', 'second', 'third')).toEqual(['Accepted', 'Conflicted', 'Accepted']);
    expect(findCondition((await harness.get(idOf('second')))?.status, 'Accepted')).toMatchObject({
      status: 'False',
      observedGeneration: 1,
      message: '"paintpolicy" is taken by the MetaresourceDefinition first',
    });
    const { revision } = harness;
    await replica.lead([createDefinitionsLoop()]);
    await replica.settle();
    expect(harness.revision).toBe(revision);
    await harness.write({ type: 'delete', id: idOf('first'), expect: 'any' });
    expect(await accepted('second')).toEqual(['Accepted']);
  });

  it('says what is wrong with one that another version wrote', async () => {
    await harness.write(definition('bad', { schema: { type: 'text' } }));
    expect(await accepted('bad')).toEqual(['Invalid']);
  });
});
