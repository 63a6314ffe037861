import { FollowedRoutes } from '@causeway/meshes';
import { findCondition, type ControlPlane, type Identity, type JsonObject } from '@causeway/resources';
import { type Change } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { EAST, idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import { createZoneReconcilers } from '../zone-reconcilers';
import { createAppMeshLoops } from './app-mesh-reconciler';

const GLOBAL = { zone: '' } as const;
const generator = (name: string, zone: string, labels: JsonObject, template: string) =>
  put(
    { kind: 'HostnameGenerator', mesh: '', zone, namespace: '', name },
    {
      selector: { meshService: { matchLabels: labels } },
      template,
    },
  );
/** The generators that a zone has from its start, and the global's for the services of other zones. */
const GENERATORS = [
  generator(
    'local-virtual-service',
    'east',
    { 'kuma.io/origin': 'zone', 'causeway.io/managed-by': 'VirtualService' },
    '{{ label "appmesh.k8s.aws/aws-name" }}',
  ),
  generator(
    'synced-universal-mesh-service',
    '',
    { 'kuma.io/origin': 'global' },
    '{{ .DisplayName }}.svc.{{ .Zone }}.mesh.local',
  ),
];
const service = (name: string, awsName?: string, place: Partial<Identity> = {}) =>
  put(idOf('VirtualService', name, place), awsName === undefined ? {} : { awsName });
const naming = (suffixes: readonly string[], place: Partial<Identity> = GLOBAL) =>
  put(idOf('MeshNaming', 'names', { namespace: '', ...place }), { suffixes: [...suffixes] });
const remote = put(
  idOf('MeshService', 'redis', { zone: 'west' }),
  { ports: [{ port: 80, targetPort: 80, appProtocol: 'tcp' }], state: 'Available' },
  { 'kuma.io/origin': 'global', 'kuma.io/zone': 'west' },
);

describe('names at App Mesh are under the suffixes that an operator sets', () => {
  let harness: LoopHarness;
  let replica: Replica;
  const ends: (() => void)[] = [];

  const lead = async (cp: ControlPlane = EAST): Promise<void> => {
    replica = harness.replica();
    await replica.caughtUp();
    const { index } = replica;
    const routes = new FollowedRoutes({ index, meshes: meshesOf(index), zone: 'east', run: fillAtOnce });
    const term = new AbortController();
    ends.push(() => {
      term.abort();
      routes.close();
    });
    const meshes = meshesOf(index);
    const zone =
      cp.role === 'zone' ? createZoneReconcilers({ cp, ranges: { MeshService: '241.0.0.0/24' }, meshes }) : [];
    await replica.lead([...zone, ...createAppMeshLoops({ cp, routes }, term)]);
    await replica.settle();
  };
  const apply = async (...changes: readonly Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const hostnames = async (name: string, zone = 'east'): Promise<readonly string[]> => {
    const addresses = (await harness.get(idOf('MeshService', name, { zone })))?.status?.['addresses'];
    return (Array.isArray(addresses) ? addresses : []).map(
      ({ hostname, status, reason }) => `${hostname ?? '-'} ${status}${status === 'Available' ? '' : `: ${reason}`}`,
    );
  };
  const notNamed = async (name: string): Promise<JsonObject | undefined> =>
    findCondition((await harness.get(idOf('VirtualService', name)))?.status, 'causeway.io/NotNamed');

  beforeEach(async () => {
    harness = new LoopHarness();
    await harness.write(put({ kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' }, {}), ...GENERATORS);
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await harness.stop();
  });

  it('none is set at first: no service takes a name, and each says so', async () => {
    await lead();
    await apply(remote, service('a', 'login.example.com'), service('b', 'redis.svc.west.mesh.local'), service('c'));
    expect(await hostnames('vs-a')).toEqual(['- NotAvailable: label "appmesh.k8s.aws/aws-name" is missing']);
    expect(await hostnames('redis', 'west')).toEqual(['redis.svc.west.mesh.local Available']);
    expect(await notNamed('a')).toMatchObject({
      status: 'True',
      reason: 'OutsideSuffixes',
      message:
        'awsName "login.example.com" is no hostname: it lies under no suffix of mesh default; a mesh operator adds one in a MeshNaming',
    });
    expect(await notNamed('c')).toMatchObject({ reason: 'OutsideSuffixes' });
  });

  it('a name that another generator gives is never taken, of whatever rank, and the loser names winner and rule', async () => {
    await lead();
    await apply(naming(['mesh.local', 'svc.west.mesh.local']), service('b', 'redis.svc.west.mesh.local'));
    expect(await hostnames('vs-b')).toEqual(['redis.svc.west.mesh.local Available']);
    await apply(remote);
    const clash =
      'clash with MeshService west/default/redis: names by awsName (HostnameGenerator "local-virtual-service") give way to those of every other generator ("synced-universal-mesh-service")';
    expect(await hostnames('redis', 'west')).toEqual(['redis.svc.west.mesh.local Available']);
    expect(await hostnames('vs-b')).toEqual([`redis.svc.west.mesh.local NotAvailable: ${clash}`]);
    expect(await notNamed('b')).toMatchObject({
      reason: 'Lost',
      message: `awsName "redis.svc.west.mesh.local" is no hostname in zone east: ${clash}`,
    });
    await apply(remove(idOf('MeshService', 'redis', { zone: 'west' })));
    expect(await notNamed('b')).toBeUndefined();
  });

  it('names come and go with the suffixes, and a second leader writes nothing', async () => {
    await lead();
    await apply(service('color', 'color.colors.svc.cluster.local'), service('c'), naming(['colors.svc.cluster.local']));
    expect([await hostnames('vs-color'), await notNamed('color')]).toEqual([
      ['color.colors.svc.cluster.local Available'],
      undefined,
    ]);
    // A suffix of one label names the namespace of that name alone.
    await apply(naming(['colors.svc.cluster.local', 'default', 'com']), service('d', 'login.com'));
    expect([await hostnames('vs-c'), (await notNamed('d'))?.['reason']]).toEqual([
      ['c.default Available'],
      'OutsideSuffixes',
    ]);
    const { revision } = harness;
    await lead();
    expect(harness.revision).toBe(revision);
    await apply(naming([]));
    expect((await notNamed('color'))?.['reason']).toBe('OutsideSuffixes');
  });

  it("a zone counts its own and those of the global, and no other zone's", async () => {
    await lead();
    await apply(service('a', 'a.one.example'), service('b', 'b.two.example'), service('c', 'c.three.example'));
    await apply(
      naming(['one.example']),
      naming(['two.example'], { zone: 'east' }),
      naming(['three.example'], { zone: 'west' }),
    );
    expect([await notNamed('a'), await notNamed('b'), (await notNamed('c'))?.['reason']]).toEqual([
      undefined,
      undefined,
      'OutsideSuffixes',
    ]);
  });

  describe('at the upgrade', () => {
    const frontend = (name: string, awsName: string, zone = 'east') => [
      put(
        idOf('MeshService', `vs-${name}`, { zone }),
        { ports: [], export: { mode: 'None' } },
        {
          'appmesh.k8s.aws/aws-name': awsName,
          'causeway.io/managed-by': 'VirtualService',
          'causeway.io/managed-by-name': name,
          'kuma.io/display-name': `vs-${name}`,
          'kuma.io/zone': zone,
          'kuma.io/origin': 'zone',
          'kuma.io/mesh': 'default',
        },
      ),
    ];
    const stood = (name: string, awsName: string) => [service(name, awsName), ...frontend(name, awsName)];
    const kept = async (zone: string) => {
      const found = await harness.get(idOf('MeshNaming', 'kept-at-upgrade', { zone, namespace: '' }));
      return found?.spec['suffixes'];
    };

    it('the names that stand keep their suffixes, but those that another generator gives; once, and nothing is taken meanwhile', async () => {
      await harness.write(
        remote,
        ...stood('color', 'color.colors.svc.cluster.local'),
        ...stood('c', 'c.default'),
        ...stood('login', 'login.example.com'),
        ...stood('redis', 'redis.svc.west.mesh.local'),
        ...stood('uk', 'shop.co.uk'),
      );
      await lead();
      expect(await kept('east')).toEqual(['colors.svc.cluster.local', 'default', 'example.com', 'shop.co.uk']);
      expect(await hostnames('vs-color')).toEqual(['color.colors.svc.cluster.local Available']);
      const changes = harness.disk.revision;
      expect((await harness.get(idOf('MeshService', 'vs-color')))?.generation).toBe(1);
      expect((await notNamed('redis'))?.['reason']).toBe('OutsideSuffixes');
      await lead();
      expect(harness.disk.revision).toBe(changes);
      // Names that the operator removed stay removed, and a name that is made later keeps nothing.
      await apply(remove(idOf('MeshNaming', 'kept-at-upgrade', { namespace: '' })));
      await lead();
      expect([await kept('east'), (await notNamed('color'))?.['reason']]).toEqual([undefined, 'OutsideSuffixes']);
    });

    it('a zone hands over to its global, which keeps what stands in its zones', async () => {
      await harness.write(...stood('color', 'color.colors.svc.cluster.local'));
      await lead();
      expect(await kept('east')).toEqual(['colors.svc.cluster.local']);
      await apply(naming(['colors.svc.cluster.local']));
      expect(await kept('east')).toBeUndefined();
      expect(await hostnames('vs-color')).toEqual(['color.colors.svc.cluster.local Available']);
    });

    it('the global keeps the names of its zones', async () => {
      await harness.write(...stood('color', 'color.colors.svc.cluster.local'), ...frontend('d', 'd.west', 'west'));
      await lead({ role: 'global' });
      expect(await kept('')).toEqual(['colors.svc.cluster.local', 'd.west']);
    });
  });
});
