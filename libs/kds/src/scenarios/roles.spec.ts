import { AccessPolicy, type Caller } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import type { JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { meshesOf } from '../../../../test/support/meshes';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { createZoneLifecycleLoop, type ZoneLifecycleLoop } from '../global/zones/zone-lifecycle-loop';
import { withRelayedKinds } from '../session/relayed-kinds';
import type { GlobalSyncOptions } from '../global/global-sync-options';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const GENERATOR = { selector: { meshService: { matchLabels: {} } }, template: '{{ .DisplayName }}.own.mesh' };
const anna: Caller = { user: 'anna', groups: [], by: 'user-token' };
const target = { kind: 'MeshService', mesh: 'default', namespace: 'default' };

describe('roles over a global and its zones', () => {
  const clock = new FakeClock(1_000_000);
  const stop = new AbortController();
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let policies: AccessPolicy[];
  let keeper: ZoneLifecycleLoop;

  beforeEach(async () => {
    const options: { -readonly [K in keyof GlobalSyncOptions]?: GlobalSyncOptions[K] } = {};
    global = new TestGlobal(options);
    [east, west] = [new TestZone('east'), new TestZone('west')];
    const rights = new AccessPolicy({ registry: withRelayedKinds(coreKinds), index: global.index, cp: global.cp });
    policies = [rights];
    options.rights = rights;
    await global.put('Mesh', 'default', {});
    await global.serve();
    const epoch = (await new MemoryLease(global.disk).takeOver(0, 'global-1', 1_000_000_000)) ?? 0;
    keeper = createZoneLifecycleLoop({
      store: global.store,
      sessions: global.sessions,
      index: global.index,
      registry: coreKinds,
      clock,
      rights,
      meshes: meshesOf(global.index),
      logger: silentLogger,
      lost: { policy: 'keep', after: 600_000 },
      term: { epoch, holder: 'global-1', signal: stop.signal },
    });
    await Promise.all([east.join(global), west.join(global)]);
  });

  afterEach(async () => {
    for (const policy of policies) policy.close();
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  const policyOf = (zone: TestZone): AccessPolicy => {
    const policy = new AccessPolicy({ registry: coreKinds, index: zone.index, cp: zone.cp });
    policies.push(policy);
    return policy;
  };
  const bind = (name: string, to: string, role: string, narrowed: JsonObject = {}): Promise<number> => {
    const [kind = '', subject = ''] = to.split(':');
    return global.put('RoleBinding', name, { role, subjects: [{ kind, name: subject }], ...narrowed });
  };
  const service = (name: string) => east.id('MeshService', name);
  const rejections = async (zone: TestZone): Promise<string> =>
    JSON.stringify((await global.sync?.findInsight(await global.holds(global.id('Zone', zone.zone)))) ?? {});

  it('a zone gets those of the global, keeps its own to itself, and a Kuma zone gets none', async () => {
    await bind('reads', 'User:anna', 'own');
    await global.put('Role', 'own', { rules: [{ verbs: ['get'], kinds: ['*'] }] });
    await east.put('RoleBinding', 'local', { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }] });
    await east.put('MeshService', 'redis', SPEC);
    await Promise.all([west.holds(global.id('RoleBinding', 'reads')), west.holds(global.id('Role', 'own'))]);
    await west.holds(service('redis'));
    expect([global.names('RoleBinding'), west.names('RoleBinding')]).toEqual([['reads'], ['reads']]);

    const kuma = new KumaZone('kz');
    kuma.ask(global, ['Mesh', 'Role', 'RoleBinding']);
    expect(await kuma.firstState('Mesh')).toEqual(['default']);
    expect([await kuma.firstState('Role'), await kuma.firstState('RoleBinding')]).toEqual([[], []]);
    kuma.leave();
  });

  it('a zone that is cut off keeps the roles it last had, restricts on its own, and learns later ones', async () => {
    const policy = policyOf(east);
    const may = (): boolean => policy.decide(anna, 'update', target).allowed;
    expect(may()).toBe(false);
    await bind('owns', 'User:anna', 'service-owner');
    await east.holds(global.id('RoleBinding', 'owns'));
    expect(may()).toBe(true);

    await global.cut();
    await global.delete('RoleBinding', 'owns');
    expect(may()).toBe(true);
    await east.put('RoleBinding', 'less', { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }] });
    expect(policy.decide(anna, 'update', target)).toMatchObject({
      allowed: false,
      binding: 'RoleBinding less of zone east',
    });
    await east.delete('RoleBinding', 'less');
    expect(may()).toBe(true);

    await global.serve();
    await east.leave();
    await east.join(global);
    await east.lacks(global.id('RoleBinding', 'owns'));
    expect(may()).toBe(false);
  });

  it('a binding of a zone limits what it may send; what is held is withdrawn, and comes back without the binding', async () => {
    await east.put('MeshService', 'redis', SPEC);
    await east.put('HostnameGenerator', 'own', GENERATOR);
    await Promise.all([west.holds(service('redis')), global.holds(east.id('HostnameGenerator', 'own'))]);
    await west.put('MeshService', 'web', SPEC);
    await east.holds(west.id('MeshService', 'web'));

    await bind('east-sends', 'Zone:east', 'mesh-operator', { kinds: ['HostnameGenerator'] });
    await keeper.round();
    await Promise.all([global.lacks(service('redis')), west.lacks(service('redis'))]);
    await global.holds(east.id('HostnameGenerator', 'own'));
    await global.holds(west.id('MeshService', 'web'));
    expect(east.get(service('redis'))).toBeDefined();
    await east.put('MeshService', 'late', SPEC);
    await until('the reason is shown', async () =>
      (await rejections(east)).includes(
        'no RoleBinding lets zone \\"east\\" send MeshService in namespace \\"default\\" of mesh \\"default\\"',
      ),
    );
    expect(await rejections(west)).not.toContain('no RoleBinding');
    await keeper.round();
    expect(global.names('MeshService')).toEqual(['west/web']);

    await global.delete('RoleBinding', 'east-sends');
    await Promise.all([west.holds(service('redis')), west.holds(service('late'))]);
    await until('nothing stands rejected', async () => !(await rejections(east)).includes('no RoleBinding'));
  });

  it('a binding that comes and changes while the zone is away is obeyed when it is back', async () => {
    await east.put('MeshService', 'redis', SPEC);
    await west.holds(service('redis'));
    await east.leave();
    await global.left('east');
    await bind('east-sends', 'Zone:east', 'service-owner', { meshes: ['other'] });
    await keeper.round();
    await west.lacks(service('redis'));
    await east.join(global);
    await east.put('MeshService', 'late', SPEC);
    await until('it is rejected', async () => (await rejections(east)).includes('no RoleBinding'));
    expect(global.names('MeshService')).toEqual([]);
    await east.leave();
    await global.left('east');
    await bind('east-sends', 'Zone:east', 'service-owner', { meshes: ['default'] });
    await east.join(global);
    await Promise.all([west.holds(service('redis')), west.holds(service('late'))]);
  });

  it('a copy that another replica took before it knew of the binding goes too', async () => {
    await bind('east-sends', 'Zone:east', 'viewer');
    await keeper.round();
    await global.write([{ type: 'put', id: service('raced'), expect: 'any', labels: {}, spec: SPEC }]);
    await keeper.round();
    await global.lacks(service('raced'));
  });
});
