import { dataplane, type ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

interface ServiceBody {
  readonly status?: {
    readonly vip?: { readonly ip: string };
    readonly addresses?: readonly { readonly hostname?: string; readonly status: string }[];
    readonly conditions?: readonly { readonly type: string; readonly reason: string; readonly message: string }[];
  };
}

/** The service of a zone when it has an address and a hostname there. */
async function complete(zone: ProcessPlane, name: string, origin: string): Promise<ServiceBody['status'] | undefined> {
  const body: ServiceBody | undefined = await zone.get(`/meshes/default/meshservices/${name}?zone=${origin}`);
  const { vip, addresses = [] } = body?.status ?? {};
  return vip && addresses.some(({ status }) => status === 'Available') ? body?.status : undefined;
}

/** Returns the condition that a control plane shows at a service of east while it has lost that zone. */
async function lost(plane: ProcessPlane): Promise<{ reason: string; message: string } | undefined> {
  const body: ServiceBody | undefined = await plane.get('/meshes/default/meshservices/orders?zone=east');
  return body?.status?.conditions?.find(({ type }) => type === 'OriginLost');
}

const zoneEast = (spec: object): object => ({ type: 'Zone', name: 'east', spec });

const register = (zone: ProcessPlane, service: string): Promise<number> =>
  zone.put(`/meshes/default/dataplanes/${service}-1`, dataplane(`${service}-1`, service));

describe('the global is away, and then a zone', () => {
  let mesh: ProcessMesh;

  beforeAll(() => void (mesh = sharedMesh()));

  it('a service registered in east has an address and a hostname in west', async () => {
    expect(await register(mesh.zone('east'), 'orders')).toBe(201);
    const status = await until('orders in west', () => complete(mesh.zone('west'), 'orders', 'east'));
    expect(status?.vip?.ip).toMatch(/^241\./);
    expect(status?.addresses).toEqual([
      expect.objectContaining({ hostname: 'orders.svc.east.mesh.local', status: 'Available' }),
    ]);
  });

  it('both zones serve without it, and west learns what east did meanwhile once it is back', async () => {
    const before = await complete(mesh.zone('west'), 'orders', 'east');
    await mesh.global.kill();
    expect(await register(mesh.zone('east'), 'carts')).toBe(201);
    await until('carts in east', () => complete(mesh.zone('east'), 'carts', 'east'));
    expect(await complete(mesh.zone('west'), 'orders', 'east')).toEqual(before);
    expect(await complete(mesh.zone('west'), 'carts', 'east')).toBeUndefined();

    await mesh.startGlobal();
    await until('carts in west', () => complete(mesh.zone('west'), 'carts', 'east'));
    expect(await complete(mesh.zone('west'), 'orders', 'east')).toEqual(before);
  });

  it('a zone that is killed and started again has the same addresses, and the others lose nothing (I2, I5)', async () => {
    const [inEast, inWest] = await Promise.all(
      ['east', 'west'].map((zone) => complete(mesh.zone(zone), 'orders', 'east')),
    );
    await mesh.zone('east').kill();
    expect(await complete(mesh.zone('west'), 'orders', 'east')).toEqual(inWest);
    // While it is away, the holders of its resources report that.
    expect(await mesh.global.put('/zones/east', zoneEast({ lost: { policy: 'keep', after: '1s' } }))).toBe(200);
    for (const plane of [mesh.global, mesh.zone('west')]) {
      const said = await until(`${plane.name} says that east is lost`, () => lost(plane));
      expect(said).toMatchObject({ reason: 'Kept', message: expect.stringMatching(/^zone "east" .*; policy keep$/) });
    }
    const { vip, addresses } = inWest ?? {};
    expect(await complete(mesh.zone('west'), 'orders', 'east')).toMatchObject({ vip, addresses });
    await mesh.startZone('east');
    for (const plane of [mesh.global, mesh.zone('west')])
      await until(`${plane.name} says that east is back`, async () => (await lost(plane)) === undefined);
    expect(await mesh.global.put('/zones/east', zoneEast({}))).toBe(200);
    expect(await complete(mesh.zone('east'), 'orders', 'east')).toEqual(inEast);
    expect(await register(mesh.zone('east'), 'queue')).toBe(201);
    await until('queue in west', () => complete(mesh.zone('west'), 'queue', 'east'));
    expect(await complete(mesh.zone('west'), 'orders', 'east')).toEqual(inWest);
  });

  it('a deleted Dataplane leaves its service unavailable, and deleted services are gone in every zone', async () => {
    const path = '/meshes/default/meshservices/by-hand';
    const spec = { selector: { dataplaneLabels: { matchLabels: { app: 'x' } } }, ports: [{ port: 80 }] };
    expect(await mesh.zone('east').put(path, { type: 'MeshService', mesh: 'default', name: 'by-hand', spec })).toBe(
      201,
    );
    await until('by-hand in west', () => complete(mesh.zone('west'), 'by-hand', 'east'));
    expect(await mesh.zone('west').delete(`${path}?zone=east`)).toBe(403);
    expect(await mesh.zone('east').delete(path)).toBe(200);
    await until('by-hand gone in west', async () => (await mesh.zone('west').get(`${path}?zone=east`)) === undefined);
  });
});
