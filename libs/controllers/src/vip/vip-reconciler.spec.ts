import type { JsonObject } from '@causeway/resources';
import { put, remove } from '../../../../test/support/loop-harness';
import { names, COOLDOWN, service, VipZone } from '../../../../test/support/vip-zone';
import { ROWS_PER_SLICE, CHANGES_PER_PLAN } from './vip-reconciler';

describe('VipLoop', () => {
  let zone: VipZone;
  beforeEach(() => (zone = new VipZone()));
  afterEach(() => zone.harness.stop());

  it('T001-01 T001-04 a service is stored without an address and gets one soon after', async () => {
    await zone.start();
    await zone.harness.write(...names('redis'));
    expect(await zone.vip('redis')).toBeUndefined();
    await zone.replica.settle();
    expect(await zone.status('redis')).toEqual({ vip: { ip: '241.0.0.0', type: 'Kuma' } });
  });

  it('T001-02 a copy that a Kubernetes zone made gets an address of this zone', async () => {
    await zone.start();
    const copy = service('redis', { zone: 'k8s-1' });
    await zone.apply(put(copy, {}, { 'kuma.io/env': 'kubernetes', 'kuma.io/zone': 'k8s-1' }));
    expect(await zone.vip(copy)).toBe('241.0.0.0');
  });

  it('T001-03 an address of Kubernetes is left alone, and handed to nobody', async () => {
    const given = (ip: string): JsonObject => ({ vip: { ip, type: 'Kubernetes' } });
    await zone.harness.write(...names('a', 'b'));
    await zone.harness.write(
      { type: 'patch', id: service('a'), expect: 'any', status: given('10.0.0.1') },
      { type: 'patch', id: service('b'), expect: 'any', status: given('241.0.0.0') },
    );
    await zone.start();
    await zone.apply(...names('c'));
    expect(await zone.vips('a', 'b', 'c')).toEqual([given('10.0.0.1')['vip'], given('241.0.0.0')['vip'], '241.0.0.1']);
  });

  it('T001-05 I8 two leaders: what the older one has planned is not written', async () => {
    await zone.start();
    const [older, olderRunner] = [zone.replica, zone.runner];
    await zone.start();
    await zone.harness.write(...names('a'));
    await expect(olderRunner.step()).rejects.toThrow('epoch');
    await zone.replica.settle();
    await older.caughtUp();
    expect(await zone.vip('a')).toBe('241.0.0.0');
  });

  it('T001-05 I1 two that both hold the lead write in turn: the store refuses what is taken, and both learn', async () => {
    await zone.start();
    const [first, firstRunner] = [zone.replica, zone.runner];
    await zone.start();
    const second = zone.replica;
    // A bug or a split brain: both leaders' epochs are valid, one after the other.
    const { leader } = zone.harness.disk;
    for (let round = 0; round < 20; round++) {
      await zone.harness.write(...names(`x${round}`, `y${round}`));
      zone.harness.disk.leader = { ...leader, epoch: round % 2 === 0 ? 1 : 2, holder: 'a' };
      await (round % 2 === 0 ? firstRunner : zone.runner).step();
      zone.harness.disk.leader = { ...leader, epoch: round % 2 === 0 ? 2 : 1, holder: 'a' };
    }
    zone.harness.disk.leader = leader;
    await second.settle();
    await first.caughtUp();
    const held = [...second.index.ofKind('MeshService')].map(({ status }) => (status?.['vip'] as JsonObject)['ip']);
    expect(held).toHaveLength(40);
    expect(new Set(held).size).toBe(40);
  });

  it('I1 vip-taken: an address that somebody took between plan and write is learnt, and the next one tried', async () => {
    await zone.start();
    await zone.harness.write(...names('thief'));
    await zone.replica.settle();
    const write = zone.replica.store.write.bind(zone.replica.store);
    let once = true;
    zone.replica.store.write = async (request) => {
      if (request.fence && once)
        await zone.harness.write({ type: 'patch', id: service('thief'), expect: 'any', vip: '241.0.0.1' });
      once = false;
      return write(request);
    };
    await zone.apply(...names('a', 'b'));
    expect(await zone.vips('thief', 'a', 'b')).toEqual(['241.0.0.0', '241.0.0.3', '241.0.0.2']);
    expect(zone.runner.stats.loops['vip']).toMatchObject({ refused: 1 });
  });

  it('T001-06 the next address is the one after the highest handed out, not a gap', async () => {
    await zone.harness.write(...names('a', 'b'));
    for (const [name, ip] of [
      ['a', '241.0.0.1'],
      ['b', '241.0.0.3'],
    ] as const) {
      await zone.harness.write({
        type: 'patch',
        id: service(name),
        expect: 'any',
        vip: ip,
        status: { vip: { ip, type: 'Kuma' } },
      });
    }
    await zone.start();
    await zone.apply(...names('c', 'd'));
    expect(await zone.vips('a', 'b', 'c', 'd')).toEqual(['241.0.0.1', '241.0.0.3', '241.0.0.4', '241.0.0.5']);
  });

  it('T001-07 I1 a freed address cools down, by the store’s clock, also across a change of leader (peers 32)', async () => {
    await zone.start({ MeshService: '10.0.0.0/31' });
    await zone.apply(...names('a', 'b'));
    await zone.apply(remove(service('a')));
    await zone.apply(...names('c'));
    expect(await zone.vip('c')).toBeUndefined();
    await zone.start({ MeshService: '10.0.0.0/31' });
    await zone.pass(COOLDOWN - 1);
    expect(await zone.vip('c')).toBeUndefined();
    await zone.pass(1);
    expect(await zone.vip('c')).toBe('10.0.0.0');
  });

  it('T001-07 I1 a jump of this machine’s clock ends no cooldown', async () => {
    await zone.start({ MeshService: '10.0.0.0/32' });
    await zone.apply(...names('a'));
    await zone.apply(remove(service('a')), ...names('b'));
    const jumped = zone.loop.plan(zone.harness.clock.now() + 3_600_000, zone.harness.clock.elapsed());
    expect(jumped?.changes).toEqual([]);
    await zone.pass(COOLDOWN);
    expect(await zone.vip('b')).toBe('10.0.0.0');
  });

  it('T001-08 there is no other store of addresses: another leader finds them in the rows', async () => {
    await zone.start();
    await zone.apply(...names('a', 'b'));
    const { revision } = zone.harness;
    await zone.start();
    expect(zone.harness.revision).toBe(revision);
    expect(await zone.vips('a', 'b')).toEqual(['241.0.0.0', '241.0.0.1']);
  });

  it('I2 deleted and created again: the same address, however many came between (peers 30; Kuma gives the next)', async () => {
    await zone.start();
    await zone.apply(...names('a', 'b'));
    await zone.apply(remove(service('a')));
    await zone.apply(...names('c', 'd'));
    await zone.apply(...names('a'));
    expect(await zone.vips('a', 'b', 'c', 'd')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2', '241.0.0.3']);
  });

  it('I2 deleted and created again between two looks', async () => {
    await zone.start();
    await zone.apply(...names('a', 'b'));
    await zone.harness.write(remove(service('a')));
    await zone.harness.write(...names('a', 'c'));
    await zone.replica.settle();
    expect(await zone.vips('a', 'b', 'c')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('I2 updates change nothing', async () => {
    await zone.start();
    await zone.apply(...names('a'));
    await zone.apply(put(service('a'), { ports: [{ port: 81 }] }, { team: 'x' }));
    expect(await zone.vip('a')).toBe('241.0.0.0');
  });

  it('the cursor is stored: another leader goes on after it, past what was freed', async () => {
    await zone.start();
    await zone.apply(...names('a', 'b', 'c'));
    await zone.apply(remove(service('b')), remove(service('c')));
    zone.harness.disk.purge(zone.harness.clock.now() + 1);
    await zone.start();
    await zone.apply(...names('d'));
    expect(await zone.vip('d')).toBe('241.0.0.3');
  });

  it('addresses come in the order in which services were made, whatever the order of keys', async () => {
    for (const name of ['z', 'm', 'a']) await zone.harness.write(...names(name));
    await zone.start();
    expect(await zone.vips('z', 'm', 'a')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('peers 33: a conflict in the middle loses no address', async () => {
    await zone.start();
    const write = zone.replica.store.write.bind(zone.replica.store);
    let conflicts = 3;
    zone.replica.store.write = async (request) => {
      if (request.fence && conflicts-- > 0)
        await zone.harness.write(put(service('a'), { ports: [{ port: 100 + conflicts }] }));
      return write(request);
    };
    await zone.apply(...names('a'));
    zone.harness.clock.advance(5_000);
    await zone.apply(...names('b'));
    expect(await zone.vips('a', 'b')).toEqual(['241.0.0.0', '241.0.0.1']);
  });

  it('a crash between two writes: the next leader goes on, and nobody has two or none', async () => {
    const many = Array.from({ length: CHANGES_PER_PLAN + 100 }, (_, i) => `s${i}`);
    await zone.start();
    await zone.harness.write(...names(...many));
    await zone.runner.step();
    expect((await zone.vips(...many)).filter((ip) => ip !== undefined)).toHaveLength(CHANGES_PER_PLAN);
    await zone.start();
    const ips = await zone.vips(...many);
    expect(new Set(ips).size).toBe(many.length);
    expect(ips).not.toContain(undefined);
    expect(zone.metrics()).toMatchObject({ used: many.length, cooling: 0 });
  });

  it('while everything is booked anew the figures are those of before', async () => {
    await zone.start();
    await zone.apply(...names(...Array.from({ length: ROWS_PER_SLICE }, (_, i) => `s${i}`)));
    zone.loop.reset(zone.replica.index);
    expect(zone.metrics()).toMatchObject({ used: ROWS_PER_SLICE });
    expect(zone.loop.plan(0, 0)?.more).toBe(true);
    expect(zone.metrics()).toMatchObject({ used: ROWS_PER_SLICE });
  });

  it('a write whose end is unknown is neither lost nor done twice', async () => {
    await zone.start();
    const write = zone.replica.store.write.bind(zone.replica.store);
    let lost = true;
    zone.replica.store.write = async (request) => {
      const result = await write(request);
      if (!lost || !request.fence) return result;
      lost = false;
      zone.replica.store.setAway(true);
      return write(request);
    };
    await zone.harness.write(...names('a', 'b'));
    await expect(zone.replica.settle()).rejects.toThrow();
    zone.replica.store.setAway(false);
    await zone.replica.settle();
    await zone.apply(...names('c'));
    expect(await zone.vips('a', 'b', 'c')).toEqual(['241.0.0.0', '241.0.0.1', '241.0.0.2']);
  });

  it('I10 T001-17 nothing changes, nothing is written', async () => {
    await zone.start();
    await zone.apply(...names('a', 'b'));
    const { revision } = zone.harness;
    await zone.pass(600_000);
    await zone.start();
    expect(zone.harness.revision).toBe(revision);
  });

  it('a status that shows another’s address is put right: the one made first keeps it', async () => {
    await zone.harness.write(...names('a', 'b'));
    const same: JsonObject = { vip: { ip: '241.0.0.9', type: 'Kuma' } };
    await zone.harness.write({ type: 'patch', id: service('a'), expect: 'any', vip: '241.0.0.9', status: same });
    await zone.harness.write({ type: 'patch', id: service('b'), expect: 'any', status: same });
    await zone.start();
    expect(await zone.vips('a', 'b')).toEqual(['241.0.0.9', '241.0.0.10']);
  });

  it('leaves the rest of the status to others', async () => {
    await zone.start();
    await zone.harness.write(...names('a'));
    await zone.apply({ type: 'patch', id: service('a'), expect: 'any', status: { addresses: [{ hostname: 'x' }] } });
    expect(await zone.status('a')).toEqual({
      addresses: [{ hostname: 'x' }],
      vip: { ip: '241.0.0.0', type: 'Kuma' },
    });
  });
});
