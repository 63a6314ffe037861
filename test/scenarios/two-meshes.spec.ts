import { AccessPolicy, type Caller } from '@causeway/access';
import { createConditionsReconciler, createZoneReconcilers } from '@causeway/controllers';
import { HostnameExplainer } from '@causeway/queries';
import { runLoops } from '@causeway/loops/testing';
import type { DnsServer } from '@causeway/dns';
import { createDnsServer } from '@causeway/dns/testing';
import { createZoneLifecycleLoop } from '@causeway/kds';
import type { ZoneLifecycleLoop } from '@causeway/kds/testing';
import { coreKinds } from '@causeway/kinds';
import { findCondition, isJsonArray, isJsonObject, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';
import { meshesOf, meshesOfZone } from '../support/meshes';
import { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const ORIGIN = { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east' };
const RANGES = { MeshService: '10.0.0.0/16' };
const LOST = { policy: 'keep', after: 600_000 } as const;
const NEVER = new AbortController().signal;

/** redis of east, in each of the two meshes. */
const redis = (mesh: string): Identity => ({
  kind: 'MeshService',
  mesh,
  zone: 'east',
  namespace: 'default',
  name: 'redis',
});
const [shop, bank] = [redis('shop'), redis('bank')];

describe('two meshes with the same names', () => {
  const clock = new FakeClock(1_000_000);
  let stop: AbortController;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let keeper: ZoneLifecycleLoop;
  let ended: Promise<void>;
  let dns: DnsServer;

  beforeEach(async () => {
    stop = new AbortController();
    global = new TestGlobal({ clock });
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.serve();
    for (const [name, vipRange] of Object.entries({ shop: '10.8.0.0/24', bank: '10.9.0.0/24' })) {
      await parameters(name, { vipRanges: { MeshService: vipRange } });
      await global.put('Mesh', name, { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name } });
    }
    for (const [name, template] of Object.entries({ short: '{{ name }}.mesh', long: '{{ name }}.{{ .Mesh }}.mesh' })) {
      await global.put('HostnameGenerator', name, { selector: { meshService: {} }, template });
    }
    keeper = await keep(global);
    await Promise.all([east.join(global), west.join(global)]);
    ended = leadLoops(west);
    dns = createDnsServer({ index: west.index, zone: 'west', clock: systemClock, logger: silentLogger });
    await east.write([shop, bank].map((id) => ({ type: 'put', id, expect: 'any', labels: ORIGIN, spec: SPEC })));
    await Promise.all([named(shop), named(bank)]);
  });

  afterEach(async () => {
    stop.abort();
    await ended;
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  const parameters = (name: string, spec: JsonObject): Promise<number> => global.put('MeshParameters', name, spec);
  const range = (mesh: string): JsonObject => ({
    vipRanges: { MeshService: mesh === 'shop' ? '10.8.0.0/24' : '10.9.0.0/24' },
  });

  /** Zones in order, as the leader of the global keeps them; rounds are made by the test. */
  async function keep({ disk, store, sessions, index }: TestGlobal): Promise<ZoneLifecycleLoop> {
    const epoch = (await new MemoryLease(disk).takeOver(0, 'global-1', 1_000_000_000)) ?? 0;
    const term = { epoch, holder: 'global-1', signal: stop.signal };
    const parts = { store, sessions, index, meshes: meshesOf(index), registry: coreKinds, clock };
    return createZoneLifecycleLoop({ ...parts, logger: silentLogger, term, lost: LOST });
  }

  /** The control loops of a zone that has joined. */
  async function leadLoops({ state, store, index, cp }: TestZone): Promise<void> {
    const { epoch, holder } = await state.lease.readEpoch();
    const term = { epoch, holder: holder ?? '', signal: stop.signal };
    const parts = { cp, registry: coreKinds, meshes: meshesOfZone(index, RANGES) };
    const loops = [...createZoneReconcilers({ ...parts, ranges: RANGES }), createConditionsReconciler(parts)];
    await runLoops(loops, { store, index, clock: systemClock, logger: silentLogger, term });
  }

  const vip = (id: Identity): unknown => {
    const held = west.get(id)?.status?.['vip'];
    return isJsonObject(held) ? held['ip'] : undefined;
  };
  const hostnames = (id: Identity): unknown[] => {
    const addresses = west.get(id)?.status?.['addresses'];
    const all = (isJsonArray(addresses) ? addresses : []).filter(isJsonObject);
    return all.filter(({ status }) => status === 'Available').map(({ hostname }) => hostname);
  };
  const named = (id: Identity): Promise<unknown> =>
    west.holds(id, () => vip(id) !== undefined && hostnames(id).length === 2);
  const answer = (name: string): unknown[] => {
    const { answers } = dns.lookup(name, 'A');
    return (isJsonArray(answers) ? answers : []).filter(isJsonObject).map(({ data }) => data);
  };

  it('T000-39 each has its addresses and hostnames; of one hostname the answer is stable, and explain tells them apart', async () => {
    expect([vip(shop), vip(bank)]).toEqual(['10.8.0.0', '10.9.0.0']);
    expect([hostnames(shop), hostnames(bank)].map((each) => each.slice().sort())).toEqual([
      ['redis.mesh', 'redis.shop.mesh'],
      ['redis.bank.mesh', 'redis.mesh'],
    ]);
    // Without CAUSEWAY_DNS_MESH_ORDER the first mesh by name answers.
    expect(answer('redis.mesh')).toEqual(['10.9.0.0']);
    expect([answer('redis.shop.mesh'), answer('redis.bank.mesh')]).toEqual([['10.8.0.0'], ['10.9.0.0']]);
    const explainer = new HostnameExplainer(west.index, west.cp, meshesOf(west.index));
    for (const mesh of ['shop', 'bank']) {
      const { claims } = await explainer.explain({ mesh, hostname: 'redis.mesh' }, NEVER);
      expect(claims.map(({ service, status }) => [service.mesh, status])).toEqual([[mesh, 'Available']]);
    }
    explainer.close();
  });

  it('T000-24 exportDefault of one mesh withdraws its services and no others, also in a zone that was away', async () => {
    await parameters('shop', { ...range('shop'), exportDefault: 'None' });
    await west.lacks(shop);
    expect(west.get(bank)).toBeDefined();
    await parameters('shop', range('shop'));
    await west.holds(shop);
    await west.leave();
    await global.left('west');
    await parameters('shop', { ...range('shop'), exportDefault: 'None' });
    await west.join(global);
    await west.lacks(shop);
    expect([west.get(bank), global.get(shop)].map((held) => held !== undefined)).toEqual([true, true]);
    await parameters('shop', range('shop'));
    await named(shop);
    expect(vip(shop)).toBe('10.8.0.0');
  });

  it('T000-24 lostZones of one mesh acts on its services at its time, and on no others', async () => {
    await parameters('shop', { ...range('shop'), lostZones: { policy: 'withdraw', after: '1m' } });
    await parameters('bank', { ...range('bank'), lostZones: { policy: 'depreferred' } });
    await east.leave();
    await global.left('east');
    await keeper.round();
    clock.advance(59_999);
    await keeper.round();
    expect(west.get(shop)).toBeDefined();
    clock.advance(1);
    await keeper.round();
    await west.lacks(shop);
    expect(findCondition(west.get(bank)?.status, 'OriginLost')).toBeUndefined();
    clock.advance(LOST.after - 60_000);
    await keeper.round();
    const lost = await west.holds(bank, ({ status }) => findCondition(status, 'OriginLost') !== undefined);
    expect(findCondition(lost.status, 'OriginLost')).toMatchObject({
      reason: 'Depreferred',
      message: expect.stringMatching(/^zone "east" .*; policy depreferred$/),
    });
    // A new policy takes effect while the zone is lost; the Zone's own setting wins.
    await parameters('shop', range('shop'));
    await keeper.round();
    await west.holds(shop, ({ status }) => findCondition(status, 'OriginLost')?.['reason'] === 'Kept');
    await global.put('Zone', 'east', { lost: { policy: 'withdraw' } });
    await keeper.round();
    await Promise.all([west.lacks(shop), west.lacks(bank)]);
    await east.join(global);
    await global.report('east', 'MeshService', 'up');
    await keeper.round();
    await Promise.all([named(shop), named(bank)]);
  });

  it('T000-07 a Mesh that becomes somebody else’s is not exported and has no names, until it is ours again', async () => {
    const before = [vip(shop), vip(bank)];
    await global.delete('Mesh', 'shop');
    await global.put('Mesh', 'shop', { controllerName: 'x.io/y' });
    await west.lacks(shop);
    expect(answer('redis.shop.mesh')).toEqual([]);
    // The zone's own resource has no hostname either.
    const own = { ...shop, zone: 'west' };
    const labels = { ...ORIGIN, 'kuma.io/zone': 'west' };
    await west.holds(global.id('Mesh', 'shop'), ({ spec }) => spec['controllerName'] === 'x.io/y');
    await west.write([{ type: 'put', id: own, expect: 'any', labels, spec: SPEC }]);
    await west.holds(own, ({ status }) => status?.['dataplaneProxies'] !== undefined);
    expect([vip(own), hostnames(own)]).toEqual([undefined, []]);
    await global.delete('Mesh', 'shop');
    await global.put('Mesh', 'shop', { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'shop' } });
    await until('both have addresses again', () => {
      // A zone may send only so much in a time, and the global's clock stands still otherwise.
      clock.advance(100);
      return vip(own) !== undefined && vip(shop) !== undefined;
    });
    expect([vip(shop), vip(bank)]).toEqual(before);
    expect(vip(own)).toBe('10.8.0.1');
  });

  it('T000-35 a Mesh whose parameters break keeps addresses and hostnames, back and forth', async () => {
    const before = [shop, bank].map((id) => [vip(id), hostnames(id)]);
    for (let i = 0; i < 3; i++) {
      await global.delete('MeshParameters', 'shop');
      await west.lacks(global.id('MeshParameters', 'shop'));
      // A new service has no address that it could keep: it shows that the loops have seen the change.
      const later = { ...shop, name: `later-${i}` };
      await east.write([{ type: 'put', id: later, expect: 'any', labels: ORIGIN, spec: SPEC }]);
      await west.holds(later, () => String(vip(later)).startsWith('10.0.0.'));
      expect([shop, bank].map((id) => [vip(id), hostnames(id)])).toEqual(before);
      await parameters('shop', range('shop'));
      await west.holds(later, () => String(vip(later)).startsWith('10.8.0.'));
      expect([shop, bank].map((id) => [vip(id), hostnames(id)])).toEqual(before);
    }
  });

  it('T000-39 a role bound to one mesh says nothing of the other', async () => {
    await global.put('RoleBinding', 'b', {
      role: 'viewer',
      subjects: [{ kind: 'User', name: 'anna' }],
      meshes: ['shop'],
    });
    const anna: Caller = { user: 'anna', groups: [], by: 'user-token' };
    const policy = new AccessPolicy({ registry: coreKinds, index: global.index, cp: global.cp });
    const may = [shop, bank].map((id) => policy.may(anna, ['get'], id));
    policy.close();
    expect(may).toEqual([true, false]);
  });
});
