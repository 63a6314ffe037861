import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { Extension } from '../wire/dialect';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const NAMES = ['a', 'b', 'c', 'd'];

describe('a zone that comes back', () => {
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  const start = async (features?: readonly string[]): Promise<void> => {
    global = new TestGlobal();
    east = new TestZone('east');
    west = new TestZone('west', features ? { features } : {});
    await global.put('Mesh', 'default', {});
    // A resource older than the Zone of its zone counts as made when that Zone was made, and the zone sends it again.
    await global.put('Zone', 'east', {});
    await global.serve();
    // The point of a first state is noted with it, those of later changes once a second at most.
    for (const name of NAMES) await east.put('MeshService', name, SPEC);
    await east.join(global);
    await global.until(() => global.names('MeshService').length === NAMES.length);
    await west.join(global);
    await west.until(() => west.names('MeshService').length === NAMES.length);
    await global.report('west', 'MeshService');
    await leave(east, west);
  };
  const leave = async (...zones: TestZone[]): Promise<void> => {
    for (const zone of zones) {
      await zone.leave();
      await global.left(zone.zone);
    }
  };
  const sentTo = async (zone: string): Promise<number | undefined> => (await global.report(zone, 'MeshService')).sent;

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('is sent nothing when nothing changed, in either direction', async () => {
    await start();
    await Promise.all([east.join(global), west.join(global)]);
    expect(await sentTo('west')).toBe(0);
    await global.report('east', 'MeshService', 'up');
    const up = east.sync?.status().kinds.find((report) => report.kind === 'MeshService' && report.direction === 'up');
    expect(up).toMatchObject({ sent: 0 });
    expect(west.names('MeshService')).toEqual(NAMES.map((name) => `east/${name}`));
  });

  it('is sent what changed, and what was deleted goes', async () => {
    await start();
    await east.delete('MeshService', 'a');
    await east.put('MeshService', 'b', { ...SPEC, state: 'Unavailable' });
    await east.put('MeshService', 'new', SPEC);
    await east.join(global);
    await global.until(() => global.names('MeshService').join() === 'east/b,east/c,east/d,east/new');
    expect(west.names('MeshService')).toHaveLength(4);
    await west.join(global);
    await west.until(() => west.names('MeshService').join() === 'east/b,east/c,east/d,east/new');
    expect(await sentTo('west')).toBeLessThan(4);
    expect(west.get(east.id('MeshService', 'b'))?.spec['state']).toBe('Unavailable');
    expect(west.get(east.id('MeshService', 'a'))).toBeUndefined();
  });

  it('is sent everything when deletions since then are forgotten', async () => {
    await start();
    await global.store.write({
      changes: [{ type: 'delete', id: east.id('MeshService', 'a'), expect: 'any' }],
      onRefusal: 'abort',
    });
    await global.store.purgeTombstones(-1);
    await west.join(global);
    await west.until(() => west.names('MeshService').length === 3);
    expect(await sentTo('west')).toBe(3);
  });

  it('is sent everything when the rules have changed meanwhile, and keeps nothing that they take from it', async () => {
    await start();
    await global.put('Zone', 'east', { enabled: false });
    await west.join(global);
    await west.until(() => west.names('MeshService').length === 0);
    await global.put('Zone', 'east', { enabled: true });
    await west.until(() => west.names('MeshService').length === 4);
  });

  it('learns new rules that move nothing, so that it can still resume', async () => {
    await start();
    await west.join(global);
    await global.report('west', 'MeshService');
    await global.put('Zone', 'north', {});
    await west.until(() => west.names('Zone').includes('north'));
    await global.report('west', 'MeshService');
    await leave(west);
    await west.join(global);
    expect(await sentTo('west')).toBe(0);
  });

  it('is sent everything when it cannot resume', async () => {
    await start([Extension.json, Extension.meta]);
    await west.join(global);
    expect(await sentTo('west')).toBe(4);
  });

  it('is sent everything by a global that was set back, which begins a new incarnation', async () => {
    await start();
    const backup = global.disk.save();
    await east.join(global);
    await east.put('MeshService', 'late', SPEC);
    await west.join(global);
    await west.until(() => west.names('MeshService').length === 5);
    await leave(east, west);
    const { incarnation } = await global.store.head();
    global.disk.restore(backup, 'same');
    await west.join(global);
    await global.until(() => global.index.point?.incarnation !== incarnation);
    await east.join(global);
    await global.until(() => global.names('MeshService').length === 5);
    expect(west.names('MeshService')).toHaveLength(5);
  });
});
