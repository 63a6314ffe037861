import { coreKinds } from '@causeway/kinds';
import type { JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';
import { meshesOf } from '../../../../test/support/meshes';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { createZoneLifecycleLoop, type ZoneLifecycleLoop } from '../global/zones/zone-lifecycle-loop';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const ORIGIN = { 'kuma.io/origin': 'zone' };
const LOST = { policy: 'withdraw', after: 600_000 } as const;

describe('who knows a service', () => {
  const clock = new FakeClock(1_000_000);
  const stop = new AbortController();
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let keeper: ZoneLifecycleLoop;
  let nextKeeper: () => ZoneLifecycleLoop;
  /** Time goes on, for a busy stream pauses between its messages. */
  let ticking: NodeJS.Timeout;

  beforeEach(async () => {
    ticking = setInterval(() => clock.advance(5), 5);
    global = new TestGlobal({ clock });
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    const epoch = (await new MemoryLease(global.disk).takeOver(0, 'global-1', 1_000_000_000)) ?? 0;
    const { store, sessions, index } = global;
    const term = { epoch, holder: 'global-1', signal: stop.signal };
    const registry = coreKinds;
    nextKeeper = () =>
      createZoneLifecycleLoop({
        store,
        sessions,
        index,
        meshes: meshesOf(index),
        registry,
        clock,
        logger: silentLogger,
        term,
        lost: LOST,
      });
    keeper = nextKeeper();
    await Promise.all([east.join(global), west.join(global)]);
    await put('redis');
    await west.holds(east.id('MeshService', 'redis'));
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
    clearInterval(ticking);
  });

  const put = (name: string, rest: JsonObject = {}): Promise<number> =>
    east.put('MeshService', name, { ...SPEC, ...rest });
  const redis = () => east.id('MeshService', 'redis');

  it('those whom its export rule names, and they forget it at once when it no longer does', async () => {
    await put('redis', { export: { mode: 'None' } });
    await west.lacks(redis());
    await put('redis', { export: { mode: 'Subset', zones: ['west'] } });
    await west.holds(redis());
    await put('redis', { export: { mode: 'Subset', zones: { matchLabels: { region: 'eu' } } } });
    await west.lacks(redis());
    await global.put('Zone', 'west', {}, { region: 'eu' });
    await west.holds(redis());
    await global.put('Zone', 'west', {});
    await west.lacks(redis());
    expect(global.get(redis())).toBeDefined();
  });

  it('nobody while its zone is disabled, also those who were away then', async () => {
    await global.put('Zone', 'east', { enabled: false });
    await west.lacks(redis());
    await put('web');
    await global.holds(east.id('MeshService', 'web'));
    await west.leave();
    await global.left('west');
    await global.put('Zone', 'east', { enabled: true });
    expect(west.names('MeshService')).toEqual([]);
    await west.join(global);
    await Promise.all([west.holds(redis()), west.holds(east.id('MeshService', 'web'))]);
    expect(global.sync?.reports().has('east')).toBe(true);
  });

  it('nobody when its zone is lost and that is the policy, until it is back', async () => {
    await east.leave();
    await global.left('east');
    const zone = global.id('Zone', 'east');
    await keeper.round();
    clock.advance(LOST.after - 1);
    await keeper.round();
    expect(west.get(redis())).toBeDefined();
    // Long before the zone is lost, every zone knows that it has no session.
    await west.holds(zone, ({ status }) => status?.['disconnectedSince'] !== undefined);
    expect(west.get(zone)?.status?.['lost']).toBeUndefined();
    clock.advance(1);
    await keeper.round();
    await west.lacks(redis());
    expect((await west.holds(zone, (held) => held.status?.['lost'] !== undefined)).status).toMatchObject({
      lost: { policy: 'withdraw' },
    });
    const before = global.get(zone);
    // Another leader does not begin to wait anew.
    await nextKeeper().round();
    expect(global.get(zone)).toBe(before);
    await east.join(global);
    await global.report('east', 'MeshService', 'up');
    await keeper.round();
    await west.holds(redis());
    await west.holds(
      zone,
      ({ status }) => status?.['lost'] === undefined && status?.['disconnectedSince'] === undefined,
    );
  });

  it('nobody when its zone was deleted; it comes back whole', async () => {
    await east.leave();
    await global.left('east');
    await global.delete('Zone', 'east');
    await west.lacks(redis());
    expect(global.get(redis())).toBeDefined();
    await keeper.round();
    await global.lacks(redis());
    await east.join(global);
    await west.holds(redis());
  });

  it('everybody again when its zone was deleted while it had a session', async () => {
    await global.delete('Zone', 'east');
    await keeper.round();
    await global.holds(global.id('Zone', 'east'));
    await put('later');
    await west.holds(east.id('MeshService', 'later'));
    await global.holds(redis());
    await west.holds(redis());
  });

  it('nobody when its mesh was deleted while its zone was away; the global keeps it', async () => {
    const inShop = east.id('MeshService', 'redis', { mesh: 'shop' });
    await global.put('Mesh', 'shop', {});
    await east.write([{ type: 'put', id: inShop, expect: 'any', labels: ORIGIN, spec: SPEC }]);
    await west.holds(inShop);
    await east.leave();
    await global.left('east');
    await global.delete('Mesh', 'shop');
    await west.lacks(inShop);
    await east.join(global);
    await east.lacks(global.id('Mesh', 'shop'));
    expect(global.get(inShop)).toBeDefined();
    expect(east.get(inShop)).toBeDefined();
    await global.put('Mesh', 'shop', {});
    await west.holds(inShop);
  });
});
