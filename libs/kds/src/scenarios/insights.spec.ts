import { MemoryDisk } from '@causeway/store/testing';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

describe('insights of a zone, on a global of two replicas', () => {
  const home = new MemoryDisk();
  const zoneHome = new MemoryDisk();
  const [first, second] = [
    new TestGlobal({ instance: 'global-1' }, home),
    new TestGlobal({ instance: 'global-2' }, home),
  ];
  const [former, next] = [new TestZone('east', {}, zoneHome), new TestZone('east', {}, zoneHome)];
  afterAll(async () => {
    await Promise.all([former.close(), next.close()]);
    await Promise.all([first.close(), second.close()]);
  });

  it('I5 the end of an older session says nothing of the one that stands on the other replica', async () => {
    const zone = first.id('Zone', 'east');
    await first.put('Mesh', 'default', {});
    await Promise.all([first.serve(), second.serve()]);
    await former.join(first);
    await first.report('east', 'Mesh');
    await former.lapse();
    await next.join(second);
    await second.report('east', 'Mesh');
    await former.leave();
    await first.left('east');
    expect(await first.store.readMetadata('zone-insight', 'east')).toMatchObject({ globalInstanceId: 'global-2' });
    const standing = await first.sync?.findInsight(await first.holds(zone));
    expect(standing?.['health']).not.toBe('Offline');
    expect(standing).not.toHaveProperty('offline');
    const before = Date.now();
    await next.leave();
    await second.left('east');
    const away = await first.sync?.findInsight(await first.holds(zone));
    expect(away).toMatchObject({ health: 'Offline', offline: { reason: expect.stringMatching(/\w/) } });
    expect(Object(away?.['offline']).since).toBeGreaterThanOrEqual(before);
    expect(await second.sync?.findInsight(await second.holds(zone))).toMatchObject({ offline: away?.['offline'] });
  });
});
