import type { JsonObject } from '@causeway/resources';
import { MeshApi } from './mesh-api';

const READ_ONLY = 'is read-only: the mesh is the one whose namespaceSelector selects the namespace; leave it out';
const APP_MESH = 'appmesh.k8s.aws/v1beta2';

type Kind = 'VirtualNode' | 'VirtualRouter' | 'VirtualService';
const PORT: JsonObject = { portMapping: { port: 9080, protocol: 'http' } };
const SPECS: Readonly<Record<Kind, JsonObject>> = {
  VirtualNode: { podSelector: { matchLabels: { app: 'a' } }, listeners: [PORT] },
  VirtualRouter: { listeners: [PORT] },
  VirtualService: { provider: { virtualRouter: { virtualRouterRef: { name: 'svc-a-router' } } } },
};
const KINDS: readonly Kind[] = ['VirtualNode', 'VirtualRouter', 'VirtualService'];

const mesh = (name: string, team?: string): JsonObject => ({
  type: 'Mesh',
  name,
  spec: team === undefined ? {} : { namespaceSelector: { matchLabels: { mesh: team } } },
});
const namespace = (name: string, team: string): JsonObject => ({ type: 'Namespace', name, labels: { mesh: team } });
const resource = (type: Kind, namespace: string, name: string, spec: JsonObject = {}): JsonObject => ({
  type,
  namespace,
  name,
  spec: { ...SPECS[type], ...spec },
});

