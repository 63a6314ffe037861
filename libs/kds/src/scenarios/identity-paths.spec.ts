import { identityPathStateId } from '@causeway/identity';
import { IdentityPath, IdentityPathState } from '@causeway/kinds';
import { computedLabels, globalIdentity } from '@causeway/resources';
import { joinedMesh, type JoinedMesh, type TestGlobal, type TestZone } from '../../../../test/support/sync-mesh';

describe('the form of SPIFFE ids', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

  it('is asked for by the global in every zone, and what a zone says of its ids reaches the global and the others', async () => {
    const path = { ...globalIdentity(IdentityPath.name, 'default'), mesh: 'default' };
    const wanted = { preset: 'Namespaced' };
    const made = computedLabels(IdentityPath, path, global.cp);
    await global.write([{ type: 'put', id: path, expect: 'absent', labels: made, spec: wanted }]);
    for (const plane of [east, west]) expect(await plane.holds(path)).toMatchObject({ spec: wanted });
    const id = identityPathStateId({ mesh: 'default', zone: 'east' });
    const labels = computedLabels(IdentityPathState, id, east.cp);
    const shared = [{ id: 'spiffe://default.east.mesh.local/workload/redis', namespaces: ['dev', 'shop'] }];
    const spec = { signs: 'Workload', step: 'Announcing', until: 5, namespaces: ['dev', 'shop'], shared };
    await east.write([{ type: 'put', id, expect: 'absent', labels, spec }]);
    for (const plane of [global, west]) expect(await plane.holds(id)).toMatchObject({ spec });
    await east.write([{ type: 'delete', id, expect: 'any' }]);
    for (const plane of [global, west]) await plane.lacks(id);
  });
});
