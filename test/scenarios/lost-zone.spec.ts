import { ProcessMesh } from '../support/process-mesh';
import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

interface ServiceBody {
  readonly status?: {
    readonly vip?: { readonly ip: string };
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

const PATH = '/meshes/default/meshservices/redis';
const REDIS = { type: 'MeshService', mesh: 'default', name: 'redis', spec: { ports: [{ port: 6379 }] } };

async function lookAt(plane: ProcessPlane): Promise<ServiceBody['status'] | undefined> {
  const body: ServiceBody | undefined = await plane.get(`${PATH}?zone=east`);
  return body?.status;
}

async function lost(plane: ProcessPlane): Promise<{ reason: string; message: string } | undefined> {
  return (await lookAt(plane))?.conditions?.find(({ type }) => type === 'OriginLost');
}

describe('a zone that is lost', () => {
  let mesh: ProcessMesh;

  beforeAll(async () => {
    mesh = await ProcessMesh.start(['east', 'west']);
    const spec = { lost: { policy: 'keep', after: '1s' } };
    expect(await mesh.global.put('/zones/east', { type: 'Zone', name: 'east', spec })).toBe(200);
  });

  afterAll(() => mesh.stop());

  it('is said on what others hold of it, by a GET on the global and in west, until it is back', async () => {
    expect(await mesh.zone('east').put(PATH, REDIS)).toBe(201);
    const { vip } = await until('redis in west', async () => {
      const status = await lookAt(mesh.zone('west'));
      return status?.vip === undefined ? undefined : status;
    });
    await mesh.zone('east').kill();
    for (const plane of [mesh.global, mesh.zone('west')]) {
      const said = await until(`${plane.name} says that east is lost`, () => lost(plane));
      expect(said).toMatchObject({ reason: 'Kept', message: expect.stringMatching(/^zone "east" .*; policy keep$/) });
    }
    expect((await lookAt(mesh.zone('west')))?.vip).toEqual(vip);
    await mesh.startZone('east');
    for (const plane of [mesh.global, mesh.zone('west')]) {
      await until(`${plane.name} says that east is back`, async () => (await lost(plane)) === undefined);
    }
    expect((await lookAt(mesh.zone('west')))?.vip).toEqual(vip);
  });
});
