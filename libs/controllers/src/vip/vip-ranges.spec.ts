import { remove } from '../../../../test/support/loop-harness';
import {
  DEFAULT_RANGES as DEFAULTS,
  external,
  made,
  names,
  COOLDOWN,
  service,
  VipZone,
} from '../../../../test/support/vip-zone';
import { CHANGES_PER_PLAN } from './vip-reconciler';

describe('VipLoop and its ranges', () => {
  let zone: VipZone;
  beforeEach(() => (zone = new VipZone()));
  afterEach(() => zone.harness.stop());

  it('T001-09 each kind from its own range, copies from other zones as well, one pool over all meshes (peers 29)', async () => {
    await zone.start();
    const external = { kind: 'MeshExternalService', mesh: 'default', zone: 'east', namespace: '', name: 'redis' };
    const multizone = { kind: 'MeshMultiZoneService', mesh: 'default', zone: '', namespace: '', name: 'redis' };
    const all = [
      service('redis'),
      service('redis', { mesh: 'other' }),
      service('redis', { zone: 'west' }),
      external,
      multizone,
    ];
    await zone.apply(...made(...all));
    expect(await Promise.all(all.map((id) => zone.vip(id)))).toEqual([
      '241.0.0.0',
      '241.0.0.1',
      '241.0.0.2',
      '242.0.0.0',
      '243.0.0.0',
    ]);
  });

  it('T001-10 the seed’s range is 240/4 without the other kinds’', async () => {
    await zone.start({ ...DEFAULTS, MeshService: '241.0.0.0/4' });
    await zone.apply(...names('a'));
    expect(await zone.vip('a')).toBe('240.0.0.0');
    expect((zone.metrics() as { size: bigint }).size).toBe(2n ** 28n - 2n * 2n ** 24n - 1n);
  });

  it('wraps round at the end', async () => {
    await zone.start({ MeshService: '10.0.0.0/30' });
    await zone.apply(...names('a', 'b', 'c'));
    await zone.apply(remove(service('a')));
    zone.harness.disk.purge(zone.harness.clock.now() + 1);
    await zone.start({ MeshService: '10.0.0.0/30' });
    await zone.apply(...names('d', 'e'));
    expect(await zone.vips('d', 'e')).toEqual(['10.0.0.3', '10.0.0.0']);
  });

  it('an exhausted range is a condition and a metric, and heals by itself (peers 34, 35)', async () => {
    await zone.start({ MeshService: '10.0.0.0/31' });
    await zone.apply(...names('a', 'b', 'c', 'd'));
    const denied = {
      type: 'VIPAllocated',
      status: 'False',
      reason: 'RangeExhausted',
      message: 'no address of 10.0.0.0-10.0.0.1 is free',
      observedGeneration: 1,
    };
    expect(await zone.status('c')).toMatchObject({ conditions: [denied] });
    expect(zone.metrics()).toEqual({ size: 2n, used: 2, cooling: 0 });
    expect(zone.runner.nextWake).toBeUndefined();

    await zone.apply(remove(service('a')));
    expect(zone.metrics()).toEqual({ size: 2n, used: 1, cooling: 1 });
    expect(zone.runner.nextWake).toBe(zone.harness.clock.now() + COOLDOWN);
    await zone.pass(COOLDOWN);
    expect(await zone.vips('b', 'c', 'd')).toEqual(['10.0.0.1', '10.0.0.0', undefined]);
    expect(await zone.status('c')).toMatchObject({
      conditions: [{ status: 'True', reason: 'Allocated', message: '' }],
    });
    expect(await zone.status('d')).toMatchObject({ conditions: [denied] });

    await zone.start({ MeshService: '10.0.0.0/30' });
    expect(await zone.vip('d')).toBe('10.0.0.2');
  });

  it('I10 exhausted for long writes nothing', async () => {
    await zone.start({ MeshService: '10.0.0.0/32' });
    await zone.apply(...names('a', 'b'));
    const { revision } = zone.harness;
    for (let i = 0; i < 5; i++) await zone.pass(600_000);
    await zone.start({ MeshService: '10.0.0.0/32' });
    expect(zone.harness.revision).toBe(revision);
  });

  it('another range: all move, in steps; changed back, each gets its old address and no old one goes to another early', async () => {
    const many = Array.from({ length: CHANGES_PER_PLAN + 100 }, (_, i) => `s${String(i).padStart(4, '0')}`);
    await zone.start();
    await zone.apply(...names(...many));
    const before = await zone.vips(...many);
    expect(before[7]).toBe('241.0.0.7');
    await zone.start({ ...DEFAULTS, MeshService: '10.1.0.0/16' });
    expect(await zone.vips(...many)).toEqual(many.map((_, i) => `10.1.${i >> 8}.${i & 255}`));
    expect(zone.runner.stats.loops['vip']?.writes).toBe(2);

    await zone.harness.write(...names('new'));
    await zone.start();
    expect(await zone.vips(...many)).toEqual(before);
    expect(await zone.vip('new')).toBe(`241.0.${many.length >> 8}.${many.length & 255}`);
    expect((await zone.harness.get(service('s0000')))?.freed).toEqual([
      { ip: '10.1.0.0', at: zone.harness.clock.now() },
    ]);
  });

  it('two kinds swap their ranges: nobody gets what another kind still has or has just freed', async () => {
    const [first, second] = [
      { MeshService: '10.0.0.0/30', MeshExternalService: '10.0.1.0/30' },
      { MeshService: '10.0.1.0/30', MeshExternalService: '10.0.0.0/30' },
    ];
    await zone.start(first);
    await zone.apply(...names('a', 'b'), ...made(external('x'), external('y')));
    await zone.start(second);
    const ips = await Promise.all(
      [...['a', 'b'].map((n) => service(n)), external('x'), external('y')].map((id) => zone.vip(id)),
    );
    expect(ips).toEqual(['10.0.1.2', '10.0.1.3', '10.0.0.2', '10.0.0.3']);
  });

  it('addresses in a range that is no longer configured stay until there is one to move to', async () => {
    await zone.start({ MeshService: '10.0.0.0/30' });
    await zone.apply(...names('a', 'b'));
    await zone.start({ MeshService: '10.9.0.0/32' });
    expect(await zone.vips('a', 'b')).toEqual(['10.9.0.0', '10.0.0.1']);
    expect(await zone.status('b')).toMatchObject({
      conditions: [{ type: 'VIPAllocated', status: 'False' }],
    });
    await zone.start({ MeshService: '10.0.0.0/30' });
    expect(await zone.vips('a', 'b')).toEqual(['10.0.0.0', '10.0.0.1']);
    expect(await zone.status('b')).toMatchObject({ conditions: [{ status: 'True' }] });
  });

  it('takes IPv6 ranges', async () => {
    await zone.start({ MeshService: 'fd00:1::/64' });
    await zone.apply(...names('a', 'b'));
    expect(await zone.vips('a', 'b')).toEqual(['fd00:1::', 'fd00:1::1']);
  });
});
