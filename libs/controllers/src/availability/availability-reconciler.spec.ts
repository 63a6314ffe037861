import { meshAuthoritySecrets } from '@causeway/identity';
import type { Identity, JsonObject, Labels } from '@causeway/resources';
import type { Change } from '@causeway/store';
import {
  dataplane,
  idOf,
  LoopHarness,
  put,
  remove,
  tagged,
  type Replica,
  type TestInbound,
} from '../../../../test/support/loop-harness';
import { KeyedLoop } from '@causeway/loops';
import { AvailabilityReconciler } from './availability-reconciler';

const backend = idOf('MeshService', 'backend');
const ports = [{ port: 80, targetPort: 80 }];
const byTag = (tags: Labels): JsonObject => ({ selector: { dataplaneTags: tags } });
const byLabel = (matchLabels: Labels): JsonObject => ({ selector: { dataplaneLabels: { matchLabels } } });
const byRef = (name: string): JsonObject => ({ selector: { dataplaneRef: { name } } });
const inbound = (rest: JsonObject = {}): TestInbound => ({ port: 80, ...rest });

describe('AvailabilityLoop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([new KeyedLoop(new AvailabilityReconciler('east'))]);
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const counted = async (id: Identity = backend): Promise<unknown> => {
    const service = await harness.get(id);
    return [service?.status?.['dataplaneProxies'], service?.spec['state']];
  };
  const available = (total: number, healthy = total): unknown => [{ total, healthy }, 'Available'];
  const unavailable = (total: number): unknown => [{ total, healthy: 0 }, 'Unavailable'];

  // docs/reference/kuma-rest.md §9.2, §9.3; docs/reference/kuma-2.14.md §1 Matching, §3.
  const redis1 = dataplane('redis-01', [inbound()], { app: 'redis', version: 'v1' });
  const redis2 = dataplane('redis-02', [inbound()], { app: 'redis', version: 'v2' });
  const demo = dataplane('demo-app-01', [inbound({ name: 'http' })], { app: 'demo-app' });
  const elsewhere = put(
    idOf('Dataplane', 'redis-01', { mesh: 'other' }),
    { networking: { address: '10.0.0.1', inbound: [inbound()] } },
    { app: 'redis' },
  );
  const both = [tagged('redis', 80), { port: 81, tags: { 'kuma.io/service': 'admin', role: 'x' } }];

  it.each<[string, JsonObject, Change[], unknown]>([
    ['D1 no Dataplanes', byTag({ 'kuma.io/service': 'backend' }), [], unavailable(0)],
    ['ref', byRef('redis-01'), [redis1, redis2], available(1)],
    ['ref to nobody', byRef('redis-not-found'), [redis1], unavailable(0)],
    ['ref, not ready', byRef('x'), [dataplane('x', [inbound({ state: 'NotReady' })])], unavailable(1)],
    ['all labels', byLabel({ app: 'redis', version: 'v1' }), [redis1, redis2, demo], available(1)],
    ['one label', byLabel({ app: 'redis' }), [redis1, redis2, demo], available(2)],
    ['labels of nobody', byLabel({ app: 'redis', version: 'v3' }), [redis1], unavailable(0)],
    ['another mesh', byLabel({ app: 'redis' }), [redis1, elsewhere], available(1)],
    ['labels {} are all of mesh and namespace', byLabel({}), [redis1, demo, elsewhere], available(2)],
    [
      'dataplaneLabels without matchLabels as well',
      { selector: { dataplaneLabels: {} } },
      [redis1, demo],
      available(2),
    ],
    ['implied labels', byLabel({ 'k8s.kuma.io/namespace': 'default' }), [redis1], available(1)],
    ['a tag', byTag({ 'kuma.io/service': 'redis' }), [dataplane('d', both)], available(1)],
    [
      'all tags on one inbound',
      byTag({ 'kuma.io/service': 'admin', role: 'x' }),
      [dataplane('d', [...both, inbound()])],
      available(1),
    ],
    [
      'tags on two inbounds do not add up',
      byTag({ 'kuma.io/service': 'redis', role: 'x' }),
      [dataplane('d', both)],
      unavailable(0),
    ],
    ['no wildcard', byTag({ 'kuma.io/service': '*' }), [dataplane('d', both)], unavailable(0)],
    ['tags {} are none', byTag({}), [dataplane('d', both)], unavailable(0)],
    ['no selector is none', {}, [redis1], unavailable(0)],
    ['without inbound never', byLabel({}), [dataplane('empty', [], { app: 'redis' })], unavailable(0)],
  ])('matching: %s', async (_, spec, dataplanes, want) => {
    await apply(put(backend, { ports, ...spec }), ...dataplanes);
    expect(await counted()).toEqual(want);
  });

  it.each<[string, TestInbound[], JsonObject[], unknown]>([
    ['D2 ready by default', [inbound()], ports, available(1)],
    ['no ports: all are healthy', [inbound({ state: 'NotReady' })], [], available(1)],
    ['a port nobody has', [inbound()], [{ port: 81, targetPort: 81 }], unavailable(1)],
    ['a target port by name', [inbound({ name: 'http' })], [{ port: 8080, targetPort: 'http' }], available(1)],
    ['a name nobody has', [inbound({ name: 'http' })], [{ port: 80, targetPort: 'grpc' }], unavailable(1)],
    ['without target port the port itself', [inbound()], [{ port: 80 }], available(1)],
    ['ignored is not ready', [inbound({ state: 'Ignored' })], ports, unavailable(1)],
    ['health alone changes nothing, as in Kuma 2.14', [inbound({ health: { ready: false } })], ports, available(1)],
    [
      'one of two ports',
      [inbound(), inbound({ port: 81, state: 'NotReady' })],
      [...ports, { port: 81, targetPort: 81 }],
      unavailable(1),
    ],
    ['any inbound may serve a port', [inbound({ state: 'NotReady' }), inbound()], ports, available(1)],
  ])('health: %s', async (_, inbounds, servicePorts, want) => {
    await apply(put(backend, { ports: servicePorts, ...byLabel({}) }), dataplane('d', inbounds));
    expect(await counted()).toEqual(want);
  });

  it('D3 of three Dataplanes with two ports one serves both', async () => {
    const two = (first: string, second: string): TestInbound[] => [
      inbound({ state: first }),
      inbound({ port: 81, state: second }),
    ];
    await apply(
      put(backend, { ports: [...ports, { port: 81, targetPort: 81 }], ...byLabel({}) }),
      dataplane('a', two('Ready', 'Ready')),
      dataplane('b', two('NotReady', 'Ready')),
      dataplane('c', two('NotReady', 'NotReady')),
    );
    expect(await counted()).toEqual(available(3, 1));
  });

  it('follows what comes, changes and goes, and counts no generation', async () => {
    await apply(put(backend, { ports, ...byLabel({ app: 'redis' }) }));
    expect(await counted()).toEqual(unavailable(0));
    await apply(redis1);
    expect(await counted()).toEqual(available(1));
    await apply(redis2, dataplane('redis-01', [inbound()], { app: 'other' }));
    expect(await counted()).toEqual(available(1));
    await apply(put(backend, { ports, ...byLabel({ app: 'other' }) }));
    expect(await counted()).toEqual(available(1));
    await apply(remove(idOf('Dataplane', 'redis-01')));
    expect(await counted()).toEqual(unavailable(0));
    expect(await harness.get(backend)).toMatchObject({ generation: 2 });
  });

  it('S5 what other zones say of their services stands', async () => {
    const theirs = idOf('MeshService', 'backend', { zone: 'west' });
    await apply(put(theirs, { ports, ...byLabel({}), state: 'Available' }), redis1);
    expect(await counted(theirs)).toEqual([undefined, 'Available']);
  });

  it('a service matches Dataplanes of its namespace only', async () => {
    const there = idOf('MeshService', 'backend', { namespace: 'shop' });
    await apply(put(there, { ports, ...byLabel({}) }), redis1);
    expect(await counted(there)).toEqual(unavailable(0));
  });

  it('keeps the rest of status and spec', async () => {
    await apply(put(backend, { ports, ...byLabel({}) }));
    await apply(
      { type: 'patch', id: backend, expect: 'any', status: { vip: { ip: '241.0.0.1', type: 'Kuma' } } },
      redis1,
    );
    expect(await harness.get(backend)).toMatchObject({
      spec: { ports, ...byLabel({}), state: 'Available' },
      status: { vip: { ip: '241.0.0.1' }, dataplaneProxies: { total: 1, healthy: 1 } },
    });
  });

  it('I10 unchanged input writes nothing: a resync finds no difference', async () => {
    await apply(
      put(backend, { ports, ...byLabel({ app: 'redis' }) }),
      put(idOf('MeshService', 'empty'), {}),
      redis1,
      demo,
    );
    const { revision } = harness;
    harness.clock.advance(600_000);
    await replica.settle();
    expect(harness.revision).toBe(revision);
  });

  it('looks only at services that a Dataplane may concern', async () => {
    const loop = new KeyedLoop(new AvailabilityReconciler('east'));
    const next = harness.replica('next');
    await harness.write(
      ...Array.from({ length: 300 }, (_, i) =>
        put(idOf('MeshService', `s${i}`), { ports, ...byLabel({ app: `a${i}`, env: 'prod' }) }),
      ),
    );
    await next.lead([loop]);
    await next.settle();
    await harness.write(dataplane('d', [inbound()], { app: 'a7', env: 'prod' }));
    expect(loop['stale'].size).toBeLessThan(3);
    await next.settle();
    expect(await counted(idOf('MeshService', 's7'))).toEqual(available(1));
  });

  describe('identities', () => {
    const byBackend = { selector: { dataplaneTags: { 'kuma.io/service': 'backend' } } };
    const all = idOf('MeshIdentity', 'all', { zone: '' });
    const provider = { type: 'Bundled' };
    const identity = (spec: JsonObject = {}, matchLabels: JsonObject = {}): Change =>
      put(all, { selector: { dataplane: { matchLabels } }, provider, ...spec });
    const member = (name: string, labels: Labels = {}): Change => dataplane(name, [tagged('backend', 80)], labels);
    const identities = async (): Promise<unknown> => {
      const held = (await harness.get(backend))?.spec['identities'];
      return Array.isArray(held) ? held.map((one) => (one.type === 'SpiffeID' ? one.value : one)) : held;
    };
    const id = (workload: string): string => `spiffe://default.east.mesh.local/workload/${workload}`;

    it('are those of its Dataplanes, each once, sorted; none and no field without a MeshIdentity', async () => {
      const labels = { 'kuma.io/workload': 'api' };
      await apply(put(backend, byBackend), member('b'), member('a'), member('c', labels), member('d', labels));
      expect(await identities()).toBeUndefined();
      await apply(identity());
      expect(await identities()).toEqual([id('a'), id('api'), id('b')]);
      await apply(remove(idOf('Dataplane', 'b')));
      expect(await identities()).toEqual([id('a'), id('api')]);
      await apply(member('a', { 'kuma.io/workload': 'web' }));
      expect(await identities()).toEqual([id('api'), id('web')]);
      await apply(remove(all));
      expect(await identities()).toBeUndefined();
      expect((await harness.get(backend))?.spec['state']).toBe('Available');
    });

    it('follow the MeshIdentity: its selector, its template, and one that selects more closely', async () => {
      await apply(put(backend, byBackend), member('a', { tier: 'gold' }), identity({}, { tier: 'gold' }));
      expect(await identities()).toEqual([id('a')]);
      await apply(identity({}, { tier: 'silver' }));
      expect(await identities()).toBeUndefined();
      await apply(identity({ spiffeID: { trustDomain: 'corp.example' } }));
      expect(await identities()).toEqual(['spiffe://corp.example/workload/a']);
      const close = { selector: { dataplane: { matchLabels: { tier: 'gold' } } }, provider };
      await apply(put(idOf('MeshIdentity', 'gold', { zone: 'east' }), close));
      expect(await identities()).toEqual([id('a')]);
      await apply(put(idOf('MeshIdentity', 'gold', { zone: 'east' }), { ...close, provider: { type: 'Spire' } }));
      expect(await identities()).toEqual([id('a')]);
    });

    it('are those of Mesh.mtls without a MeshIdentity, where the key of the authority is here', async () => {
      const { certificate, key } = meshAuthoritySecrets('default', 'ca-1');
      const mesh = (enabledBackend: string): Change =>
        put(
          { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' },
          { mtls: { enabledBackend, backends: [{ name: 'ca-1', type: 'builtin' }] } },
        );
      const two = dataplane('x', [tagged('backend', 80), tagged('admin', 81)]);
      await apply(put(backend, byBackend), member('a'), two, mesh('ca-1'), put(certificate, { data: 'YQ==' }));
      expect(await identities()).toBeUndefined();
      await apply(put(key, { data: 'YQ==' }));
      expect(await identities()).toEqual(['spiffe://default/admin', 'spiffe://default/backend']);
      await apply(identity());
      expect(await identities()).toEqual([id('a'), id('x')]);
      await apply(remove(all), mesh(''));
      expect(await identities()).toBeUndefined();
    });

    it('keep those of the others where a template gives one Dataplane none, and are not moved by another mesh or zone', async () => {
      await apply(put(backend, byBackend), member('a'), member('b', { 'kuma.io/workload': '' }), identity());
      expect(await identities()).toEqual([id('a')]);
      const before = (await harness.get(backend))?.revision;
      const selector = { dataplane: { matchLabels: { app: 'x' } } };
      await apply(
        put(idOf('MeshIdentity', 'far', { zone: 'west' }), { selector: { dataplane: {} }, provider }),
        put(idOf('MeshIdentity', 'far', { zone: '', mesh: 'other' }), { selector, provider }),
      );
      expect((await harness.get(backend))?.revision).toBe(before);
    });

    it('are bounded: of 1,100 ids the first 1,024', async () => {
      const names = Array.from({ length: 1_100 }, (_, i) => `dp-${String(i).padStart(4, '0')}`);
      await apply(put(backend, byBackend), identity(), ...names.map((name) => member(name)));
      expect(await identities()).toEqual(names.slice(0, 1_024).map(id));
    });
  });
});
