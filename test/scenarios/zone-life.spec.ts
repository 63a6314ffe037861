import { randomUUID } from 'node:crypto';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, systemClock } from '@causeway/runtime';
import { createZoneLifecycleLoop } from '@causeway/kds';
import type { ZoneLifecycleLoop } from '@causeway/kds/testing';
import { meshesOf } from '../support/meshes';
import type { TestGlobal, TestZone } from '../support/sync-mesh';
import { ReplicaWorld, SPEC } from './replica-world';

const LOST = { policy: 'keep', after: 600_000 } as const;

describe('a zone is disabled, deleted, or loses its mesh, on a global of two replicas', () => {
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
    await east.put('MeshService', 'redis', SPEC);
    await west.holds(redis());
  });
  afterEach(() => world.close());

  const redis = () => east.id('MeshService', 'redis');
  const away = async (zone: TestZone): Promise<void> => {
    await zone.leave();
    await other.left(zone.zone);
  };

  it('disabled, it is withdrawn from those who are there and those who were away, and keeps its session', async () => {
    await away(west);
    await leader.put('Zone', 'east', { enabled: false });
    await east.put('MeshService', 'web', SPEC);
    await leader.holds(east.id('MeshService', 'web'));
    expect(west.get(redis())).toBeDefined();
    await west.join(other);
    await west.lacks(redis());
    expect(west.names('MeshService')).toEqual([]);
    expect(other.sync?.reports().has('east')).toBe(true);
  });

  it('enabled while another zone is away, it is there again when that comes back', async () => {
    await leader.put('Zone', 'east', { enabled: false });
    await west.lacks(redis());
    await away(west);
    await leader.put('Zone', 'east', { enabled: true });
    await west.join(other);
    await west.holds(redis());
  });

  it('deleted without a session, what it had is deleted everywhere; it comes back whole', async () => {
    await away(east);
    await leader.delete('Zone', 'east');
    await west.lacks(redis());
    await keeper.round();
    await other.lacks(redis());
    await east.join(other);
    await west.holds(redis());
    expect(other.names('Zone')).toEqual(['east', 'west']);
  });

  it('deleted with a session on a replica that does not lead, it comes back whole', async () => {
    await leader.delete('Zone', 'east');
    await keeper.round();
    await leader.holds(leader.id('Zone', 'east'));
    await east.put('MeshService', 'later', SPEC);
    await west.holds(east.id('MeshService', 'later'));
    await Promise.all([leader.holds(redis()), west.holds(redis())]);
  });

  it('its mesh deleted while it is away, its services stay where they are and are known to nobody', async () => {
    const inShop = east.id('MeshService', 'redis', { mesh: 'shop' });
    const labels = { 'kuma.io/origin': 'zone' };
    await leader.put('Mesh', 'shop', {});
    await east.write([{ type: 'put', id: inShop, expect: 'any', labels, spec: SPEC }]);
    await west.holds(inShop);
    await away(east);
    await leader.delete('Mesh', 'shop');
    await west.lacks(inShop);
    await east.join(other);
    await east.lacks(leader.id('Mesh', 'shop'));
    expect([leader, other, east].map((plane) => plane.get(inShop) !== undefined)).toEqual([true, true, true]);
    await leader.put('Mesh', 'shop', {});
    await west.holds(inShop);
  });
});

/** Keeps the zones in order, as the leader of the global does; rounds are made by the test. */
async function keep({ state, index }: TestGlobal): Promise<ZoneLifecycleLoop> {
  const holder = randomUUID();
  const epoch = (await state.lease.takeOver((await state.lease.readEpoch()).epoch, holder, 1_000_000)) ?? 0;
  const term = { epoch, holder, signal: new AbortController().signal };
  const { store, sessions } = state;
  const parts = { store, sessions, index, registry: coreKinds, clock: systemClock, logger: silentLogger };
  return createZoneLifecycleLoop({ ...parts, meshes: meshesOf(index), term, lost: LOST });
}
