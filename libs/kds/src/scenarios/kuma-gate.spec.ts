import { FakeClock } from '@causeway/runtime/testing';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { peerArea } from '../session/peer-state';

const SPEC = { ports: [{ port: 6379, targetPort: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HOLD = 300_000;

describe('a global in a new incarnation', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let kuma: KumaZone;

  beforeEach(async () => {
    global = new TestGlobal({ clock, hold: HOLD });
    [east, west] = [new TestZone('east'), new TestZone('west')];
    kuma = new KumaZone('kz');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await east.put('MeshService', 'redis', SPEC);
    await west.put('MeshService', 'web', SPEC);
    await global.until(() => global.names('MeshService').length === 2);
  });

  afterEach(async () => {
    kuma.leave();
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  /** The Kuma zone reports its whole state: no resource of it crosses zones. */
  const report = async (): Promise<void> => {
    kuma.tell(global, {});
    await global.report('kz', 'MeshService', 'up');
  };

  /** The store comes back without what east and west had sent, as from an old copy. */
  const beginNewLife = async (): Promise<void> => {
    await Promise.all([east.leave(), west.leave()]);
    kuma.leave();
    await global.cut();
    for (const id of [east.id('MeshService', 'redis'), west.id('MeshService', 'web')]) {
      const [area, key] = [peerArea(id.zone), 'point/MeshService'];
      const changes = [{ type: 'delete', id, expect: 'any' }] as const;
      await global.store.write({ changes, onRefusal: 'abort', metadata: [{ area, key, value: null }] });
    }
    await global.store.newIncarnation();
    const { incarnation } = await global.store.head();
    await global.until(() => global.index.point?.incarnation === incarnation);
    await global.serve();
  };

  it('that is its first tells a Kuma zone everything at once', async () => {
    kuma.ask(global, ['MeshService']);
    expect(await kuma.firstState('MeshService')).toEqual(['redis', 'web']);
  });

  it('tells a Kuma zone of the others only once all of them have reported', async () => {
    kuma.ask(global, ['MeshService']);
    await kuma.firstState('MeshService');
    await beginNewLife();
    kuma.ask(global, ['MeshService', 'Mesh']);
    expect(await kuma.firstState('Mesh')).toEqual(['default']);
    await report();
    await west.join(global);
    await global.holds(west.id('MeshService', 'web'));
    await global.report('west', 'MeshService', 'up');
    expect(kuma.hasHeard('MeshService')).toBe(false);
    await east.join(global);
    expect(await kuma.firstState('MeshService')).toEqual(['redis', 'web']);
  });

  it('waits no longer than the time, over a restart too', async () => {
    await beginNewLife();
    kuma.ask(global, ['MeshService', 'Mesh']);
    await kuma.firstState('Mesh');
    clock.advance(HOLD - 10);
    kuma.leave();
    await global.cut();
    await global.serve();
    kuma.ask(global, ['MeshService', 'Mesh']);
    await kuma.firstState('Mesh');
    expect(kuma.hasHeard('MeshService')).toBe(false);
    clock.advance(10);
    expect(await kuma.firstState('MeshService')).toEqual([]);
  });

  it('waits for no zone that is disabled or deleted', async () => {
    await beginNewLife();
    kuma.ask(global, ['MeshService', 'Mesh']);
    await kuma.firstState('Mesh');
    await report();
    await global.put('Zone', 'east', { enabled: false });
    expect(kuma.hasHeard('MeshService')).toBe(false);
    await global.delete('Zone', 'west');
    expect(await kuma.firstState('MeshService')).toEqual([]);
  });

  it('waits no more once all have reported, whoever is away then', async () => {
    await beginNewLife();
    kuma.ask(global, ['MeshService']);
    await report();
    await Promise.all([east.join(global), west.join(global)]);
    await kuma.firstState('MeshService');
    kuma.leave();
    await Promise.all([east.leave(), west.leave()]);
    await global.cut();
    await global.serve();
    kuma.ask(global, ['MeshService']);
    expect(await kuma.firstState('MeshService')).toEqual(['redis', 'web']);
  });
});
