import { poolReports } from '../zone-reconcilers';
import { globalIdentity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { put, remove } from '../../../../test/support/loop-harness';
import { COOLDOWN, made, service, VipZone } from '../../../../test/support/vip-zone';
import type { VipReconciler } from './vip-reconciler';

const RANGES = { MeshService: '10.0.0.0/24', MeshExternalService: '10.1.0.0/24' };
const SHOP = '10.9.0.0/30';

/** A Mesh whose parameters have its name. */
function mesh(name: string, parameters: JsonObject, rest: JsonObject = {}): Change[] {
  const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name };
  return [put(globalIdentity('Mesh', name), { parametersRef, ...rest }), given(name, parameters)];
}

function given(name: string, parameters: JsonObject): Change {
  return put(globalIdentity('MeshParameters', name), parameters);
}

const range = (MeshService: string): JsonObject => ({ vipRanges: { MeshService } });
const shop = (name: string) => service(name, { mesh: 'shop' });
const bank = (name: string) => service(name, { mesh: 'bank' });

describe('virtual IPs by mesh', () => {
  let zone: VipZone;
  beforeEach(() => (zone = new VipZone()));
  afterEach(() => zone.harness.stop());

  const vips = (...ids: readonly ReturnType<typeof service>[]): Promise<unknown[]> =>
    Promise.all(ids.map((id) => zone.vip(id)));
  const loop = (): VipReconciler => zone.loop as VipReconciler;

  it('T000-39 services of one name in two meshes: each from the range of its mesh, others from the zone’s', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range(SHOP)), ...mesh('bank', range('10.0.0.0/25')));
    await zone.apply(...made(shop('a'), bank('a'), service('a')));
    expect(await vips(shop('a'), bank('a'), service('a'))).toEqual(['10.9.0.0', '10.0.0.0', '10.0.0.128']);
    expect(poolReports([zone.loop], zone.harness.clock.now())).toEqual([
      { kind: 'MeshService', size: 128n, used: 1, cooling: 0 },
      { kind: 'MeshExternalService', size: 256n, used: 0, cooling: 0 },
      { kind: 'MeshService', mesh: 'shop', size: 4n, used: 1, cooling: 0 },
      { kind: 'MeshService', mesh: 'bank', size: 128n, used: 1, cooling: 0 },
    ]);
  });

  it('T000-24 parameters take effect at once: services move, the addresses that they left cool down', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', {}));
    await zone.apply(...made(shop('a'), shop('b'), service('c')));
    expect(await vips(shop('a'), shop('b'), service('c'))).toEqual(['10.0.0.0', '10.0.0.1', '10.0.0.2']);
    await zone.apply(given('shop', range(SHOP)));
    expect(await vips(shop('a'), shop('b'), service('c'))).toEqual(['10.9.0.0', '10.9.0.1', '10.0.0.2']);
    expect(zone.metrics()).toMatchObject({ used: 1, cooling: 2 });
    await zone.apply(given('shop', {}));
    expect(await vips(shop('a'), shop('b'))).toEqual(['10.0.0.0', '10.0.0.1']);
  });

  it('I10 what does not change the ranges rebuilds nothing, and what changes them writes only what moves', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range(SHOP)), ...made(shop('a'), service('b')));
    const { revision } = zone.harness;
    const pools = loop()['buffer'].newest.allocator;
    await zone.apply(given('shop', { ...range(SHOP), exportDefault: 'None' }), ...mesh('bank', {}));
    expect([loop()['buffer'].newest.allocator === pools, zone.harness.revision]).toEqual([true, revision + 3]);
    await zone.apply(given('bank', range('10.8.0.0/24')));
    expect([loop()['buffer'].newest.allocator === pools, zone.harness.revision]).toEqual([false, revision + 4]);
  });

  it('T000-35 a Mesh that is rejected keeps its addresses; new services get those of the zone; flipping moves nobody twice', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range(SHOP)), ...made(shop('a'), shop('b')));
    const before = await vips(shop('a'), shop('b'));
    const broken = given('shop', { vipRanges: { MeshService: 'banana' } });
    for (let i = 0; i < 3; i++) {
      await zone.apply(broken);
      expect(await vips(shop('a'), shop('b'))).toEqual(before);
      await zone.apply(given('shop', range(SHOP)));
      expect(await vips(shop('a'), shop('b'))).toEqual(before);
    }
    await zone.apply(broken, ...made(shop('c')));
    expect(await vips(shop('c'))).toEqual(['10.0.0.0']);
    await zone.start(RANGES);
    expect(await vips(shop('a'), shop('b'), shop('c'))).toEqual([...before, '10.0.0.0']);
    await zone.apply(given('shop', range(SHOP)));
    expect(await vips(shop('a'), shop('b'), shop('c'))).toEqual([...before, '10.9.0.2']);
  });

  it('I1 an address that a rejected Mesh keeps is nobody else’s, whoever has its range meanwhile', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range('10.9.0.0/31')), ...made(shop('a')));
    await zone.apply(given('shop', range('banana')), ...mesh('bank', range('10.9.0.0/31')));
    await zone.apply(...made(bank('a'), bank('b')));
    expect(await vips(shop('a'), bank('a'), bank('b'))).toEqual(['10.9.0.0', '10.9.0.1', undefined]);
    // The older mesh is corrected: the younger is rejected now, and keeps its addresses.
    await zone.apply(given('shop', range('10.9.0.0/31')));
    await zone.apply(...made(shop('b')));
    expect(await vips(shop('a'), shop('b'), bank('a'), bank('b'))).toEqual([
      '10.9.0.0',
      undefined,
      '10.9.0.1',
      '10.0.0.0',
    ]);
  });

  it.each([
    ['equal', '10.0.0.0/24', 'is the range 10.0.0.0/24 of MeshService'],
    ['larger', '10.0.0.0/16', 'contains the range 10.0.0.0/24 of MeshService'],
    ['public', '8.8.8.0/24', 'neither private nor reserved'],
  ])('a range that is %s to one of the zone is refused here: %s', async (_, wanted, message) => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range(wanted)), ...made(shop('a')));
    expect(loop()['config'].meshes?.state('shop')?.fault).toContain(
      `vipRanges of mesh "shop" are not used in this zone`,
    );
    expect(loop()['config'].meshes?.state('shop')?.fault).toContain(message);
    expect(await vips(shop('a'))).toEqual(['10.0.0.0']);
  });

  it('T000-07 a foreign Mesh: its services get no address before it is ours, and keep those that they have', async () => {
    await zone.start(RANGES);
    const foreign = mesh('shop', {}, { controllerName: 'x.io/y' });
    await zone.apply(...foreign, ...made(shop('a')));
    await zone.pass(COOLDOWN);
    expect(await zone.harness.get(shop('a'))).not.toHaveProperty('status.vip');
    await zone.apply(remove(globalIdentity('Mesh', 'shop')), ...mesh('shop', range(SHOP)));
    expect(await vips(shop('a'))).toEqual(['10.9.0.0']);
    await zone.apply(remove(globalIdentity('Mesh', 'shop')));
    await zone.apply(...foreign, ...made(shop('b')));
    expect(await vips(shop('a'), shop('b'))).toEqual(['10.9.0.0', undefined]);
    await zone.apply(remove(globalIdentity('Mesh', 'shop')), ...mesh('shop', {}));
    expect(await vips(shop('a'), shop('b'))).toEqual(['10.0.0.0', '10.0.0.1']);
  });

  it('vipCooldown holds for the addresses of its mesh, also in a range that meshes share', async () => {
    await zone.start({ MeshService: '10.0.0.0/31' });
    await zone.apply(...mesh('shop', { vipCooldown: '5m' }), ...mesh('bank', {}), ...made(shop('a'), bank('a')));
    await zone.apply(remove(shop('a')), remove(bank('a')), ...made(service('x'), service('y')));
    await zone.pass(COOLDOWN);
    expect(await vips(service('x'), service('y'))).toEqual(['10.0.0.1', undefined]);
    await zone.pass(300_000 - COOLDOWN - 1);
    expect(await zone.vip(service('y'))).toBeUndefined();
    await zone.pass(1);
    expect(await zone.vip(service('y'))).toBe('10.0.0.0');
  });

  it('a vipCooldown below twice the TTL of DNS is raised, with one warning', async () => {
    const raised: unknown[] = [];
    const rest = { leastCooldown: 20_000, onRaisedCooldown: (one: unknown) => raised.push(one) };
    await zone.start({ MeshService: '10.0.0.0/32' }, rest);
    await zone.apply(...mesh('shop', { vipCooldown: '1s' }), ...made(shop('a')));
    await zone.apply(...mesh('bank', {}), remove(shop('a')), ...made(shop('b')));
    await zone.pass(19_999);
    expect(await vips(shop('b'))).toEqual([undefined]);
    await zone.pass(1);
    expect(await vips(shop('b'))).toEqual(['10.0.0.0']);
    expect(raised).toEqual([{ mesh: 'shop', wanted: '1s', least: 20_000 }]);
  });

  it('the sequence of a mesh goes on after a take-over, and its note goes with its range', async () => {
    await zone.start(RANGES);
    await zone.apply(...mesh('shop', range('10.9.0.0/29')), ...made(shop('a'), shop('b')));
    const entries = async (): Promise<string[]> =>
      (await zone.replica.store.listMetadata('vip-cursor'))
        .filter(({ value }) => value)
        .map(({ key }) => key)
        .sort();
    expect(await entries()).toEqual(['MeshService@shop']);
    await zone.apply(remove(shop('b')));
    zone.harness.disk.purge(zone.harness.clock.now() + 1);
    await zone.start(RANGES);
    await zone.apply(...made(shop('c')));
    expect(await vips(shop('c'))).toEqual(['10.9.0.2']);
    await zone.apply(given('shop', {}));
    expect(await entries()).toEqual(['MeshService']);
  });
});
