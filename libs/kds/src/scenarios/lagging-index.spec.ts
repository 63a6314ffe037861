import { identityKey } from '@causeway/resources';
import { joinedMesh, type JoinedMesh, type TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

describe('a zone whose index lags behind its store', () => {
  let mesh: JoinedMesh;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ east, west } = mesh);
  });
  afterEach(() => mesh.close());

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
