import { globalIdentity, type JsonObject } from '@causeway/resources';
import { MeshApi } from './mesh-api';

const OURS = 'causeway.io/control-plane';
const XMESH = 'gateway.networking.x-k8s.io/v1alpha1';
const PENDING = {
  type: 'Accepted',
  status: 'Unknown',
  reason: 'Pending',
  message: 'Waiting for controller',
  lastTransitionTime: '1970-01-01T00:00:00Z',
};
const FROZEN = 'update may not change these fields: spec.awsName';

const k8s = (kind: string, name: string, spec: JsonObject, apiVersion = XMESH): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name },
  spec,
});

describe('a Mesh and its alias XMesh over REST', () => {
  let api: MeshApi;
  beforeEach(async () => void (api = await MeshApi.open()));
  afterEach(() => api.close());

  const put = (name: string, spec: JsonObject) => api.ask('PUT', `/meshes/${name}`, { type: 'Mesh', name, spec });
  const specOf = async (name: string) => (await api.store.get(globalIdentity('Mesh', name)))?.spec;

  it('T000-01 has no namespace, in no form, and one name is one Mesh', async () => {
    const document = { type: 'Mesh', name: 'a', namespace: 'x', spec: {} };
    expect(await api.ask('PUT', '/meshes/a', document)).toMatchObject({
      status: 422,
      body: { invalid_parameters: [{ field: 'namespace', reason: 'Mesh has no namespaces; leave it out' }] },
    });
    const manifest = { ...k8s('XMesh', 'a', { controllerName: 'x.io/y' }), metadata: { name: 'a', namespace: 'x' } };
    expect(await api.ask('PUT', '/xmeshes/a', manifest)).toMatchObject({
      status: 422,
      body: { invalid_parameters: [{ field: 'metadata.namespace' }] },
    });
    expect((await put('a', {})).status).toBe(201);
    expect((await api.ask('PUT', '/xmeshes/a', k8s('XMesh', 'a', { controllerName: OURS }))).status).toBe(200);
    expect((await api.ask('GET', '/meshes')).body.total).toBe(1);
  });

  it('T000-02 an XMesh is a Mesh under another name: one uid, written and deleted under either', async () => {
    expect((await api.ask('PUT', '/xmeshes/a', k8s('XMesh', 'a', { controllerName: 'x.io/y' }))).status).toBe(201);
    const mesh = (await api.ask('GET', '/meshes/a')).body;
    expect(mesh).toMatchObject({ type: 'Mesh', name: 'a', spec: { controllerName: 'x.io/y' } });
    const xmesh = (await api.ask('GET', '/xmeshes/a?format=k8s')).body;
    expect(xmesh).toMatchObject({ apiVersion: XMESH, kind: 'XMesh', metadata: { name: 'a', uid: mesh.uid } });
    expect((await api.ask('GET', '/meshes/a?format=k8s')).body).toMatchObject({ kind: 'Mesh', spec: mesh.spec });
    const { items, total } = (await api.ask('GET', '/xmeshes?format=k8s')).body;
    expect([total, items]).toEqual([1, [xmesh]]);
    expect((await api.ask('GET', '/xmeshes')).body.items).toEqual([mesh]);

    expect((await api.ask('PUT', '/xmeshes/a', xmesh)).status).toBe(200);
    expect((await api.ask('PUT', '/xmeshes/a', { ...mesh, spec: { ...mesh.spec, description: 'b' } })).status).toBe(
      200,
    );
    expect((await api.ask('PATCH', '/xmeshes/a', { spec: { description: 'c' } })).status).toBe(200);
    expect(await specOf('a')).toEqual({ controllerName: 'x.io/y', description: 'c' });
    const [applied] = await api.apply([k8s('XMesh', 'b', { controllerName: OURS })]);
    expect(applied).toMatchObject({ type: 'Mesh', name: 'b', outcome: 'created' });
    expect((await api.ask('DELETE', '/xmeshes/a')).status).toBe(200);
    expect((await api.ask('GET', '/meshes/a')).status).toBe(404);
    expect((await api.ask('POST', '/xmeshes/a')).status).toBe(405);
    expect((await api.ask('GET', '/xmesh/a')).status).toBe(404);
  });

  it('T000-02 a Mesh of App Mesh, of Kuma and of the Gateway API is the same kind', async () => {
    const manifests = ['appmesh.k8s.aws/v1beta2', 'kuma.io/v1alpha1', 'gateway.networking.k8s.io/v1alpha1'];
    for (const [i, apiVersion] of manifests.entries())
      expect((await api.ask('PUT', `/meshes/m${i}`, k8s('Mesh', `m${i}`, {}, apiVersion))).status).toBe(201);
    expect((await api.ask('GET', '/meshes')).body.total).toBe(3);
  });

  it('T000-06 a Mesh without a controller gets ours when it is made, an XMesh must name one', async () => {
    expect((await put('a', {})).status).toBe(201);
    expect(await specOf('a')).toEqual({ controllerName: OURS });
    expect((await put('a', { description: 'x' })).status).toBe(200);
    expect(await specOf('a')).toEqual({ controllerName: OURS, description: 'x' });
    const [made, refused] = await api.apply([
      { type: 'Mesh', name: 'b' },
      { type: 'XMesh', name: 'c', spec: {} },
    ]);
    expect(made).toMatchObject({ outcome: 'created' });
    expect(refused).toMatchObject({
      invalid_parameters: [{ field: 'spec.controllerName', reason: 'is required of kind XMesh' }],
    });
    expect(await specOf('b')).toEqual({ controllerName: OURS });
  });

  it('T000-05 the controller that is filled in is the configured one', async () => {
    const theirs = await MeshApi.open({ controllerName: 'mesh.example/cp', expectedName: 'default' });
    const answer = await theirs.ask('PUT', '/meshes/a', { type: 'Mesh', name: 'a', spec: {} });
    const stored = await theirs.store.get(globalIdentity('Mesh', 'a'));
    await theirs.close();
    expect([answer.status, stored?.spec]).toEqual([201, { controllerName: 'mesh.example/cp' }]);
  });

  it('T000-26 the controller cannot be changed, also not by leaving the one of somebody else out', async () => {
    await put('a', { controllerName: 'x.io/y' });
    for (const spec of [{ controllerName: OURS }, {}])
      expect(await put('a', spec)).toMatchObject({
        status: 422,
        body: {
          invalid_parameters: [{ field: 'spec.controllerName', reason: expect.stringMatching('cannot be changed') }],
        },
      });
    expect((await put('a', { controllerName: 'x.io/y' })).status).toBe(200);
  });

  it('T000-25 T000-07 the status of a Mesh that nobody has looked at is Pending when read, and not stored', async () => {
    await put('a', { controllerName: 'x.io/y' });
    const { status, uid } = (await api.ask('GET', '/meshes/a')).body;
    expect(status).toEqual({ awsName: 'a', conditions: [PENDING] });
    expect((await api.ask('GET', '/meshes')).body.items).toMatchObject([{ uid, status }]);
    expect((await api.ask('GET', '/xmeshes?format=k8s')).body.items).toMatchObject([{ metadata: { uid }, status }]);
    expect((await api.store.get(globalIdentity('Mesh', 'a')))?.status).toBeUndefined();
  });

  it('T000-25 what a controller wrote stands in place of it, beside conditions of others', async () => {
    await put('a', {});
    const id = globalIdentity('Mesh', 'a');
    const write = async (status: JsonObject): Promise<void> =>
      void (await api.store.write({ changes: [{ type: 'patch', id, expect: 'any', status }], onRefusal: 'abort' }));
    const statusOf = async () => (await api.ask('GET', `/meshes/a?minRevision=${await api.revision()}`)).body.status;
    const other = { type: 'Held', status: 'True' };
    await write({ conditions: [other] });
    expect(await statusOf()).toEqual({ awsName: 'a', conditions: [PENDING, other] });
    const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted' };
    await write({ conditions: [accepted, other], supportedFeatures: [] });
    expect(await statusOf()).toEqual({ awsName: 'a', conditions: [accepted, other], supportedFeatures: [] });
  });

  it('T003-04 awsName is the name unless it is set, derived when read and never stored', async () => {
    await put('global', {});
    await put('other', { awsName: 'my-cluster-mesh' });
    const read = async (name: string) => (await api.ask('GET', `/meshes/${name}`)).body;
    expect((await read('global')).status.awsName).toBe('global');
    expect((await read('other')).status.awsName).toBe('my-cluster-mesh');
    expect([await specOf('global'), (await read('global')).spec]).toEqual([
      { controllerName: OURS },
      { controllerName: OURS },
    ]);
  });

  it.each([
    ['changed', { awsName: 'a' }, { awsName: 'b' }, 422],
    ['taken away', { awsName: 'a' }, {}, 422],
    ['kept', { awsName: 'a' }, { awsName: 'a', description: 'x' }, 200],
    ['set later to another name', {}, { awsName: 'a' }, 422],
    ['set later to the derived name', {}, { awsName: 'm' }, 200],
    ['taken away where it is the derived name', { awsName: 'm' }, {}, 200],
  ])('T003-09 awsName %s: %j then %j is %d', async (_, spec, then, status) => {
    await put('m', spec);
    const answer = await put('m', then);
    expect(answer.status).toBe(status);
    if (status === 422)
      expect(answer.body.invalid_parameters).toMatchObject([
        { field: 'spec.awsName', reason: expect.stringMatching(`^${FROZEN};`) },
      ]);
    else expect(await specOf('m')).toEqual({ controllerName: OURS, ...then });
  });

  it.each([
    ['T003-03', 1, 201],
    ['T003-03', 255, 201],
    ['T003-03', 256, 422],
    ['T003-03', 0, 422],
  ])('%s an awsName of %d characters: %d', async (_, length, status) => {
    expect((await put('a', { awsName: 'é'.repeat(length) })).status).toBe(status);
  });
});
