import { dataplane, type ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

interface MeshBody {
  readonly uid: string;
  readonly spec: Record<string, unknown>;
  readonly status?: { readonly conditions?: readonly Record<string, unknown>[] };
}

const accepted = async (plane: ProcessPlane): Promise<Record<string, unknown> | undefined> => {
  const body = (await plane.get('/meshes/default')) as MeshBody | undefined;
  return body?.status?.conditions?.find(({ type, status }) => type === 'Accepted' && status !== 'Unknown');
};

describe('a zone whose global is away', () => {
  let mesh: ProcessMesh;
  beforeAll(() => void (mesh = sharedMesh()));
  afterAll(() => mesh.zone('north').stop());

  it('T000-22 T000-42 serves its services from the start, and takes over the Mesh of the global once that is back', async () => {
    await mesh.credentials('north');
    await until('the global has its Mesh', () => accepted(mesh.global));
    await mesh.global.kill();
    const north = await mesh.bootZone('north');
    expect(await north.put('/meshes/default/dataplanes/ledger-1', dataplane('ledger-1', 'ledger'))).toBe(201);
    const path = '/meshes/default/meshservices/ledger';
    const complete = async (): Promise<Record<string, unknown> | undefined> => {
      const body = await north.get(path);
      const text = JSON.stringify(body?.['status'] ?? {});
      return text.includes('"ip":"241.') && text.includes('"hostname":"ledger.svc.mesh.local"') ? body : undefined;
    };
    const before = await until('ledger has an address and a name', complete);
    expect(await north.get('/meshes')).toMatchObject({ total: 0 });
    expect(await north.get('/meshes/default')).toBeUndefined();

    const global = await mesh.startGlobal();
    const copy = (await until('the Mesh came', () => north.get('/meshes/default'))) as unknown as MeshBody;
    const own = (await global.get('/meshes/default')) as unknown as MeshBody;
    expect([copy.uid, copy.spec]).toEqual([own.uid, own.spec]);
    expect(await north.get('/meshes')).toMatchObject({ total: 1 });
    await until('the zone accepts it', async () =>
      String((await accepted(north))?.['message']).includes('zone control plane "north"'),
    );
    await until('ledger is at the global', () => global.get(`${path}?zone=north`));
    expect((await complete())?.['status']).toMatchObject({ vip: (before['status'] as { vip: unknown }).vip });
  });
});
