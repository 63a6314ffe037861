import { planRanges, type OwnedRanges } from '@causeway/ipam';
import type { Identity, JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import type { LoopRunner } from '../runner/loop-runner';
import { idOf, LoopWorld, put, remove, type Replica } from '../../../../test/support/loop-world';
import { VipLoop } from './vip-loop';

const REST = 60_000;
const DEFAULTS = {
  MeshService: '241.0.0.0/8',
  MeshExternalService: '242.0.0.0/8',
  MeshMultiZoneService: '243.0.0.0/8',
};

function rangesOf(ranges: Record<string, string>): readonly OwnedRanges[] {
  const plan = planRanges(Object.entries(ranges).map(([owner, range]) => ({ owner, range })));
  if (!plan.ok) throw new Error(plan.errors.join());
  return plan.owned;
}

const service = (name: string, rest: Partial<Identity> = {}): Identity => idOf('MeshService', name, rest);
const made = (...ids: Identity[]): Change[] => ids.map((id) => put(id, { ports: [{ port: 80 }] }));
const names = (...all: string[]): Change[] => made(...all.map((name) => service(name)));

describe('VipLoop', () => {
  let world: LoopWorld;
  let replica: Replica;
  let loop: VipLoop;
  let runner: LoopRunner;

  /** A new process of the zone's control plane, with these ranges, that takes the lead and settles. */
  async function start(ranges: Record<string, string> = DEFAULTS): Promise<void> {
    loop = new VipLoop({ ranges: rangesOf(ranges), rest: REST });
    replica = world.replica();
    runner = await replica.lead([loop]);
    await replica.settle();
  }
  beforeEach(() => (world = new LoopWorld()));
  afterEach(() => world.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await world.write(...changes);
    await replica.settle();
  };
  const vip = async (id: Identity | string): Promise<unknown> => {
    const row = await world.get(typeof id === 'string' ? service(id) : id);
    const held = row?.status?.['vip'];
    if (held === undefined) return undefined;
    return (held as JsonObject)['type'] === 'Kuma' ? (held as JsonObject)['ip'] : held;
  };
  const vips = (...ids: string[]): Promise<unknown[]> => Promise.all(ids.map(vip));
  const pass = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    await replica.settle();
  };

  it('T001-01 T001-04 a service is stored without an address and gets one soon after', async () => {
    await start();
    await world.write(...names('redis'));
    expect(await vip('redis')).toBeUndefined();
    await replica.settle();
    expect((await world.get(service('redis')))?.status).toEqual({ vip: { ip: '241.0.0.0', type: 'Kuma' } });
  });

  it('T001-09 each kind from its own range, copies from other zones as well, one pool over all meshes (peers 29)', async () => {
    await start();
    const external = { kind: 'MeshExternalService', mesh: 'default', zone: 'east', namespace: '', name: 'redis' };
    const multizone = { kind: 'MeshMultiZoneService', mesh: 'default', zone: '', namespace: '', name: 'redis' };
    const all = [
      service('redis'),
      service('redis', { mesh: 'other' }),
      service('redis', { zone: 'west' }),
      external,
      multizone,
    ];
    await apply(...made(...all));
    expect(await Promise.all(all.map(vip))).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2', '242.0.0.0', '243.0.0.0']);
  });

  it('T001-02 a copy that a Kubernetes zone made gets an address of this zone', async () => {
    await start();
    const copy = service('redis', { zone: 'k8s-1' });
    await apply(put(copy, {}, { 'kuma.io/env': 'kubernetes', 'kuma.io/zone': 'k8s-1' }));
    expect(await vip(copy)).toBe('241.0.0.0');
  });

  it('T001-03 an address of Kubernetes is left alone, and handed to nobody', async () => {
    const given = (ip: string): JsonObject => ({ vip: { ip, type: 'Kubernetes' } });
    await world.write(...names('a', 'b'));
    await world.write(
      { type: 'patch', id: service('a'), expect: 'any', status: given('10.0.0.1') },
      { type: 'patch', id: service('b'), expect: 'any', status: given('241.0.0.0') },
    );
    await start();
    await apply(...names('c'));
    expect(await vips('a', 'b', 'c')).toEqual([given('10.0.0.1')['vip'], given('241.0.0.0')['vip'], '241.0.0.1']);
  });

  it('T001-05 I8 two leaders: what the older one has planned is not written', async () => {
    await start();
    const [older, olderRunner] = [replica, runner];
    await start();
    await world.write(...names('a'));
    await expect(olderRunner.step()).rejects.toThrow('epoch');
    await replica.settle();
    await older.caughtUp();
    expect(await vip('a')).toBe('241.0.0.0');
  });

  it('T001-05 I1 two that both hold the lead write in turn: the store refuses what is taken, and both learn', async () => {
    await start();
    const [first, firstRunner] = [replica, runner];
    await start();
    const second = replica;
    // A bug or a split brain: the epoch of both stands, one after the other.
    const { leader } = world.disk;
    for (let round = 0; round < 20; round++) {
      await world.write(...names(`x${round}`, `y${round}`));
      world.disk.leader = { ...leader, epoch: round % 2 === 0 ? 1 : 2, holder: 'a' };
      await (round % 2 === 0 ? firstRunner : runner).step();
      world.disk.leader = { ...leader, epoch: round % 2 === 0 ? 2 : 1, holder: 'a' };
    }
    world.disk.leader = leader;
    await second.settle();
    await first.caughtUp();
    const held = [...second.index.ofKind('MeshService')].map(({ status }) => (status?.['vip'] as JsonObject)['ip']);
    expect(held).toHaveLength(40);
    expect(new Set(held).size).toBe(40);
  });

  it('I1 vip-taken: an address that somebody took between plan and write is learnt, and the next one tried', async () => {
    await start();
    await world.write(...names('thief'));
    await replica.settle();
    const write = replica.store.write.bind(replica.store);
    let once = true;
    replica.store.write = async (request) => {
      if (request.fence && once)
        await world.write({ type: 'patch', id: service('thief'), expect: 'any', vip: '241.0.0.1' });
      once = false;
      return write(request);
    };
    await apply(...names('a', 'b'));
    expect(await vips('thief', 'a', 'b')).toEqual(['241.0.0.0', '241.0.0.3', '241.0.0.2']);
    expect(runner.stats.loops['vip']).toMatchObject({ refused: 1 });
  });

  it('T001-06 the next address is the one after the highest handed out, not a gap', async () => {
    await world.write(...names('a', 'b'));
    for (const [name, ip] of [
      ['a', '241.0.0.1'],
      ['b', '241.0.0.3'],
    ] as const) {
      await world.write({
        type: 'patch',
        id: service(name),
        expect: 'any',
        vip: ip,
        status: { vip: { ip, type: 'Kuma' } },
      });
    }
    await start();
    await apply(...names('c', 'd'));
    expect(await vips('a', 'b', 'c', 'd')).toEqual(['241.0.0.1', '241.0.0.3', '241.0.0.4', '241.0.0.5']);
  });

  it('T001-07 I1 a freed address rests, by the store’s clock, also across a change of leader (peers 32)', async () => {
    await start({ MeshService: '10.0.0.0/31' });
    await apply(...names('a', 'b'));
    await apply(remove(service('a')));
    await apply(...names('c'));
    expect(await vip('c')).toBeUndefined();
    await start({ MeshService: '10.0.0.0/31' });
    await pass(REST - 1);
    expect(await vip('c')).toBeUndefined();
    await pass(1);
    expect(await vip('c')).toBe('10.0.0.0');
  });

  it('T001-07 I1 a jump of this machine’s clock ends no rest', async () => {
    await start({ MeshService: '10.0.0.0/32' });
    await apply(...names('a'));
    await apply(remove(service('a')), ...names('b'));
    const jumped = loop.plan(world.clock.now() + 3_600_000, world.clock.elapsed());
    expect(jumped?.changes).toEqual([]);
    await pass(REST);
    expect(await vip('b')).toBe('10.0.0.0');
  });

  it('T001-08 there is no other store of addresses: another leader finds them in the rows', async () => {
    await start();
    await apply(...names('a', 'b'));
    const { revision } = world;
    await start();
    expect(world.revision).toBe(revision);
    expect(await vips('a', 'b')).toEqual(['241.0.0.0', '241.0.0.1']);
  });

  it('T001-10 the seed’s range is 240/4 without the other kinds’', async () => {
    await start({ ...DEFAULTS, MeshService: '241.0.0.0/4' });
    await apply(...names('a'));
    expect(await vip('a')).toBe('240.0.0.0');
    expect(loop.figures['MeshService']?.size).toBe(2n ** 28n - 2n * 2n ** 24n - 1n);
  });

  it('I2 deleted and created again: the same address, however many came between (peers 30; Kuma gives the next)', async () => {
    await start();
    await apply(...names('a', 'b'));
    await apply(remove(service('a')));
    await apply(...names('c', 'd'));
    await apply(...names('a'));
    expect(await vips('a', 'b', 'c', 'd')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2', '241.0.0.3']);
  });

  it('I2 deleted and created again between two looks', async () => {
    await start();
    await apply(...names('a', 'b'));
    await world.write(remove(service('a')));
    await world.write(...names('a', 'c'));
    await replica.settle();
    expect(await vips('a', 'b', 'c')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('I2 updates change nothing', async () => {
    await start();
    await apply(...names('a'));
    await apply(put(service('a'), { ports: [{ port: 81 }] }, { team: 'x' }));
    expect(await vip('a')).toBe('241.0.0.0');
  });

  it('the cursor is stored: another leader goes on after it, past what was freed', async () => {
    await start();
    await apply(...names('a', 'b', 'c'));
    await apply(remove(service('b')), remove(service('c')));
    world.disk.purge(world.clock.now() + 1);
    await start();
    await apply(...names('d'));
    expect(await vip('d')).toBe('241.0.0.3');
  });

  it('wraps round at the end', async () => {
    await start({ MeshService: '10.0.0.0/30' });
    await apply(...names('a', 'b', 'c'));
    await apply(remove(service('a')));
    world.disk.purge(world.clock.now() + 1);
    await start({ MeshService: '10.0.0.0/30' });
    await apply(...names('d', 'e'));
    expect(await vips('d', 'e')).toEqual(['10.0.0.3', '10.0.0.0']);
  });

  it('addresses come in the order in which services were made, whatever the order of keys', async () => {
    for (const name of ['z', 'm', 'a']) await world.write(...names(name));
    await start();
    expect(await vips('z', 'm', 'a')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('an exhausted range is a condition and a figure, and heals by itself (peers 34, 35)', async () => {
    await start({ MeshService: '10.0.0.0/31' });
    await apply(...names('a', 'b', 'c', 'd'));
    const denied = {
      type: 'VIPAllocated',
      status: 'False',
      reason: 'RangeExhausted',
      message: 'no address of 10.0.0.0-10.0.0.1 is free',
      observedGeneration: 1,
    };
    expect((await world.get(service('c')))?.status).toMatchObject({ conditions: [denied] });
    expect(loop.figures['MeshService']).toEqual({ size: 2n, used: 2, resting: 0 });
    expect(runner.nextWake).toBeUndefined();

    await apply(remove(service('a')));
    expect(loop.figures['MeshService']).toEqual({ size: 2n, used: 1, resting: 1 });
    expect(runner.nextWake).toBe(world.clock.now() + REST);
    await pass(REST);
    expect(await vips('b', 'c', 'd')).toEqual(['10.0.0.1', '10.0.0.0', undefined]);
    expect((await world.get(service('c')))?.status).toMatchObject({
      conditions: [{ status: 'True', reason: 'Allocated', message: '' }],
    });
    expect((await world.get(service('d')))?.status).toMatchObject({ conditions: [denied] });

    await start({ MeshService: '10.0.0.0/30' });
    expect(await vip('d')).toBe('10.0.0.2');
  });

  it('I10 exhausted for long writes nothing', async () => {
    await start({ MeshService: '10.0.0.0/32' });
    await apply(...names('a', 'b'));
    const { revision } = world;
    for (let i = 0; i < 5; i++) await pass(600_000);
    await start({ MeshService: '10.0.0.0/32' });
    expect(world.revision).toBe(revision);
  });

  it('another range: all move, in steps; changed back, each gets its old address and no old one goes to another early', async () => {
    const count = 2_100;
    const many = Array.from({ length: count }, (_, i) => `s${String(i).padStart(4, '0')}`);
    await start();
    await apply(...names(...many));
    const before = await vips(...many);
    expect(before[7]).toBe('241.0.0.7');
    await start({ ...DEFAULTS, MeshService: '10.1.0.0/16' });
    expect(await vips(...many)).toEqual(many.map((_, i) => `10.1.${i >> 8}.${i & 255}`));
    expect(runner.stats.loops['vip']?.writes).toBe(2);

    await world.write(...names('new'));
    await start();
    expect(await vips(...many)).toEqual(before);
    expect(await vip('new')).toBe('241.0.8.52');
    expect((await world.get(service('s0000')))?.freed).toEqual([{ ip: '10.1.0.0', at: world.clock.now() }]);
  });

  it('two kinds swap their ranges: nobody gets what another kind still has or has just freed', async () => {
    const external = (name: string): Identity => ({
      kind: 'MeshExternalService',
      mesh: 'default',
      zone: 'east',
      namespace: '',
      name,
    });
    const [first, second] = [
      { MeshService: '10.0.0.0/30', MeshExternalService: '10.0.1.0/30' },
      { MeshService: '10.0.1.0/30', MeshExternalService: '10.0.0.0/30' },
    ];
    await start(first);
    await apply(...names('a', 'b'), ...made(external('x'), external('y')));
    await start(second);
    const ips = await Promise.all([...['a', 'b'].map((n) => service(n)), external('x'), external('y')].map(vip));
    expect(ips).toEqual(['10.0.1.2', '10.0.1.3', '10.0.0.2', '10.0.0.3']);
  });

  it('addresses in a range that is no longer configured stay until there is one to move to', async () => {
    await start({ MeshService: '10.0.0.0/30' });
    await apply(...names('a', 'b'));
    await start({ MeshService: '10.9.0.0/32' });
    expect(await vips('a', 'b')).toEqual(['10.9.0.0', '10.0.0.1']);
    expect((await world.get(service('b')))?.status).toMatchObject({
      conditions: [{ type: 'VIPAllocated', status: 'False' }],
    });
    await start({ MeshService: '10.0.0.0/30' });
    expect(await vips('a', 'b')).toEqual(['10.0.0.0', '10.0.0.1']);
    expect((await world.get(service('b')))?.status).toMatchObject({ conditions: [{ status: 'True' }] });
  });

  it('takes IPv6 ranges', async () => {
    await start({ MeshService: 'fd00:1::/64' });
    await apply(...names('a', 'b'));
    expect(await vips('a', 'b')).toEqual(['fd00:1::', 'fd00:1::1']);
  });

  it('peers 33: a conflict in the middle loses no address', async () => {
    await start();
    const write = replica.store.write.bind(replica.store);
    let conflicts = 3;
    replica.store.write = async (request) => {
      if (request.fence && conflicts-- > 0)
        await world.write(put(service('a'), { ports: [{ port: 100 + conflicts }] }));
      return write(request);
    };
    await apply(...names('a'));
    world.clock.advance(5_000);
    await apply(...names('b'));
    expect(await vips('a', 'b')).toEqual(['241.0.0.0', '241.0.0.1']);
  });

  it('a crash between two writes: the next leader goes on, and nobody has two or none', async () => {
    const many = Array.from({ length: 2_100 }, (_, i) => `s${i}`);
    await start();
    await world.write(...names(...many));
    await runner.step();
    expect((await vips(...many)).filter((ip) => ip !== undefined)).toHaveLength(2_000);
    await start();
    const ips = await vips(...many);
    expect(new Set(ips).size).toBe(2_100);
    expect(ips).not.toContain(undefined);
    expect(loop.figures['MeshService']).toMatchObject({ used: 2_100, resting: 0 });
  });

  it('a write whose end is unknown is neither lost nor done twice', async () => {
    await start();
    const write = replica.store.write.bind(replica.store);
    let lost = true;
    replica.store.write = async (request) => {
      const result = await write(request);
      if (!lost || !request.fence) return result;
      lost = false;
      replica.store.setAway(true);
      return write(request);
    };
    await world.write(...names('a', 'b'));
    await expect(replica.settle()).rejects.toThrow();
    replica.store.setAway(false);
    await replica.settle();
    await apply(...names('c'));
    expect(await vips('a', 'b', 'c')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('I10 T001-17 nothing changes, nothing is written', async () => {
    await start();
    await apply(...names('a', 'b'));
    const { revision } = world;
    await pass(600_000);
    await start();
    expect(world.revision).toBe(revision);
  });

  it('a status that shows another’s address is put right: the one made first keeps it', async () => {
    await world.write(...names('a', 'b'));
    const same: JsonObject = { vip: { ip: '241.0.0.9', type: 'Kuma' } };
    await world.write({ type: 'patch', id: service('a'), expect: 'any', vip: '241.0.0.9', status: same });
    await world.write({ type: 'patch', id: service('b'), expect: 'any', status: same });
    await start();
    expect(await vips('a', 'b')).toEqual(['241.0.0.9', '241.0.0.10']);
  });

  it('leaves the rest of the status to others', async () => {
    await start();
    await world.write(...names('a'));
    await apply({ type: 'patch', id: service('a'), expect: 'any', status: { addresses: [{ hostname: 'x' }] } });
    expect((await world.get(service('a')))?.status).toEqual({
      addresses: [{ hostname: 'x' }],
      vip: { ip: '241.0.0.0', type: 'Kuma' },
    });
  });
});
