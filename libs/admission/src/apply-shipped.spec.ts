import { DefinitionEvaluator } from '@causeway/kinds';
import { shippedPolicies } from '@causeway/policies';
import { globalIdentity, type ControlPlane } from '@causeway/resources';
import { MemoryStore } from '@causeway/store/testing';
import { applyShipped } from './apply-shipped';

const global: ControlPlane = { role: 'global' };
const id = globalIdentity('MetaresourceDefinition', 'timeoutpolicies.policies.causeway.io');

describe('the definitions that control planes bring', () => {
  it.each<[string, ControlPlane, number]>([
    ['the global', global, shippedPolicies.length],
    ['a zone by itself', { role: 'zone', zone: 'east', federated: false }, shippedPolicies.length],
    ['a zone of a global, which sends them', { role: 'zone', zone: 'east', federated: true }, 0],
  ])('are stored once by %s', async (_, controlPlane, want) => {
    const store = new MemoryStore();
    expect(await applyShipped({ store, controlPlane })).toHaveLength(want);
    expect(await applyShipped({ store, controlPlane })).toEqual([]);
  });

  it('declare their kinds', async () => {
    const store = new MemoryStore();
    await applyShipped({ store, controlPlane: global });
    const { resources } = await store.snapshot();
    const results = new DefinitionEvaluator().evaluate(resources);
    expect(results.map(({ kind, message }) => kind?.name ?? message).sort()).toEqual(
      shippedPolicies.map(({ kind }) => kind).sort(),
    );
  });

  it('are what the version of the leader brings, whatever an earlier version stored', async () => {
    const store = new MemoryStore();
    await applyShipped({ store, controlPlane: global });
    const fresh = await store.get(id);
    if (!fresh) throw new Error('nothing stored');
    const spec = { ...fresh.spec, description: 'of an earlier version' };
    await store.write({ changes: [{ type: 'put', id, expect: 'any', labels: {}, spec }], onRefusal: 'abort' });
    expect(await applyShipped({ store, controlPlane: global })).toEqual([id]);
    expect((await store.get(id))?.spec).toEqual(fresh.spec);
  });

  it('are not written by a leader that is none any more', async () => {
    const run = applyShipped({ store: new MemoryStore(), controlPlane: global, fence: { epoch: 7, holder: 'nobody' } });
    await expect(run).rejects.toThrow();
  });
});
