import { WorkloadRevocation } from '@causeway/kinds';
import { computedLabels } from '@causeway/resources';
import { joinedMesh, type JoinedMesh, type TestGlobal, type TestZone } from '../../../../test/support/sync-mesh';

const HERE = { mesh: 'default', zone: 'east', namespace: 'default' };
const SPEC = {
  revokedAt: 1_000,
  ended: [{ enrolment: 'e-1', until: 2_000 }],
};

describe('revocations of workloads', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

  const revoke = async () => {
    const id = { ...HERE, kind: WorkloadRevocation.name, name: 'laptop' };
    const labels = computedLabels(WorkloadRevocation, id, east.cp);
    await east.write([{ type: 'put', id, expect: 'absent', labels, spec: SPEC }]);
    return id;
  };

  it('reach the global and every other zone, and go when the zone forgets them', async () => {
    const id = await revoke();
    for (const plane of [global, west]) expect(await plane.holds(id)).toMatchObject({ spec: SPEC });
    await east.write([{ type: 'delete', id, expect: 'any' }]);
    for (const plane of [global, west]) await plane.lacks(id);
  });
});
