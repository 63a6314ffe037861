import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { runAsAdmin, type Ran } from './run-causeway';

const SERVICE = `type: MeshService
name: redis
labels: {team: db}
spec: {selector: {dataplaneTags: {app: redis}}, ports: [{port: 6379}]}
`;
const GENERATOR = `type: HostnameGenerator
name: own
spec: {selector: {meshService: {matchLabels: {team: db}}}, template: '{{ name }}.own.mesh'}
`;
const OTHER = `type: Mesh
name: other
spec: {}
`;

describe('causeway without --mesh, where the control plane expects another mesh than `default`', () => {
  let database: TestDatabase;
  let zone: ProcessPlane;

  beforeAll(async () => {
    database = await createTestDatabase();
    zone = await ProcessPlane.start('zone', 'east', { DATABASE_URL: database.url, CAUSEWAY_MESH_NAME: 'main' });
  });
  afterAll(async () => {
    await zone.stop();
    await database.drop();
  });

  it.each(['REST', 'gRPC'])(
    'T000-14 applies, waits for, shows, lists, explains, relabels and deletes in that mesh, over %s',
    async (api) => {
      const causeway = (args: readonly string[], stdin?: string): Promise<Ran> =>
        runAsAdmin(api === 'REST' ? zone.restUrl : zone.grpcUrl, args, stdin);
      expect(await causeway(['apply', '-f', '-'], [OTHER, GENERATOR, SERVICE].join('---\n'))).toMatchObject({
        code: 0,
      });
      const inOther = SERVICE.replace('name: redis', 'mesh: other\nname: web');
      expect(await causeway(['apply', '-f', '-'], inOther)).toMatchObject({ code: 0, err: '' });
      expect(await causeway(['wait', 'msvc/redis', '--for=create'])).toMatchObject({ code: 0, err: '' });
      const one = JSON.parse((await causeway(['get', 'msvc/redis', '-o', 'json'])).out);
      expect(one).toMatchObject({ mesh: 'main', name: 'redis' });
      expect((await causeway(['get', 'msvc', '-o', 'name'])).out).toBe('meshservice/redis\n');
      expect((await causeway(['get', 'msvc', '-A', '-o', 'name'])).out).toBe('meshservice/redis\nmeshservice/web\n');
      expect((await causeway(['get', 'msvc', '-m', 'other', '-o', 'name'])).out).toBe('meshservice/web\n');
      const explained = await causeway(['explain', 'redis.own.mesh', '-o', 'json']);
      expect(JSON.parse(explained.out)).toMatchObject({ mesh: 'main', winner: { service: { name: 'redis' } } });
      expect(await causeway(['label', 'msvc/redis', 'tier=cache'])).toMatchObject({ code: 0, err: '' });
      expect((await causeway(['diff', '-f', '-'], SERVICE)).out).toMatch(/MeshService redis/);
      expect((await causeway(['delete', 'msvc/redis'])).out).toBe('MeshService redis deleted\n');
      await causeway(['delete', 'msvc/web', '-m', 'other']);
      expect((await causeway(['get', 'msvc', '-A', '-o', 'name'])).out).toBe('');
    },
  );

  it('lists hostnames, says rights and completes names of that mesh', async () => {
    const causeway = (args: readonly string[], stdin?: string): Promise<Ran> => runAsAdmin(zone.restUrl, args, stdin);
    await causeway(['apply', '-f', '-'], [GENERATOR, SERVICE].join('---\n'));
    await causeway(['wait', 'msvc/redis', '--for=condition=HostnameAvailable', '--timeout=1s']);
    expect((await causeway(['hostnames', 'own.mesh'])).out).toMatch(/redis\.own\.mesh +Available/);
    expect((await causeway(['hostnames', '--hosts'])).out).toMatch(
      / mesh main in zone east\n241[.\d]+\tredis\.own\.mesh/,
    );
    expect(await causeway(['hostnames', '--hosts', 'text'])).toMatchObject({ code: 2, out: '' });
    expect(await causeway(['auth', 'can-i', 'get', 'msvc', 'redis'])).toMatchObject({ code: 0, err: '' });
    expect((await causeway(['__complete', 'fish', '--', 'get', 'msvc', ''])).out).toContain('redis');
    expect(await zone.get('/_resources')).toMatchObject({ defaultMesh: 'main' });
  });
});
