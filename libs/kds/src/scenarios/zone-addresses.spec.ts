import { coreKinds } from '@causeway/kinds';
import { hashName } from '@causeway/naming/testing';
import type { JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { KumaGlobal } from '../../../../test/support/kuma-global';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { meshesOf } from '../../../../test/support/meshes';
import { joinedMesh, type JoinedMesh, TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { createZoneLifecycleLoop, type ZoneLifecycleLoop } from '../global/zones/zone-lifecycle-loop';
import { toClusterConfig } from '../session/kuma-incarnation';
import type { WireResource } from '../wire/wire-resource';
import { untilSoon } from '../../../../test/support/until';

const ADDRESS = { address: '192.0.2.10', port: 10001 };
const INGRESS = { networking: { address: '10.0.0.1', port: 10001, advertisedAddress: 'e.example', advertisedPort: 1 } };
const EGRESS = { networking: { address: '10.0.0.2', port: 10002 } };
const IDENTITY = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
const LOST = { policy: 'withdraw', after: 600_000 } as const;

const trust = (pem: string): JsonObject => ({
  trustDomain: 'default.east.mesh.local',
  caBundles: [{ type: 'Pem', pem: { value: pem } }],
});

/** A resource of mesh default as Kuma zone kz sends it. */
function ofKumaZone(kind: string, name: string, spec: JsonObject, mesh = 'default'): WireResource {
  const labels = {
    'kuma.io/display-name': name,
    'kuma.io/origin': 'zone',
    'kuma.io/zone': 'kz',
    ...(mesh === '' ? {} : { 'kuma.io/mesh': mesh }),
  };
  return { kind, mesh, name: hashName(mesh, name, 'kz'), labels, spec };
}

const IN_KZ = { mesh: 'default', zone: 'kz', namespace: '' };

describe('where a zone is entered', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;
  let keeper: ZoneLifecycleLoop;

  beforeEach(async () => {
    global = new TestGlobal({ clock });
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    const epoch = (await new MemoryLease(global.disk).takeOver(0, 'global-1', 1_000_000_000)) ?? 0;
    const { store, sessions, index } = global;
    const term = { epoch, holder: 'global-1', signal: new AbortController().signal };
    keeper = createZoneLifecycleLoop({
      store,
      sessions,
      index,
      meshes: meshesOf(index),
      registry: coreKinds,
      clock,
      logger: silentLogger,
      term,
      lost: LOST,
    });
    await Promise.all([east.join(global), west.join(global)]);
    await east.put('MeshZoneAddress', 'front', ADDRESS);
    await east.put('ZoneIngress', 'front', INGRESS);
    await Promise.all([west.holds(address()), west.holds(ingress())]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  const address = () => east.id('MeshZoneAddress', 'front');
  const ingress = () => east.id('ZoneIngress', 'front');
  const lacksBoth = () => Promise.all([west.lacks(address()), west.lacks(ingress())]);
  const holdsBoth = () => Promise.all([west.holds(address()), west.holds(ingress())]);

  it('is known in every zone, changes and goes with its origin', async () => {
    const [held] = await holdsBoth();
    expect(held).toMatchObject({ spec: ADDRESS, labels: { 'kuma.io/zone': 'east', 'kuma.io/origin': 'global' } });
    await east.put('MeshZoneAddress', 'front', { ...ADDRESS, port: 10002 });
    await west.holds(address(), ({ spec }) => spec['port'] === 10002);
    await east.delete('MeshZoneAddress', 'front');
    await east.delete('ZoneIngress', 'front');
    await lacksBoth();
  });

  it('names the zone of origin, whatever the zone says (I6)', async () => {
    expect((await west.holds(ingress())).spec).toEqual({ ...INGRESS, zone: 'east' });
    await east.put('ZoneIngress', 'posing', { ...INGRESS, zone: 'west' });
    const held = await west.holds(east.id('ZoneIngress', 'posing'));
    expect(held.spec).toEqual({ ...INGRESS, zone: 'east' });
    expect(west.names('ZoneIngress')).toEqual(['east/front', 'east/posing']);
  });

  it('a ZoneEgress goes to the global with its zone, and to no other zone', async () => {
    const egress = east.id('ZoneEgress', 'out');
    await east.put('ZoneEgress', 'out', { ...EGRESS, zone: 'west' });
    await east.put('ZoneIngress', 'later', INGRESS);
    expect((await global.holds(egress)).spec).toEqual({ ...EGRESS, zone: 'east' });
    await west.holds(east.id('ZoneIngress', 'later'));
    expect(west.names('ZoneEgress')).toEqual([]);
    await east.delete('ZoneEgress', 'out');
    await global.lacks(egress);
  });

  it('is nobody’s business while the zone is disabled', async () => {
    await global.put('Zone', 'east', { enabled: false });
    await lacksBoth();
    await global.put('Zone', 'east', { enabled: true });
    await holdsBoth();
  });

  it('is not sent while its proxy is gone, over sessions', async () => {
    const withdraw = async (isGone: boolean): Promise<void> => {
      const conditions = isGone ? [{ type: 'Withdrawn', status: 'True' }] : [];
      const change = { type: 'patch', id: ingress(), expect: 'any', status: { conditions } } as const;
      await east.store.write({ changes: [change], onRefusal: 'skip' });
    };
    await withdraw(true);
    await west.lacks(ingress());
    await withdraw(false);
    await holdsBoth();
    await east.leave();
    await withdraw(true);
    await east.join(global);
    await west.lacks(ingress());
    await east.leave();
    await withdraw(false);
    await east.join(global);
    await holdsBoth();
  });

  it('is withdrawn while the zone or the address is quarantined', async () => {
    await global.put('Zone', 'east', { quarantine: { resources: [{ type: 'MeshZoneAddress', name: 'front' }] } });
    await keeper.round();
    await west.lacks(address());
    expect(west.get(ingress())).toBeDefined();
    // East has nothing to send of this kind meanwhile, and the global asks for it again.
    await global.put('Zone', 'east', {});
    await holdsBoth();
    await global.put('Zone', 'east', { quarantine: { all: true } });
    await lacksBoth();
  });

  it('is withdrawn when the zone is lost and that is the policy', async () => {
    await east.leave();
    await global.left('east');
    await keeper.round();
    clock.advance(LOST.after);
    await keeper.round();
    await lacksBoth();
    await east.join(global);
    await global.report('east', 'MeshService', 'up');
    await keeper.round();
    await holdsBoth();
  });

  it('goes when the zone is deleted', async () => {
    await east.leave();
    await global.left('east');
    await global.delete('Zone', 'east');
    await lacksBoth();
    await keeper.round();
    await Promise.all([global.lacks(address()), global.lacks(ingress())]);
  });

  it('is exchanged with Kuma zones: theirs here, ours there, nobody his own', async () => {
    const [kz, k2] = [new KumaZone('kz'), new KumaZone('k2')];
    const theirs = { networking: { address: '10.1.0.1', port: 10001 } };
    kz.tell(global, {
      MeshZoneAddress: [ofKumaZone('MeshZoneAddress', 'back', { ...ADDRESS, later: true })],
      ZoneIngress: [ofKumaZone('ZoneIngress', 'back', theirs, '')],
      ZoneEgress: [ofKumaZone('ZoneEgress', 'away', EGRESS, '')],
    });
    const held = await west.holds({ ...IN_KZ, kind: 'MeshZoneAddress', name: 'back' });
    expect(held.spec).toEqual({ ...ADDRESS, later: true });
    await west.holds({ kind: 'ZoneIngress', mesh: '', zone: 'kz', namespace: '', name: 'back' });
    const left = await global.holds({ kind: 'ZoneEgress', mesh: '', zone: 'kz', namespace: '', name: 'away' });
    expect(left.spec).toEqual({ ...EGRESS, zone: 'kz' });
    const kinds = ['MeshZoneAddress', 'ZoneIngress'];
    [kz, k2].forEach((zone) => zone.ask(global, kinds));
    const said = async (zone: KumaZone) => {
      const all = await Promise.all(kinds.map((kind) => zone.firstResources(kind)));
      return all.flatMap((each) => each.map(({ labels, spec }) => [labels['kuma.io/zone'], spec]).sort());
    };
    const ours = [
      ['east', ADDRESS],
      ['east', { ...INGRESS, zone: 'east' }],
    ] as const;
    expect(await said(kz)).toEqual(ours);
    expect(await said(k2)).toEqual([
      ours[0],
      ['kz', { ...ADDRESS, later: true }],
      ours[1],
      ['kz', { ...theirs, zone: 'kz' }],
    ]);
    [kz, k2].forEach((zone) => zone.leave());
  });
});

describe('whom zones believe, and who gets which id', () => {
  let mesh: JoinedMesh;
  let global: TestGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    mesh = await joinedMesh();
    ({ global, east, west } = mesh);
  });
  afterEach(() => mesh.close());

  it("a zone's own goes up and stops; the global's reach every zone and are not sent back", async () => {
    await east.put('MeshTrust', 'own', trust(EAST_AUTHORITY));
    await east.put('MeshIdentity', 'own', IDENTITY);
    const own = await global.holds(east.id('MeshTrust', 'own'));
    await global.holds(east.id('MeshIdentity', 'own'));
    const labels = { 'causeway.io/derived-from': own.uid };
    await global.put('MeshTrust', 'east-derived', trust(EAST_AUTHORITY), labels);
    await global.put('MeshIdentity', 'identity', IDENTITY);
    for (const zone of [east, west]) {
      expect((await zone.holds(global.id('MeshTrust', 'east-derived'))).labels).toMatchObject(labels);
      await zone.holds(global.id('MeshIdentity', 'identity'));
    }
    // A later change of east's own has come back through the global: so has everything before it.
    await east.put('MeshTrust', 'own', trust(NEXT_EAST_AUTHORITY));
    await global.holds(own.id, ({ generation }) => generation === 2);
    await global.put('MeshTrust', 'last', trust(EAST_AUTHORITY));
    await west.holds(global.id('MeshTrust', 'last'));
    expect(west.names('MeshTrust')).toEqual(['east-derived', 'last']);
    expect(global.names('MeshTrust')).toEqual(['east-derived', 'east/own', 'last']);
    expect([west.names('MeshIdentity'), global.names('MeshIdentity')]).toEqual([
      ['identity'],
      ['east/own', 'identity'],
    ]);
  });

  it('what a zone marks as derived never leaves it', async () => {
    await east.put('MeshTrust', 'marked', trust(EAST_AUTHORITY), { 'causeway.io/derived-from': 'another' });
    await east.put('MeshTrust', 'own', trust(EAST_AUTHORITY));
    await global.holds(east.id('MeshTrust', 'own'));
    expect(global.names('MeshTrust')).toEqual(['east/own']);
  });

  it('a Kuma zone gets the identities of the global in its language, every trust of the global, and of no zone', async () => {
    const kz = new KumaZone('kz');
    const made = { ...trust(EAST_AUTHORITY), origin: { kri: 'kri_mid_default_kz__identity_' }, later: 1 };
    kz.tell(global, { MeshTrust: [ofKumaZone('MeshTrust', 'of-kz', made)] });
    const held = await global.holds({ ...IN_KZ, kind: 'MeshTrust', name: 'of-kz' });
    expect(held.spec).toEqual(made);
    await east.put('MeshTrust', 'own', trust(EAST_AUTHORITY));
    await global.holds(east.id('MeshTrust', 'own'));
    await global.put('MeshTrust', 'east-derived', trust(EAST_AUTHORITY), { 'causeway.io/derived-from': 'x' });
    await global.put('MeshIdentity', 'identity', IDENTITY);
    kz.ask(global, ['MeshIdentity', 'MeshTrust']);
    const [identity] = await kz.firstResources('MeshIdentity');
    expect(identity?.spec).toEqual({
      ...IDENTITY,
      provider: { type: 'Bundled', bundled: { insecureAllowSelfSigned: true, autogenerate: { enabled: true } } },
    });
    const trusts = await kz.firstResources('MeshTrust');
    expect(trusts.map(({ labels, spec }) => [labels['kuma.io/display-name'], spec])).toEqual([
      ['east-derived', trust(EAST_AUTHORITY)],
    ]);
    kz.leave();
  });
});

describe('identities and addresses under a Kuma global', () => {
  const KINDS = ['MeshZoneAddress', 'ZoneIngress', 'MeshTrust', 'MeshIdentity'];
  let kuma: KumaGlobal;
  let east: TestZone;
  let west: TestZone;

  beforeEach(async () => {
    kuma = new KumaGlobal(KINDS);
    const labels = { 'kuma.io/origin': 'global' };
    const ofGlobal = (kind: string, spec: JsonObject): WireResource => ({
      kind,
      mesh: 'default',
      name: hashName('default', 'of-global'),
      spec,
      labels: { ...labels, 'kuma.io/display-name': 'of-global', 'kuma.io/mesh': 'default' },
    });
    kuma.state.set('Config', [toClusterConfig('cluster-1')]);
    kuma.state.set('Mesh', [{ kind: 'Mesh', mesh: '', name: 'default', labels, spec: {} }]);
    kuma.state.set('MeshTrust', [ofGlobal('MeshTrust', { ...trust(EAST_AUTHORITY), later: true })]);
    kuma.state.set('MeshIdentity', [ofGlobal('MeshIdentity', IDENTITY)]);
    await kuma.serve();
    [east, west] = [new TestZone('east'), new TestZone('west')];
    await Promise.all([east.join(kuma), west.join(kuma)]);
  });

  afterEach(async () => {
    await Promise.all([east.close(), west.close()]);
    kuma.close();
  });

  it('its identities and trusts are taken in, with what we do not know of', async () => {
    const id = { kind: 'MeshTrust', mesh: 'default', zone: '', namespace: '', name: 'of-global' };
    expect((await east.holds(id)).spec).toEqual({ ...trust(EAST_AUTHORITY), later: true });
    await east.holds({ ...id, kind: 'MeshIdentity' });
    expect(kuma.nacks).toEqual([]);
  });

  it('an address of ours goes up in its language, and comes to the other zone', async () => {
    await east.put('MeshZoneAddress', 'front', ADDRESS);
    await east.put('ZoneIngress', 'front', INGRESS);
    await east.put('ZoneEgress', 'out', EGRESS);
    const [address, ingress] = await Promise.all([
      west.holds(east.id('MeshZoneAddress', 'front')),
      west.holds(east.id('ZoneIngress', 'front')),
    ]);
    expect([address.spec, ingress.spec]).toEqual([ADDRESS, INGRESS]);
    expect(kuma.nacks).toEqual([]);
  });

  it("a zone that is sent another zone's trust refuses it: Kuma passes on none", async () => {
    await east.put('MeshTrust', 'own', trust(EAST_AUTHORITY));
    await untilSoon(() => kuma.nacks.length > 0);
    expect(kuma.nacks[0]).toContain('it belongs to zone "east"');
    expect(west.names('MeshTrust')).toEqual(['of-global']);
  });
});
