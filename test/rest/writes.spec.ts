import { globalIdentity } from '@causeway/resources';
import { hashName } from '@causeway/naming/testing';
import { restFixture, serviceId, ZONE_EAST, type ParsedJson, type RestFixture } from './rest-fixture';

describe('writes', () => {
  let rest: RestFixture;
  beforeEach(async () => void (rest = await restFixture()));
  afterEach(() => rest.close());

  const path = '/meshes/default/meshservices/redis';
  const body = (port: number): object => ({ type: 'MeshService', name: 'redis', spec: { ports: [{ port }] } });
  type Method = 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  const send = async (
    method: Method,
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ): Promise<ParsedJson> => {
    const answer = await rest.server.inject({ method, url, headers, ...(payload ? { payload } : {}) });
    return {
      status: answer.statusCode,
      body: answer.json(),
      etag: answer.headers['etag'],
      revision: answer.headers['causeway-revision'],
    };
  };

  it('carry the revision that has them, and the new ETag', async () => {
    const made = await send('PUT', path, body(1));
    expect([made.status, made.revision]).toEqual([201, String(rest.index.point?.revision)]);
    expect((await send('GET', path)).etag).toBe(made.etag);
    expect((await send('PUT', path, body(2))).etag).not.toBe(made.etag);
  });

  it('that change nothing write nothing', async () => {
    const made = await send('PUT', path, body(1));
    const again = await send('PUT', path, body(1));
    expect([again.status, again.revision, again.etag]).toEqual([200, made.revision, made.etag]);
  });

  it('happen only from the state that If-Match names', async () => {
    const { etag } = await send('PUT', path, body(1));
    expect((await send('PUT', path, body(2), { 'if-match': etag })).status).toBe(200);
    for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
      expect((await send(method, path, body(3), { 'if-match': etag })).status).toBe(412);
    }
    expect((await send('DELETE', path, undefined, { 'if-match': '*' })).status).toBe(200);
  });

  it('with dryRun check everything and change nothing', async () => {
    const before = (await rest.store.head()).revision;
    expect((await send('PUT', `${path}?dryRun=true`, body(1))).status).toBe(201);
    expect((await send('PUT', `${path}?dryRun=true`, body(0))).status).toBe(422);
    await send('PUT', path, body(1));
    expect((await send('DELETE', `${path}?dryRun=true`)).status).toBe(200);
    expect((await send('PATCH', `${path}?dryRun=true`, { labels: { a: 'b' } })).status).toBe(200);
    expect((await rest.store.head()).revision).toBe(before + 1);
    expect((await send('GET', path)).body.labels.a).toBeUndefined();
  });

  it('patch parts: null removes, objects merge, the rest replaces', async () => {
    await send('PUT', path, { ...body(1), labels: { a: '1', b: '2' } });
    const patched = await send('PATCH', path, { labels: { a: null, c: '3' }, spec: { ports: [{ port: 5 }] } });
    expect(patched.status).toBe(200);
    const { labels, spec } = (await send('GET', path)).body;
    expect([labels.a, labels.b, labels.c, spec.ports[0].port]).toEqual([undefined, '2', '3', 5]);
  });

  it('of many at once on one resource never fail without reason', async () => {
    const ports = Array.from({ length: 20 }, (_, i) => i + 1);
    const answers = await Promise.all(ports.map((port) => send('PUT', path, body(port))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
  });

  it('take the Kubernetes form and the flat form', async () => {
    const k8s = {
      apiVersion: 'kuma.io/v1alpha1',
      kind: 'MeshService',
      metadata: { name: 'redis', namespace: 'default' },
      spec: {},
    };
    expect((await send('PUT', path, k8s)).status).toBe(201);
    const flat = {
      type: 'Dataplane',
      mesh: 'default',
      name: 'd',
      networking: { address: '10.0.0.1', inbound: [{ port: 1 }] },
    };
    expect((await send('PUT', '/meshes/default/dataplanes/d', flat)).status).toBe(201);
    const shown = (await send('GET', `${path}?format=kubernetes`)).body;
    expect((await send('PUT', path, shown)).status).toBe(200);
  });
});

describe('names', () => {
  let rest: RestFixture;
  beforeAll(async () => {
    rest = await restFixture({ cp: ZONE_EAST });
    const labels = { 'kuma.io/display-name': 'redis' };
    await rest.seed(
      { id: serviceId('redis'), labels: { ...labels, where: 'east' } },
      { id: serviceId('redis', 'west'), labels: { ...labels, where: 'west' } },
      { id: serviceId('lone', 'west'), labels: { 'kuma.io/display-name': 'lone', where: 'lone' } },
      {
        id: { ...serviceId('redis'), namespace: 'shop' },
        labels: { ...labels, 'k8s.kuma.io/namespace': 'shop', where: 'shop' },
      },
      { id: globalIdentity('HostnameGenerator', 'g'), labels: { where: 'global' } },
    );
  });
  afterAll(() => rest.close());

  it.each([
    ['a plain name is what was made here', 'redis', 'east'],
    ['?zone= names the copy of a zone', 'redis?zone=west', 'west'],
    ['?namespace= names another namespace', 'redis?namespace=shop', 'shop'],
    ['a wire name is found', hashName('default', 'redis', 'west'), 'west'],
    ['a wire name with a namespace is found', hashName('default', 'redis', 'east', 'shop'), 'shop'],
  ])('%s', async (_case, name, where) => {
    const answer = await rest.server.inject({ url: `/meshes/default/meshservices/${name}` });
    expect([answer.statusCode, answer.json().labels.where]).toEqual([200, where]);
  });

  it('a name that only other zones have is 404, and says which', async () => {
    const answer = await rest.server.inject({ url: '/meshes/default/meshservices/lone' });
    expect([answer.statusCode, answer.json().detail]).toEqual([404, expect.stringContaining('zone=west')]);
  });

  it('an empty ?zone= is the global', async () => {
    expect((await rest.server.inject({ url: '/hostnamegenerators/g' })).statusCode).toBe(404);
    expect((await rest.server.inject({ url: '/hostnamegenerators/g?zone=' })).json().labels.where).toBe('global');
    expect((await rest.server.inject({ url: '/meshes/default' })).statusCode).toBe(200);
  });
});

describe('the deletion of a Mesh', () => {
  let rest: RestFixture;
  beforeEach(async () => void (rest = await restFixture({ cp: { role: 'zone', zone: 'east', federated: false } })));
  afterEach(() => rest.close());

  const send = async (method: 'GET' | 'PUT' | 'DELETE', url: string, payload?: object): Promise<ParsedJson> => {
    const answer = await rest.server.inject({ method, url, ...(payload ? { payload } : {}) });
    return { status: answer.statusCode, body: answer.json() };
  };
  const redis = '/meshes/m/meshservices/redis';
  const service = { type: 'MeshService', name: 'redis', spec: { ports: [{ port: 1 }] } };

  it('T003-27 T003-28 takes the parameter terminate, under each name of the kind', async () => {
    await send('PUT', '/meshes/m', { type: 'Mesh', name: 'm' });
    expect(await send('PUT', redis, service)).toMatchObject({ status: 201 });
    const detail = 'objects belong to this mesh exists, please delete them to proceed. MeshService: 1';
    for (const query of ['', '?terminate=false', '?terminate=true&dryRun=true'])
      expect(await send('DELETE', `/meshes/m${query}`)).toMatchObject({ status: 409, body: { detail } });
    expect((await send('GET', '/meshes/m')).body.labels?.['causeway.io/terminating']).toBeUndefined();
    expect(await send('DELETE', '/xmeshes/m?terminate=true')).toMatchObject({
      status: 409,
      body: { detail: `${detail}; the mesh is being terminated and takes no new members` },
    });
    expect((await send('GET', '/meshes/m')).body.labels).toMatchObject({ 'causeway.io/terminating': 'true' });
    expect(await send('PUT', '/meshes/m/meshservices/new', { ...service, name: 'new' })).toMatchObject({
      status: 422,
      body: { invalid_parameters: [{ field: 'mesh', rule: 'MeshTerminating' }] },
    });
    expect((await send('DELETE', redis)).status).toBe(200);
    expect((await send('DELETE', '/meshes/m?terminate=true')).status).toBe(200);
    expect((await send('GET', '/meshes/m')).status).toBe(404);
  });

  it('refuses another value of terminate, and the parameter for another kind', async () => {
    await send('PUT', '/meshes/m', { type: 'Mesh', name: 'm' });
    await send('PUT', redis, service);
    expect((await send('DELETE', '/meshes/m?terminate=maybe')).status).toBe(400);
    expect((await send('DELETE', `${redis}?terminate=true`)).status).toBe(400);
    expect((await send('GET', redis)).status).toBe(200);
  });
});
