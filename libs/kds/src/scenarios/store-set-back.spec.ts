import { FakeClock } from '@causeway/runtime/testing';
import type { MetadataEntry } from '@causeway/store';
import type { MemoryBackup } from '@causeway/store/testing';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HOLD = 300_000;

describe('a store that was set back and goes on as if nothing had been', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let east: TestZone;
  let backup: MemoryBackup;

  beforeEach(async () => {
    global = new TestGlobal({ clock, hold: HOLD });
    east = new TestZone('east');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await east.put('MeshService', 'old', SPEC);
    await east.join(global);
    await global.holds(east.id('MeshService', 'old'));
    backup = east.disk.save();
    // Points are written at most once a second.
    clock.advance(1_000);
    await east.put('MeshService', 'late', SPEC);
    await global.holds(east.id('MeshService', 'late'));
    await global.report('east', 'MeshService', 'up');
    // It is noted once the zone sends the orders that count.
    const isNoted = ({ key, value }: MetadataEntry): boolean =>
      key === 'point/MeshService' && Number(value?.['revision']) > backup.revision;
    await until('the global has noted a point beyond the backup', () =>
      [...global.disk.metadata.values()].some(isNoted),
    );
  });
  afterEach(async () => {
    await east.close();
    await global.close();
  });

  /** Ends the session, and leaves the global's metadata of east as a global without MACs would have written it. */
  const endSession = async ({ macs }: { macs: boolean }): Promise<void> => {
    await east.leave();
    await global.left('east');
    if (macs) return;
    for (const [key, entry] of global.disk.metadata) {
      const { mac: _, ...value } = entry.value ?? {};
      if (entry.area === 'sync/east' && entry.key.startsWith('point/'))
        global.disk.metadata.set(key, { ...entry, value });
    }
  };
  const setBack = async (): Promise<void> => {
    east.disk.restore(backup, 'same');
    await east.close();
    east = new TestZone('east', {}, east.disk);
    await east.index.reached(0);
  };

  it('begins a new incarnation by the points that it issued itself', async () => {
    const { incarnation } = east.disk;
    await endSession({ macs: true });
    await setBack();
    await east.join(global);
    await global.until(() => east.disk.incarnation !== incarnation);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(1);
  });

  it('begins none by points that anybody could have made; what it lacks is held until the time has passed', async () => {
    const { incarnation } = east.disk;
    await endSession({ macs: false });
    await setBack();
    await east.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(1);
    expect(east.disk.incarnation).toBe(incarnation);
    expect(global.names('MeshService')).toEqual(['east/late', 'east/old']);
    // Over another session, whatever that brings.
    await east.put('MeshService', 'new', SPEC);
    await endSession({ macs: true });
    clock.advance(HOLD - 10);
    await east.join(global);
    await global.holds(east.id('MeshService', 'new'));
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(1);
    clock.advance(10);
    await global.until(() => global.names('MeshService').join() === 'east/new,east/old');

    // From then on it is as any other.
    await endSession({ macs: true });
    await east.join(global);
    await east.delete('MeshService', 'old');
    await global.lacks(east.id('MeshService', 'old'));
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(0);
    const zone = await global.holds(global.id('Zone', 'east'));
    expect(await global.sync?.findInsight(zone)).not.toHaveProperty('newIncarnation');
  });

  it('is believed when the operator confirms it', async () => {
    await endSession({ macs: false });
    await setBack();
    await east.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(1);
    expect(await global.sync?.confirm('east')).toMatchObject({ incarnation: `${east.disk.incarnation} (set back)` });
    await global.until(() => global.names('MeshService').join() === 'east/old');
  });
});
