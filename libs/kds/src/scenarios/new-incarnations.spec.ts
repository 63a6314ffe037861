import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { liveAndLeave } from '../../../../test/support/first-incarnation';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { confirmPeerIncarnation } from '../session/peer-state';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HOLD = 300_000;
/** Interval at which a replica reads the operator's decision, ms. */
const POLL_INTERVAL = 5_000;

describe('a new incarnation of a zone', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let first: TestZone;
  let second: TestZone;

  beforeEach(async () => {
    global = new TestGlobal({ clock, hold: HOLD });
    first = new TestZone('east');
    // Installed anew with the same name and store id, and nothing else.
    second = new TestZone('east', {}, new MemoryDisk());
    await global.put('Mesh', 'default', {});
    await global.serve();
    await liveAndLeave(first, global, SPEC);
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await global.close();
  });

  it('is not a deletion: what it lacks stays until the time has passed', async () => {
    await second.put('MeshService', 'b', { ...SPEC, state: 'Unavailable' });
    await second.join(global);
    await global.holds(first.id('MeshService', 'b'), (held) => held.spec['state'] === 'Unavailable');
    expect(await global.report('east', 'MeshService', 'up')).toMatchObject({ held: 1 });
    expect(global.names('MeshService')).toEqual(['east/a', 'east/b']);
    clock.advance(HOLD - 1);
    await second.put('MeshService', 'c', SPEC);
    await global.until(() => global.names('MeshService').includes('east/c'));
    expect(global.names('MeshService')).toContain('east/a');
    clock.advance(1);
    await global.until(() => global.names('MeshService').join() === 'east/b,east/c');
  });

  it('keeps what it names again while it is held', async () => {
    await second.join(global);
    await global.until(() => true);
    await second.put('MeshService', 'a', SPEC);
    await global.holds(
      first.id('MeshService', 'a'),
      (held) => held.origin.incarnation === second.index.point?.incarnation,
    );
    clock.advance(HOLD);
    await global.lacks(first.id('MeshService', 'b'));
    expect(global.names('MeshService')).toEqual(['east/a']);
  });

  it('holds over a reconnect, and from its first sight', async () => {
    await second.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(2);
    await second.leave();
    await global.left('east');
    clock.advance(HOLD - 10);
    await second.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(2);
    clock.advance(10);
    await global.until(() => global.names('MeshService').length === 0);
  });

  it('may delete what it has itself named', async () => {
    await second.put('MeshService', 'a', SPEC);
    await second.join(global);
    await global.holds(
      first.id('MeshService', 'a'),
      (held) => held.origin.incarnation === second.index.point?.incarnation,
    );
    await second.delete('MeshService', 'a');
    await global.lacks(first.id('MeshService', 'a'));
    expect(global.names('MeshService')).toEqual(['east/b']);
  });
});

describe('a new incarnation of the global', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    global = new TestGlobal();
    east = new TestZone('east');
    west = new TestZone('west', { clock, hold: HOLD });
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await east.put('MeshService', 'redis', SPEC);
    await west.holds(east.id('MeshService', 'redis'));
    await west.until(() => west.names('Zone').length === 2);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  it('takes nothing from a zone that the others bring back', async () => {
    await Promise.all([east.leave(), west.leave()]);
    await global.cut();
    const empty = new TestGlobal();
    await empty.put('Mesh', 'default', {});
    await empty.serve();
    await west.join(empty);
    await empty.report('west', 'MeshService');
    expect(west.names('MeshService')).toEqual(['east/redis']);
    await east.join(empty);
    await empty.holds(east.id('MeshService', 'redis'));
    await empty.report('west', 'MeshService');
    clock.advance(HOLD);
    await west.put('MeshService', 'later', SPEC);
    await empty.until(() => empty.names('MeshService').join() === 'east/redis,west/later');
    expect(west.names('MeshService')).toEqual(['east/redis', 'west/later']);
    await Promise.all([east.leave(), west.leave()]);
    await empty.close();
  });

  it('is ended on any replica of the zone by the operator who confirms it', async () => {
    await Promise.all([east.leave(), west.leave()]);
    await global.cut();
    const empty = new TestGlobal();
    await empty.put('Mesh', 'default', {});
    await empty.serve();
    await west.join(empty);
    await empty.report('west', 'MeshService');
    expect(west.sync?.status().pendingIncarnation?.incarnation).toBe((await empty.store.head()).incarnation);
    // The replica that the operator calls shares only the store with the one that has the session.
    const other = new MemoryStore(west.disk);
    const said = await Promise.all([confirmPeerIncarnation(other, ''), confirmPeerIncarnation(other, '')]);
    expect(said).toEqual([west.sync?.status().pendingIncarnation, west.sync?.status().pendingIncarnation]);
    expect(west.names('MeshService')).toEqual(['east/redis']);
    clock.advance(POLL_INTERVAL);
    await west.lacks(east.id('MeshService', 'redis'));
    await west.until(() => west.sync?.status().pendingIncarnation === undefined);
    expect(await confirmPeerIncarnation(other, '')).toBeUndefined();
    await west.leave();
    await empty.close();
  });

  it('takes what nobody brings back when the time has passed', async () => {
    await Promise.all([east.leave(), west.leave()]);
    await global.cut();
    const empty = new TestGlobal();
    await empty.serve();
    await west.join(empty);
    await empty.report('west', 'MeshService');
    expect(west.names('MeshService')).toEqual(['east/redis']);
    clock.advance(HOLD);
    await west.until(() => west.names('MeshService').length === 0);
    expect(west.names('Mesh')).toEqual([]);
    await west.leave();
    await empty.close();
  });
});
