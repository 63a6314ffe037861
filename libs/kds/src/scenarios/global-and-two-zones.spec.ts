import type { Resource } from '@causeway/resources';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const REDIS = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

describe('global and two zones', () => {
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    global = new TestGlobal();
    east = new TestZone('east');
    west = new TestZone('west');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await Promise.all([east.holds(global.id('Mesh', 'default')), west.holds(global.id('Mesh', 'default'))]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('makes the zones known to everybody', async () => {
    await Promise.all([east, west].map((zone) => zone.until(() => zone.names('Zone').join() === 'east,west')));
    expect(global.names('Zone')).toEqual(['east', 'west']);
  });

  it('carries a service of east with its labels to west, and says where it came from', async () => {
    await east.put('MeshService', 'redis', REDIS, { team: 'db' });
    const id = east.id('MeshService', 'redis');
    const [origin, onGlobal, onWest] = await Promise.all([east.holds(id), global.holds(id), west.holds(id)]);
    expect(onGlobal.labels).toEqual(origin.labels);
    expect(onWest.labels).toEqual({ ...origin.labels, 'kuma.io/origin': 'global' });
    for (const copy of [onGlobal, onWest]) {
      expect(facts(copy)).toEqual(facts(origin));
      expect(copy.spec).toEqual(REDIS);
    }
  });

  it('tells status upwards only, and a change of status sends nothing across', async () => {
    await east.put('MeshService', 'redis', REDIS);
    const id = east.id('MeshService', 'redis');
    const before = await west.holds(id);
    await east.write([{ type: 'patch', id, expect: 'any', status: { vip: { ip: '241.0.0.1', type: 'Kuma' } } }]);
    await global.holds(id, (held) => held.status !== undefined);
    await east.put('MeshService', 'last', REDIS);
    await west.holds(east.id('MeshService', 'last'));
    expect(west.get(id)).toEqual(before);
  });

  it('keeps the status that a zone gave a copy when the origin changes', async () => {
    await east.put('MeshService', 'redis', REDIS);
    const id = east.id('MeshService', 'redis');
    await west.holds(id);
    await west.write([{ type: 'patch', id, expect: 'any', status: { vip: { ip: '241.0.0.9', type: 'Kuma' } } }]);
    await east.put('MeshService', 'redis', { ...REDIS, state: 'Unavailable' });
    const copy = await west.holds(id, (held) => held.spec['state'] === 'Unavailable');
    expect(copy.status).toEqual({ vip: { ip: '241.0.0.9', type: 'Kuma' } });
    expect(copy.generation).toBe(2);
  });

  it('reports Dataplanes to the global and keeps them from other zones', async () => {
    await east.put('Dataplane', 'redis-1', { networking: { address: '10.0.0.1' } });
    await east.put('MeshService', 'after', REDIS);
    await global.holds(east.id('Dataplane', 'redis-1'));
    await west.holds(east.id('MeshService', 'after'));
    expect(west.names('Dataplane')).toEqual([]);
  });

  it("sends a zone's HostnameGenerator to the global, where it stops, and the global's to all", async () => {
    const spec = { selector: { meshService: { matchLabels: {} } }, template: '{{ .DisplayName }}.mesh' };
    await east.put('HostnameGenerator', 'own', spec);
    await global.holds(east.id('HostnameGenerator', 'own'));
    await global.put('HostnameGenerator', 'all', spec);
    await Promise.all([east, west].map((zone) => zone.holds(global.id('HostnameGenerator', 'all'))));
    expect(west.names('HostnameGenerator')).toEqual(['all']);
  });

  it('removes what was deleted, also while a zone was away', async () => {
    await east.put('MeshService', 'redis', REDIS);
    await east.put('MeshService', 'web', REDIS);
    const [redis, web] = [east.id('MeshService', 'redis'), east.id('MeshService', 'web')];
    await Promise.all([west.holds(redis), west.holds(web)]);
    await east.delete('MeshService', 'redis');
    await west.lacks(redis);
    await west.leave();
    await east.delete('MeshService', 'web');
    await global.lacks(web);
    expect(west.get(web)).toBeDefined();
    await west.join(global);
    await west.lacks(web);
  });

  it('goes on after a cut, and nothing is lost or removed by it', async () => {
    await east.put('MeshService', 'redis', REDIS);
    const redis = east.id('MeshService', 'redis');
    await west.holds(redis);
    await global.cut();
    await east.put('MeshService', 'web', REDIS);
    await east.delete('MeshService', 'redis');
    expect(west.get(redis)).toBeDefined();
    await global.serve();
    await west.holds(east.id('MeshService', 'web'));
    await west.lacks(redis);
  });

  it('lets one bad resource stop only itself', async () => {
    const id = { ...east.id('MeshService', 'x'), name: 'a'.repeat(254) };
    await east.write([{ type: 'put', id, expect: 'any', labels: { 'kuma.io/origin': 'zone' }, spec: REDIS }]);
    await east.put('MeshService', 'good', REDIS);
    await west.holds(east.id('MeshService', 'good'));
    expect(global.names('MeshService')).toEqual(['east/good']);
  });

  it('closes the older session of a zone', async () => {
    const first = east.sync;
    const second = new TestZone('east', { storeId: 'store-of-east' });
    await second.join(global);
    await second.holds(global.id('Mesh', 'default'));
    await east.leave();
    expect(first?.status().session).toBeUndefined();
    await second.put('MeshService', 'redis', REDIS);
    await west.holds(second.id('MeshService', 'redis'));
    await second.close();
  });

  it('refuses the name of a zone to another store', async () => {
    const impostor = new TestZone('east', { storeId: 'another' });
    await impostor.put('MeshService', 'evil', REDIS);
    await impostor.join(global);
    await east.put('MeshService', 'good', REDIS);
    await west.holds(east.id('MeshService', 'good'));
    expect(global.names('MeshService')).toEqual(['east/good']);
    await impostor.close();
  });
});

function facts({ uid, generation, creationOrder, createdAt, origin }: Resource) {
  return { uid, generation, creationOrder, createdAt: Math.floor(creationOrder / 1000) && createdAt, origin };
}