describe('the kinds of App Mesh over REST', () => {
  let api: MeshApi;
  beforeEach(async () => {
    api = await MeshApi.open();
    await api.apply([
      mesh('m', 'm'),
      mesh('n', 'n'),
      namespace('shop', 'm'),
      namespace('pay', 'm'),
      namespace('far', 'n'),
    ]);
  });
  afterEach(() => api.close());

  /** `created`, or the status and why. */
  async function apply(...documents: readonly JsonObject[]): Promise<readonly string[]> {
    const lines = (await api.apply(documents)).slice(0, documents.length);
    return lines.map(({ outcome, status, detail, invalid_parameters: violations }) => {
      if (outcome !== 'refused') return String(outcome);
      const [first] = violations ?? [];
      return `${status} ${first ? `${first.field} ${first.reason}` : detail}`;
    });
  }
  const place = (kind: Kind, of: string, name: string, meshName = 'm'): string =>
    `/meshes/${meshName}/${kind.toLowerCase()}s/${name}?namespace=${of}`;
  const put = (kind: Kind, name: string, spec: JsonObject = {}) =>
    api.ask('PUT', place(kind, 'shop', name), resource(kind, 'shop', name, spec));

  it.each(KINDS)('T003-01 T003-21 %s is stored, read, listed, changed and deleted, in both forms', async (kind) => {
    expect(await apply(resource(kind, 'shop', 'a'))).toEqual(['created']);
    const read = (await api.ask('GET', place(kind, 'shop', 'a'))).body;
    expect(read).toMatchObject({ mesh: 'm', spec: SPECS[kind], status: { meshRef: { name: 'm' } } });
    expect((await api.ask('PUT', place(kind, 'shop', 'a'), { ...read, labels: { b: 'c' } })).status).toBe(200);
    const manifest = (await api.ask('GET', `${place(kind, 'shop', 'a')}&format=k8s`)).body;
    expect(manifest).toMatchObject({ apiVersion: APP_MESH, kind, metadata: { namespace: 'shop', name: 'a' } });
    const older = { apiVersion: 'appmesh.k8s.aws/v1beta1', kind, metadata: { namespace: 'pay', name: 'b' } };
    expect(await apply({ ...older, spec: SPECS[kind] })).toEqual(['created']);
    expect((await api.ask('GET', `/meshes/m/${kind.toLowerCase()}s`)).body.total).toBe(2);
    expect((await api.ask('DELETE', place(kind, 'shop', 'a'))).status).toBe(200);
    expect((await api.ask('GET', place(kind, 'shop', 'a'))).status).toBe(404);
  });

  it('T003-03 T003-05 T003-06 T003-07 shows the name at App Mesh and stores what was given', async () => {
    await apply(...KINDS.map((kind) => resource(kind, 'shop', 'svc-a')));
    const names = await Promise.all(
      KINDS.map(async (kind) => (await api.ask('GET', place(kind, 'shop', 'svc-a'))).body),
    );
    expect(names.map(({ status }) => status.awsName)).toEqual(['svc-a_shop', 'svc-a_shop', 'svc-a.shop']);
    expect(names.map(({ spec }) => spec)).toEqual(KINDS.map((kind) => SPECS[kind]));
  });

  it('T003-08 an awsName is one resource of its mesh and kind: refused with the holder, in a batch too, until it goes', async () => {
    await put('VirtualService', 'a', { awsName: 'x.y' });
    const held = (name: string): string =>
      `awsName "${name}" is that of VirtualService shop/a in mesh m; give one of them another awsName`;
    expect(await put('VirtualService', 'b', { awsName: 'x.y' })).toMatchObject({
      status: 409,
      body: { detail: held('x.y') },
    });
    // Derived of one, given to the other: `a.b` of b/a.
    expect(await apply(namespace('y', 'm'), resource('VirtualService', 'y', 'x'))).toEqual([
      'created',
      `409 ${held('x.y')}`,
    ]);
    expect(
      await apply(
        resource('VirtualNode', 'shop', 'a', { awsName: 'x.y' }),
        resource('VirtualService', 'far', 'a', { awsName: 'x.y' }),
        resource('VirtualService', 'pay', 'one', { awsName: 'z' }),
        resource('VirtualService', 'pay', 'two', { awsName: 'z' }),
      ),
    ).toEqual(['created', 'created', 'created', expect.stringContaining('VirtualService pay/one')]);
    expect((await put('VirtualService', 'a', { awsName: 'x.y' })).status).toBe(200);
    expect((await api.ask('DELETE', place('VirtualService', 'shop', 'a'))).status).toBe(200);
    expect((await put('VirtualService', 'b', { awsName: 'x.y' })).status).toBe(201);
  });

  it.each(KINDS)('T003-09 the awsName of a %s stays, and set later it is what was derived', async (kind) => {
    const derived = kind === 'VirtualService' ? 'a.shop' : 'a_shop';
    await put(kind, 'a');
    const frozen = { field: 'spec.awsName' };
    const refused = await put(kind, 'a', { awsName: 'other' });
    expect(refused).toMatchObject({ status: 422, body: { invalid_parameters: [frozen] } });
    expect(refused.body.invalid_parameters[0].reason).toContain('update may not change these fields: spec.awsName');
    expect((await put(kind, 'a', { awsName: derived })).status).toBe(200);
    expect((await put(kind, 'a')).status).toBe(200);
  });

  it.each(KINDS)('T003-25 the mesh of a %s is no choice: not in the body, and never another', async (kind) => {
    for (const body of [
      { ...resource(kind, 'shop', 'a'), mesh: 'm' },
      {
        apiVersion: APP_MESH,
        kind,
        spec: SPECS[kind],
        metadata: { name: 'a', namespace: 'shop', labels: { 'kuma.io/mesh': 'm' } },
      },
    ])
      expect(await apply(body)).toEqual([`422 mesh ${READ_ONLY}`]);
    expect(await apply(resource(kind, 'shop', 'a', { meshRef: { name: 'm' } }))).toEqual([
      `422 spec.meshRef ${READ_ONLY}`,
    ]);
    const wrong = await api.ask('PUT', place(kind, 'shop', 'a', 'n'), resource(kind, 'shop', 'a'));
    expect(wrong.body.invalid_parameters[0].reason).toContain('belongs to mesh "m" by its namespaceSelector');
    expect(await apply(resource(kind, 'shop', 'a'), namespace('shop', 'n'), resource(kind, 'shop', 'b'))).toEqual([
      'created',
      'updated',
      'created',
    ]);
    expect((await api.ask('GET', place(kind, 'shop', 'a'))).body.status.meshRef).toEqual({ name: 'm' });
    expect((await api.ask('GET', place(kind, 'shop', 'b', 'n'))).body.status.meshRef).toEqual({ name: 'n' });
    expect(await apply(resource(kind, 'shop', 'a'))).toEqual(['unchanged']);
  });

  it('T003-24 T003-23 a namespace of no mesh, or of two, takes none of them', async () => {
    const found = (count: string): string =>
      `422 mesh found multiple matching meshes for namespace: shop, expecting 1 but found ${count}`;
    for (const kind of KINDS)
      expect(await apply(resource(kind, 'elsewhere', 'a'))).toEqual([
        '422 mesh failed to find matching mesh for namespace: elsewhere, expecting 1 but found 0',
      ]);
    await apply(mesh('o', 'm'));
    expect(await apply(resource('VirtualNode', 'shop', 'a'))).toEqual([found('2: m,o')]);
  });

  it('T003-27 T003-28 a mesh with nodes and services stays, with their counts, takes no more while it ends, and goes when it is empty', async () => {
    await apply(
      ...['a', 'b'].map((name) => resource('VirtualNode', 'shop', name)),
      resource('VirtualService', 'shop', 'a'),
    );
    const inUse =
      'objects belong to this mesh exists, please delete them to proceed. VirtualNode: 2, VirtualService: 1';
    expect(await api.ask('DELETE', '/meshes/m')).toMatchObject({ status: 409, body: { detail: inUse } });
    expect((await api.ask('DELETE', '/meshes/m?terminate=true')).status).toBe(409);
    const late = await put('VirtualNode', 'c');
    expect(late.body.invalid_parameters[0].reason).toBe(
      'unable to create new content in mesh m because it is being terminated',
    );
    for (const name of ['a', 'b']) await api.ask('DELETE', place('VirtualNode', 'shop', name));
    await api.ask('DELETE', place('VirtualService', 'shop', 'a'));
    expect((await api.ask('DELETE', '/meshes/m')).status).toBe(200);
  });

  it('T003-26 the same documents go into meshes of other names', async () => {
    await using other = Object.assign(await MeshApi.open(), {
      [Symbol.asyncDispose]: (): Promise<void> => other.close(),
    });
    const documents = [namespace('shop', 'm'), ...KINDS.map((kind) => resource(kind, 'shop', 'a'))];
    await other.apply([mesh('another', 'm'), ...documents]);
    await api.apply(documents);
    expect((await api.ask('GET', place('VirtualNode', 'shop', 'a'))).status).toBe(200);
    expect((await other.ask('GET', place('VirtualNode', 'shop', 'a', 'another'))).status).toBe(200);
  });

  it('T003-11 T003-38 the text of a reference is stored as it is, and nothing is read out of it', async () => {
    const provider = { virtualNode: { virtualNodeRef: { name: 'colorteller.appmesh-demo' } } };
    expect((await put('VirtualService', 'a', { provider })).status).toBe(201);
    expect((await api.ask('GET', place('VirtualService', 'shop', 'a'))).body.spec.provider).toEqual(provider);
    const refused = await put('VirtualService', 'b', { hosts: ['a'] });
    expect(refused.body.invalid_parameters).toMatchObject([{ field: 'spec.hosts' }]);
  });
});
