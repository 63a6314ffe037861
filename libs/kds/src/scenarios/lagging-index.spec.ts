import { identityKey } from '@causeway/resources';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

describe('a zone whose index lags behind its store', () => {
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    global = new TestGlobal();
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('stores a copy that became what the index holds still', async () => {
    const id = east.id('MeshService', 'a');
    const key = identityKey(id);
    const stored = async (state: string): Promise<boolean> => {
      const { resources } = await west.store.snapshot();
      return resources.find((resource) => identityKey(resource.id) === key)?.spec['state'] === state;
    };
    await east.put('MeshService', 'a', SPEC);
    await west.holds(id);
    west.gate.shut();
    // As the leader of east does it: the generation stays.
    for (const state of ['Unavailable', 'Available']) {
      await east.write([{ type: 'patch', id, expect: 'any', spec: { ...SPEC, state } }]);
      await until(`west stores ${state}`, () => stored(state));
    }
    expect(west.get(id)?.spec).toEqual(SPEC);
  });
});
