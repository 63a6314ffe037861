import type { JsonObject } from '@causeway/resources';
import { MeshApi } from './mesh-api';

const service = (name: string, awsName: string): JsonObject => ({
  type: 'VirtualService',
  namespace: 'shop',
  name,
  spec: { awsName, provider: {} },
});

describe('what the writer of a VirtualService is told of its name', () => {
  let api: MeshApi;
  beforeAll(async () => {
    api = await MeshApi.open();
    const spec = { namespaceSelector: { matchLabels: { mesh: 'm' } } };
    const template = '{{ .DisplayName }}.extsvc.mesh.local';
    await api.apply([
      { type: 'Mesh', name: 'm', spec },
      { type: 'Namespace', name: 'shop', labels: { mesh: 'm' } },
      { type: 'MeshExternalService', mesh: 'm', name: 'redis', spec: { match: { port: 80 } } },
      { type: 'HostnameGenerator', name: 'given', spec: { selector: { meshExternalService: {} }, template } },
    ]);
  });
  afterAll(() => api.close());

  const put = async (name: string, awsName: string): Promise<readonly string[]> => {
    const { status, body } = await api.ask(
      'PUT',
      `/meshes/m/virtualservices/${name}?namespace=shop`,
      service(name, awsName),
    );
    expect([200, 201]).toContain(status);
    const warnings: readonly string[] = body.warnings ?? [];
    return warnings.filter((one) => one.includes('awsName'));
  };
  const outside = (awsName: string): readonly string[] => [
    `awsName "${awsName}" becomes no hostname: it lies under no suffix of mesh m; a mesh operator adds one in a MeshNaming`,
  ];

  it('that it lies under no suffix, at the PUT and in a batch, until an operator sets one', async () => {
    expect(await put('login', 'login.example.com')).toEqual(outside('login.example.com'));
    const [line] = await api.apply([service('b', 'b.example.com')]);
    expect(line?.warnings).toEqual(expect.arrayContaining(outside('b.example.com')));
    const naming = { type: 'MeshNaming', mesh: 'm', name: 'names', spec: { suffixes: ['example.com', 'mesh.local'] } };
    const [, second] = await api.apply([naming, service('c', 'c.example.com')]);
    expect((second?.warnings ?? []).filter((one: string) => one.includes('awsName'))).toEqual([]);
    expect(await put('login', 'login.example.com')).toEqual([]);
  });

  it('that another generator gives it, with the winner and the rule', async () => {
    expect(await put('redis', 'redis.extsvc.mesh.local')).toEqual([
      'awsName "redis.extsvc.mesh.local" becomes no hostname: clash with MeshExternalService redis: names by awsName give way to those of every other generator ("given")',
    ]);
  });

  it('nobody sets the label by which a service has such a name', async () => {
    const { status, body } = await api.ask('PUT', '/meshes/m/meshexternalservices/a', {
      type: 'MeshExternalService',
      mesh: 'm',
      name: 'a',
      labels: { 'appmesh.k8s.aws/aws-name': 'login.example.com' },
      spec: { match: { port: 80 } },
    });
    expect([status, body.invalid_parameters[0].reason]).toEqual([422, 'is set by control planes only; leave it out']);
  });

  it.each(['co.uk', 'a..b', 'UP.example.com'])('%s is no suffix', async (suffix) => {
    const body = { type: 'MeshNaming', mesh: 'm', name: 'bad', spec: { suffixes: [suffix] } };
    expect((await api.ask('PUT', '/meshes/m/meshnamings/bad', body)).status).toBe(422);
  });
});
