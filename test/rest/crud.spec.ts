import { restFixture, serviceId, type RestFixture } from './rest-fixture';

describe('one resource over REST', () => {
  let rest: RestFixture;
  beforeEach(async () => void (rest = await restFixture()));
  afterEach(() => rest.close());

  const path = '/meshes/default/meshservices/redis';
  const body = { type: 'MeshService', mesh: 'default', name: 'redis', spec: { ports: [{ port: 6379 }] } };

  it('is made with 201, read back, put again as it was read with 200, deleted', async () => {
    const made = await rest.server.inject({ method: 'PUT', url: path, payload: body });
    expect([made.statusCode, made.json()]).toEqual([201, { warnings: [expect.any(String)] }]);
    const read = await rest.server.inject({ url: path });
    expect(read.statusCode).toBe(200);
    expect(read.json()).toMatchObject({
      type: 'MeshService',
      mesh: 'default',
      namespace: 'default',
      name: 'redis',
      spec: { ports: [{ port: 6379 }] },
    });
    const again = await rest.server.inject({ method: 'PUT', url: path, payload: read.json() });
    expect(again.statusCode).toBe(200);
    expect(again.headers['etag']).toBe(read.headers['etag']);
    const gone = await rest.server.inject({ method: 'DELETE', url: path });
    expect([gone.statusCode, gone.json()]).toEqual([200, {}]);
    expect((await rest.server.inject({ url: path })).statusCode).toBe(404);
  });

  it('takes YAML', async () => {
    const payload =
      'type: MeshService\nname: redis\nspec:\n  selector: {dataplaneTags: {app: redis}}\n  ports: [{port: 6379}]\n';
    const made = await rest.server.inject({
      method: 'PUT',
      url: path,
      payload,
      headers: { 'content-type': 'application/yaml' },
    });
    expect([made.statusCode, made.json()]).toEqual([201, {}]);
  });

  it('is listed', async () => {
    await rest.seed({ id: serviceId('b') }, { id: serviceId('a') }, { id: serviceId('a', 'west') });
    for (const url of ['/meshes/default/meshservices', '/meshservices', '/meshservices/']) {
      const list = (await rest.server.inject({ url })).json();
      expect([list.total, list.next, list.items.map((item: { name: string }) => item.name)]).toEqual([
        3,
        null,
        ['a', 'a', 'b'],
      ]);
    }
  });

  it.each([
    ['GET', '/nothings', 404],
    ['GET', '/meshes/none/meshservices', 404],
    ['POST', '/meshes/default/meshservices', 405],
    ['PUT', '/meshes/default', 400],
    ['PUT', '/meshes/default/meshservices/redis', 400],
    ['DELETE', path, 404],
    ['GET', '/meshservices?sise=3', 400],
    ['GET', '/meshes/%ff', 400],
    ['DELETE', '/meshes/default', 403],
  ] as const)('%s %s is %i', async (method, url, status) => {
    const answer = await rest.server.inject({ method, url });
    expect([answer.statusCode, answer.json().status]).toEqual([status, status]);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  });
});
