import { FakeClock } from '@causeway/runtime/testing';
import { readVersions, recordVersions } from '../support/row-versions';
import type { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';
import { ReplicaWorld, SPEC } from './replica-world';

const HOLD = 300_000;

describe('stores that are set back or made anew', () => {
  const clock = new FakeClock(1_000_000);
  let world: ReplicaWorld;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    world = new ReplicaWorld();
    global = await world.global({ clock, hold: HOLD });
    east = await world.zone('east');
    west = await world.zone('west');
    await global.put('Mesh', 'default', {});
    await Promise.all([east.join(global), west.join(global)]);
    await east.put('MeshService', 'old', SPEC);
    await west.holds(east.id('MeshService', 'old'));
  });
  afterEach(() => world.close());

  /** Nothing waits for an answer: a stream on which something waits while the clock jumps has stalled. */
  const quiet = (): Promise<unknown> =>
    until('nothing is under way', () =>
      [...(global.sync?.reports().values() ?? [])].flat().every(({ behindSince }) => behindSince === undefined),
    );
  /** Of east, on the global. */
  const held = async (): Promise<number | undefined> => (await global.report('east', 'MeshService', 'up')).held;
  const deletionsInWest = async (): Promise<readonly string[]> => {
    const versions = await readVersions(world.homes.url('west'), 'MeshService');
    return versions.filter(({ living }) => !living).map(({ name }) => name);
  };
  /** east as it was before it made `late` and deleted `old`. */
  const restoredEast = async (): Promise<TestZone> => {
    await world.end(east);
    await global.left('east');
    await world.homes.copy('east', 'backup of east');
    east = await world.zone('east');
    await east.join(global);
    await east.put('MeshService', 'late', SPEC);
    await east.delete('MeshService', 'old');
    await west.until(() => west.names('MeshService').join() === 'east/late');
    await global.report('east', 'MeshService', 'up');
    await world.end(east);
    await global.left('east');
    await recordVersions(world.homes.url('west'));
    return world.zone('east', {}, 'backup of east');
  };

  it('a zone installed anew is refused under its old name until it is adopted, and then deletes nothing (I5)', async () => {
    await east.leave();
    await global.left('east');
    await recordVersions(world.homes.url('west'));
    const anew = await world.zone('east', { storeId: 'another' }, 'east anew');
    await anew.put('MeshService', 'new', SPEC);
    await anew.join(global);
    await until('it is refused', () =>
      /belongs to the store store-of-east, not to another/.test(anew.sync?.status().lastError ?? ''),
    );
    expect(global.names('MeshService')).toEqual(['east/old']);
    expect(await global.sync?.adopt('east')).toMatchObject({ storeId: 'another' });
    await west.holds(anew.id('MeshService', 'new'));
    expect(await held()).toBe(1);
    expect(await deletionsInWest()).toEqual([]);
    expect(await global.sync?.confirm('east')).toBeDefined();
    await west.until(() => west.names('MeshService').join() === 'east/new');
    expect(await deletionsInWest()).toEqual(['old']);
  });

  it('what a restored zone lacks stays until the time has passed, and what it has is taken (I5, I7)', async () => {
    const restored = await restoredEast();
    await restored.join(global);
    await west.until(() => west.names('MeshService').join() === 'east/late,east/old');
    expect(await held()).toBe(1);
    await quiet();
    clock.advance(HOLD - 1);
    expect(await held()).toBe(1);
    expect(await deletionsInWest()).toEqual([]);
    await quiet();
    clock.advance(1);
    await west.until(() => west.names('MeshService').join() === 'east/old');
    expect(await deletionsInWest()).toEqual(['late']);
  });

  it('what a restored zone lacks goes when the operator confirms it', async () => {
    const restored = await restoredEast();
    await restored.join(global);
    expect(await held()).toBe(1);
    expect(await global.sync?.confirm('east')).toBeDefined();
    await west.until(() => west.names('MeshService').join() === 'east/old');
  });

  it('a restored global takes nothing from zones, and is told again what it forgot (I4, I5)', async () => {
    await Promise.all([east.leave(), west.leave()]);
    await world.end(global);
    await world.homes.copy('global', 'backup of global');
    global = await world.global();
    await Promise.all([east.join(global), west.join(global)]);
    await global.put('Mesh', 'late', {});
    await east.put('MeshService', 'late', SPEC);
    await west.until(() => west.names('MeshService').length === 2 && west.names('Mesh').length === 2);
    await Promise.all([east.leave(), west.leave()]);
    await world.end(global);
    await recordVersions(world.homes.url('west'));

    global = await world.global({}, 'backup of global');
    await world.end(west);
    west = await world.zone('west', { clock, hold: HOLD });
    await west.join(global);
    await global.report('west', 'MeshService');
    expect(west.names('MeshService')).toEqual(['east/late', 'east/old']);
    await east.join(global);
    await global.until(() => global.names('MeshService').length === 2);
    await global.report('west', 'MeshService');
    clock.advance(HOLD);
    // Only the global had this one, and it cannot be restored.
    await west.until(() => west.names('Mesh').join() === 'default');
    expect(west.names('MeshService')).toEqual(['east/late', 'east/old']);
    expect(await deletionsInWest()).toEqual([]);
  });
});
