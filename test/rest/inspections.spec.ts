import { globalIdentity } from '@causeway/resources';
import { restFixture, serviceId, type ParsedJson, type RestFixture } from './rest-fixture';

const address = (hostname: string, status: string): object => ({
  hostname,
  status,
  origin: { kind: 'HostnameGenerator', name: 'g' },
});

describe('views', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    const explainHostname = (question: object): ParsedJson => ({ asked: question });
    const insightOf = (resource: { id: { name: string } }): ParsedJson =>
      resource.id.name === 'west' ? undefined : { subscriptions: [{ id: '1' }] };
    rest = await restFixture({ insights: { explainHostname, insightOf } });
    const labels = { 'kuma.io/zone': 'east', 'kuma.io/mesh': 'default', 'kuma.io/display-name': 'redis' };
    const dataplane = { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default' };
    const networking = (app: string): ParsedJson => ({
      networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { app } }] },
    });
    await rest.seed(
      {
        id: serviceId('redis'),
        labels,
        spec: { selector: { dataplaneTags: { app: 'redis' } } },
        status: {
          vip: { ip: '241.0.0.1', type: 'Kuma' },
          addresses: [
            address('b.mesh', 'Available'),
            address('a.mesh', 'Available'),
            address('c.mesh', 'NotAvailable'),
          ],
          dataplaneProxies: { total: 2, healthy: 1 },
        } as ParsedJson,
      },
      { id: globalIdentity('Zone', 'east'), spec: { enabled: true } },
      { id: globalIdentity('Zone', 'west') },
      {
        id: serviceId('far', 'west'),
        status: { dataplaneProxies: { total: 3, connected: 2, healthy: 1 } },
      },
      { id: { ...dataplane, name: 'redis-1' }, spec: networking('redis') },
      { id: { ...dataplane, name: 'web-1' }, spec: networking('web') },
    );
  });
  afterAll(() => rest.close());

  const get = async (url: string): Promise<ParsedJson> => {
    const answer = await rest.server.inject({ url });
    expect([url, answer.statusCode]).toEqual([url, 200]);
    return answer.json();
  };

  it('of the server', async () => {
    expect(await get('/')).toMatchObject({
      product: 'Causeway',
      version: '0.1.0',
      mode: 'zone',
      zone: 'east',
      instanceId: 'test-1',
    });
    const { resources } = await get('/_resources');
    expect(resources.find((kind: ParsedJson) => kind.name === 'MeshService')).toEqual({
      name: 'MeshService',
      scope: 'Mesh',
      namespaced: true,
      path: 'meshservices',
      shortName: 'msvc',
      readOnly: false,
      singularDisplayName: 'Mesh Service',
      pluralDisplayName: 'Mesh Services',
      writtenOn: ['zone'],
      includeInFederation: true,
      confidential: false,
    });
    expect(resources.find((kind: ParsedJson) => kind.name === 'Mesh').readOnly).toBe(true);
  });

  it('of one resource by its identifier', async () => {
    const service = await get('/meshes/default/meshservices/redis');
    expect(await get(`/_kri/${service.kri}`)).toEqual(service);
    for (const bad of ['nonsense', 'kri_nothing_default_east__redis_', 'kri_msvc']) {
      expect((await rest.server.inject({ url: `/_kri/${bad}` })).statusCode).toBe(400);
    }
    expect((await rest.server.inject({ url: '/_kri/kri_msvc_default_west__redis_' })).statusCode).toBe(404);
  });

  it('fill connected proxies when read', async () => {
    expect((await get('/meshes/default/meshservices/redis')).status.dataplaneProxies).toEqual({
      total: 2,
      connected: 0,
      healthy: 1,
    });
    // The report of the zone of a copy is kept.
    expect((await get('/meshes/default/meshservices/far?zone=west')).status.dataplaneProxies.connected).toBe(2);
  });

  it('serve the Kubernetes form', async () => {
    const document = await get('/meshes/default/meshservices/redis?format=k8s');
    expect(document).toMatchObject({ kind: 'MeshService', metadata: { name: 'redis', namespace: 'default' } });
  });

  it('of zones with their insights', async () => {
    for (const url of ['/zones+insights', '/zones/_overview']) {
      const { total, items } = await get(url);
      expect([total, items[0].type, items[0].zone, items[0].zoneInsight, items[1].zoneInsight]).toEqual([
        2,
        'ZoneOverview',
        { enabled: true },
        { subscriptions: [{ id: '1' }] },
        undefined,
      ]);
    }
    for (const url of ['/zones+insights/west', '/zones/west/_overview']) {
      expect((await get(url)).zoneInsight).toEqual({});
    }
  });

  it('of Dataplanes with their insights', async () => {
    for (const at of [
      '/meshes/default/dataplanes+insights',
      '/meshes/default/dataplanes/_overview',
      '/dataplanes/_overview',
      '/dataplanes+insights',
    ]) {
      const { total, items } = await get(at);
      expect([total, items[0].type, items[0].dataplane.networking.address]).toEqual([
        2,
        'DataplaneOverview',
        '10.0.0.1',
      ]);
    }
    expect((await get('/meshes/default/dataplanes/web-1/_overview')).name).toBe('web-1');
    expect((await get('/meshes/default/dataplanes+insights?name=web')).total).toBe(1);
  });

  it('of the hostnames of a service', async () => {
    expect(await get('/meshes/default/meshservices/redis/_hostnames')).toEqual({
      total: 2,
      items: [
        { hostname: 'a.mesh', zones: [{ name: 'east' }] },
        { hostname: 'b.mesh', zones: [{ name: 'east' }] },
      ],
    });
    expect((await rest.server.inject({ url: '/meshes/default/dataplanes/web-1/_hostnames' })).statusCode).toBe(404);
  });

  it('of the Dataplanes of a service', async () => {
    for (const tail of ['_dataplanes', '_resources/dataplanes']) {
      const { total, items } = await get(`/meshes/default/meshservices/redis/${tail}`);
      expect([total, items[0].name]).toEqual([1, 'redis-1']);
    }
  });

  it('of all hostnames of a mesh, where a part of the program knows them', async () => {
    expect((await rest.server.inject({ url: '/meshes/default/hostnames' })).statusCode).toBe(404);
    const hostnames = (mesh: string, part: ParsedJson): Promise<ParsedJson> =>
      Promise.resolve({ total: 5, items: [{ hostname: `a.${mesh}`, part }] });
    const other = await restFixture({ insights: { hostnames } });
    try {
      const answer = await other.server.inject({ url: '/meshes/default/hostnames?name=a.&size=1&offset=3' });
      const part = { containing: 'a.', size: 1, offset: 3 };
      expect(answer.json()).toMatchObject({ total: 5, items: [{ hostname: 'a.default', part }] });
      expect(answer.json().next).toContain('offset=4');
    } finally {
      await other.close();
    }
  });

  it('of the claims on a hostname', async () => {
    const ask = async (payload: object | string): Promise<[number, ParsedJson]> => {
      const answer = await rest.server.inject({ method: 'POST', url: '/_explain/hostname', payload });
      return [answer.statusCode, answer.json()];
    };
    expect(await ask({ hostname: 'a.mesh' })).toEqual([200, { asked: { hostname: 'a.mesh', mesh: 'default' } }]);
    const [status, problem] = await ask({ hostname: 1, mesh: 2, extra: 3 });
    expect([status, problem.invalid_parameters.map((violation: ParsedJson) => violation.field)]).toEqual([
      422,
      ['hostname', 'mesh', 'extra'],
    ]);
    expect((await ask({ hostname: 'a', mesh: 'none' }))[0]).toBe(404);
  });
});
