import { defaultResources } from '@causeway/kinds';
import type { ControlPlane } from '@causeway/resources';
import { east, generator, mesh, NamingZone, put, service } from '../support/naming-zone';

/** Returns the default generators of a control plane that zone east holds. */
function defaults(cp: ControlPlane, zone: string) {
  return defaultResources(cp)
    .filter(({ kind }) => kind === 'HostnameGenerator')
    .map(({ name, spec }) => {
      const { id, labels } = generator(name, '', { zone });
      return put(id, labels, spec);
    });
}

const universal = (zone: string, origin: string) => ({
  'kuma.io/zone': zone,
  'kuma.io/env': 'universal',
  'kuma.io/origin': origin,
});

describe('the default generators (T001-13, T001-20) name in zone east', () => {
  const here = service('redis');
  const synced = service('redis', { zone: 'west' });
  const kube = service('redis', { zone: 'kube', namespace: 'shop' });
  const everywhere = service('redis', { kind: 'MeshMultiZoneService' });
  const external = service('mail', { kind: 'MeshExternalService' });
  const ownExternal = service('mail', { kind: 'MeshExternalService', zone: 'east' });

  test.each([
    [here, universal('east', 'zone'), 'redis.svc.mesh.local'],
    [synced, universal('west', 'global'), 'redis.svc.west.mesh.local'],
    [
      kube,
      {
        ...universal('kube', 'global'),
        'kuma.io/env': 'kubernetes',
        'k8s.kuma.io/namespace': 'shop',
        'k8s.kuma.io/is-headless-service': 'false',
      },
      'redis.shop.svc.kube.mesh.local',
    ],
    [everywhere, { 'kuma.io/origin': 'global' }, 'redis.mzsvc.mesh.local'],
    [external, { 'kuma.io/origin': 'global' }, 'mail.extsvc.mesh.local'],
    [ownExternal, universal('east', 'zone'), 'mail.extsvc.mesh.local'],
  ])('%j, labels %j: %s', async (id, labels, hostname) => {
    const zone = await new NamingZone().start(
      mesh('default'),
      ...defaults({ role: 'global' }, ''),
      ...defaults(east, 'east'),
      put(id, labels),
    );
    await zone.settle();
    expect(await zone.shown(id)).toEqual([`${hostname} Available`]);
  });

  test('T001-13: a generator made on the global counts in the zone as one from the global', async () => {
    const zone = await new NamingZone().start(
      mesh('default'),
      put(here),
      put(synced),
      generator('a-global', 'n.mesh', { selector: { meshService: {} } }),
    );
    await zone.settle();
    expect(await zone.shown(here)).toEqual(['n.mesh Available']);
    await zone.user(generator('z-local', 'n.mesh', { zone: 'east' }));
    await zone.settle();
    const names = (await zone.addresses(here)).map(({ origin, status }) => `${origin.name} ${status}`);
    expect(names).toEqual(['z-local Available', 'a-global Available']);
  });
});
