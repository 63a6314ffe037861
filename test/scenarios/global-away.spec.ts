import { dataplane, ProcessMesh } from '../support/process-mesh';
import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

interface ServiceBody {
  readonly status?: {
    readonly vip?: { readonly ip: string };
    readonly addresses?: readonly { readonly hostname?: string; readonly status: string }[];
  };
}

/** The service of a zone when it has an address and a hostname there. */
async function complete(zone: ProcessPlane, name: string, origin: string): Promise<ServiceBody['status'] | undefined> {
  const body: ServiceBody | undefined = await zone.get(`/meshes/default/meshservices/${name}?zone=${origin}`);
  const { vip, addresses = [] } = body?.status ?? {};
  return vip && addresses.some(({ status }) => status === 'Available') ? body?.status : undefined;
}

const register = (zone: ProcessPlane, service: string): Promise<number> =>
  zone.put(`/meshes/default/dataplanes/${service}-1`, dataplane(`${service}-1`, service));

describe('the global is away', () => {
  let mesh: ProcessMesh;

  beforeAll(async () => {
    mesh = await ProcessMesh.start(['east', 'west']);
  });

  afterAll(() => mesh.stop());

  it('a service registered in east has an address and a hostname in west', async () => {
    expect(await register(mesh.zone('east'), 'redis')).toBe(201);
    const status = await until('redis in west', () => complete(mesh.zone('west'), 'redis', 'east'));
    expect(status?.vip?.ip).toMatch(/^241\./);
    expect(status?.addresses).toEqual([
      expect.objectContaining({ hostname: 'redis.svc.east.mesh.local', status: 'Available' }),
    ]);
  });

  it('both zones serve without it, and west learns what east did meanwhile once it is back', async () => {
    const before = await complete(mesh.zone('west'), 'redis', 'east');
    await mesh.global.kill();
    expect(await register(mesh.zone('east'), 'cache')).toBe(201);
    await until('cache in east', () => complete(mesh.zone('east'), 'cache', 'east'));
    expect(await complete(mesh.zone('west'), 'redis', 'east')).toEqual(before);
    expect(await complete(mesh.zone('west'), 'cache', 'east')).toBeUndefined();

    await mesh.startGlobal();
    await until('cache in west', () => complete(mesh.zone('west'), 'cache', 'east'));
    expect(await complete(mesh.zone('west'), 'redis', 'east')).toEqual(before);
  });

  it('a zone that is killed and started again has the same addresses, and the others lose nothing (I2, I5)', async () => {
    const [inEast, inWest] = await Promise.all(
      ['east', 'west'].map((zone) => complete(mesh.zone(zone), 'redis', 'east')),
    );
    await mesh.zone('east').kill();
    expect(await complete(mesh.zone('west'), 'redis', 'east')).toEqual(inWest);
    await mesh.startZone('east');
    expect(await complete(mesh.zone('east'), 'redis', 'east')).toEqual(inEast);
    expect(await register(mesh.zone('east'), 'queue')).toBe(201);
    await until('queue in west', () => complete(mesh.zone('west'), 'queue', 'east'));
    expect(await complete(mesh.zone('west'), 'redis', 'east')).toEqual(inWest);
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
