import { randomUUID } from 'node:crypto';
import { coreKinds } from '@causeway/kinds';
import type { JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { createZoneLifecycleLoop } from '@causeway/kds';
import type { ZoneLifecycleLoop } from '@causeway/kds/testing';
import { meshesOf } from '../support/meshes';
import type { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';
import { ReplicaWorld, SPEC } from './replica-world';

describe('what an operator keeps away, on a global of two replicas', () => {
  let world: ReplicaWorld;
  /** It leads, and no zone is connected to it. */
  let leader: TestGlobal;
  let other: TestGlobal;
  let keeper: ZoneLifecycleLoop;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    world = new ReplicaWorld();
    [leader, other] = [await world.global(), await world.global()];
    [east, west] = [await world.zone('east'), await world.zone('west')];
    await leader.put('Mesh', 'default', {});
    keeper = await keep(leader);
    await Promise.all([east.join(other), west.join(other)]);
    for (const name of ['redis', 'web']) {
      await east.put('MeshService', name, SPEC);
      await west.holds(service(name));
    }
  });
  afterEach(() => world.close());

  const service = (name: string) => east.id('MeshService', name);
  const insight = async (): Promise<JsonObject> =>
    (await other.sync?.findInsight(await other.holds(other.id('Zone', 'east')))) ?? {};
  /** Writes the quarantine into the Zone east, and waits until both replicas know. */
  const quarantine = async (value: JsonObject): Promise<void> => {
    await leader.put('Zone', 'east', { quarantine: value });
    const { revision } = await leader.store.head();
    await other.index.reached(revision);
  };

  it('a resource is deleted, taken in no more whatever its zone does, and comes back when it is released', async () => {
    await quarantine({ resources: [{ type: 'MeshService', name: 'redis' }] });
    await keeper.round();
    await Promise.all([leader.lacks(service('redis')), west.lacks(service('redis'))]);
    await east.put('MeshService', 'redis', { ...SPEC, ports: [{ port: 1 }] });
    await until('the rejection is shown', async () =>
      JSON.stringify(await insight()).includes('quarantined by the operator'),
    );
    // Its zone comes back, by another replica too, and whatever it resumes from.
    await east.leave();
    await other.left('east');
    await east.join(leader);
    await east.put('MeshService', 'late', SPEC);
    await west.holds(service('late'));
    await leader.report('east', 'MeshService', 'up');
    expect(leader.names('MeshService')).toEqual(['east/late', 'east/web']);
    expect(east.sync?.status().connected).toBe(true);

    await quarantine({});
    const back = await west.holds(service('redis'));
    expect(back.spec['ports']).toEqual([{ port: 1 }]);
    await until('nothing stands rejected', async () => !JSON.stringify(await insight()).includes('quarantined'));
  });

  it('released while its zone is away, it comes back with the zone', async () => {
    await quarantine({ resources: [{ type: 'MeshService', name: 'redis' }] });
    await keeper.round();
    await east.put('MeshService', 'redis', { ...SPEC, ports: [{ port: 1 }] });
    await east.put('MeshService', 'late', SPEC);
    await west.holds(service('late'));
    await other.report('east', 'MeshService', 'up');
    await east.leave();
    await other.left('east');
    await quarantine({});
    await east.join(other);
    await west.holds(service('redis'));
  });

  it('a whole zone has no session, and its copies stay on the global alone', async () => {
    await quarantine({ all: true });
    await Promise.all([west.lacks(service('redis')), west.lacks(service('web'))]);
    await until('it is sent away', () =>
      east.sync
        ?.status()
        .lastError?.includes(
          'zone east is quarantined by the operator; to let it in again: causeway zones quarantine east --release',
        ),
    );
    await keeper.round();
    expect(leader.names('MeshService')).toEqual(['east/redis', 'east/web']);
    expect(west.sync?.status().connected).toBe(true);
    await east.put('MeshService', 'late', SPEC);
    await quarantine({});
    await Promise.all(['redis', 'web', 'late'].map((name) => west.holds(service(name))));
  });

  it('a deleted zone leaves nothing behind, and another store may begin under its name', async () => {
    const notes = Array.from({ length: 1_200 }, (_, i) => ({
      area: 'sync/east',
      key: `point/Invented${i}`,
      value: { incarnation: 'x', revision: 1, view: '' },
    }));
    const beside = ['zone-refusal', 'zone-doubt', 'zone-insight'].map((area) => ({ area, key: 'east', value: {} }));
    await leader.store.write({ changes: [], onRefusal: 'abort', metadata: [...notes, ...beside] });
    await east.leave();
    await other.left('east');
    await leader.delete('Zone', 'east');
    const { revision } = await leader.store.head();
    await other.index.reached(revision);
    await keeper.round();
    expect(await leader.store.listMetadata('sync/east')).toEqual([]);
    for (const { area } of beside)
      expect([area, await leader.store.readMetadata(area, 'east')]).toEqual([area, undefined]);
    expect(await leader.sessions.session('east')).toBeUndefined();
    expect(leader.names('MeshService')).toEqual([]);

    const anew = await world.zone('east', { storeId: 'another' }, 'east anew');
    await anew.put('MeshService', 'new', SPEC);
    await anew.join(other);
    await west.holds(anew.id('MeshService', 'new'));
    expect((await leader.sessions.session('east'))?.storeId).toBe('another');
  });
});

/** Keeps the zones in order, as the leader of the global does; rounds are made by the test. */
async function keep({ state, index }: TestGlobal): Promise<ZoneLifecycleLoop> {
  const holder = randomUUID();
  const epoch = (await state.lease.takeOver((await state.lease.readEpoch()).epoch, holder, 1_000_000)) ?? 0;
  const term = { epoch, holder, signal: new AbortController().signal };
  const { store, sessions } = state;
  const parts = { store, sessions, index, registry: coreKinds, clock: systemClock, logger: silentLogger };
  return createZoneLifecycleLoop({ ...parts, meshes: meshesOf(index), term, lost: { policy: 'keep', after: 600_000 } });
}
