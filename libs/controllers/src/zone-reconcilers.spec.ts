import { globalIdentity, Label, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import type { Change } from '@causeway/store';
import {
  dataplane,
  EAST,
  idOf,
  LoopHarness,
  put,
  remove,
  tagged,
  type Replica,
} from '../../../test/support/loop-harness';
import type { LoopRunner } from '@causeway/loops';
import { poolMetrics } from '../testing/pool-metrics';
import { createZoneReconcilers } from './zone-reconcilers';

const ranges = { MeshService: '241.0.0.0/8', MeshExternalService: '242.0.0.0/8', MeshMultiZoneService: '243.0.0.0/8' };
const redis = idOf('MeshService', 'redis');
const generator = put(
  { kind: 'HostnameGenerator', mesh: '', zone: 'east', namespace: '', name: 'local' },
  { selector: { meshService: {} }, template: '{{ .DisplayName }}.svc.mesh.local' },
);
const mesh: Change = {
  type: 'put',
  id: globalIdentity('Mesh', 'default'),
  expect: 'any',
  labels: {},
  spec: {},
};

describe('the loops of a zone', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let runner: LoopRunner;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    runner = await replica.lead(createZoneReconcilers({ cp: EAST, ranges }));
    await harness.write(mesh, generator);
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const found = async (): Promise<Resource> => {
    const service = await harness.get(redis);
    if (!service) throw new Error('redis does not exist');
    return service;
  };

  it('make of a Dataplane a service with state, address and hostname, in one write', async () => {
    const before = harness.disk.revision;
    await harness.write(dataplane('redis-1', [tagged('redis', 6379)]));
    await replica.settle();
    const { spec, status, generation } = await found();
    expect(spec).toMatchObject({ ports: [{ port: 6379 }], state: 'Available' });
    expect(status).toMatchObject({
      dataplaneProxies: { total: 1, healthy: 1 },
      vip: { ip: '241.0.0.0', type: 'Kuma' },
      addresses: [{ hostname: 'redis.svc.mesh.local', status: 'Available' }],
    });
    expect(generation).toBe(1);
    // The Dataplane, and the service.
    expect(harness.disk.revision).toBe(before + 2);
  });

  it('a new service has its identities from the first write: other zones receive it once', async () => {
    const spec = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } };
    await harness.write(put(idOf('MeshIdentity', 'all', { zone: '' }), spec));
    await replica.settle();
    const before = harness.disk.revision;
    await harness.write(dataplane('redis-1', [tagged('redis', 6379)]));
    while ((await harness.get(redis)) === undefined) await runner.step();
    const first = await found();
    expect(first.spec['identities']).toEqual([
      { type: 'SpiffeID', value: 'spiffe://default.east.mesh.local/workload/redis-1' },
    ]);
    await replica.settle();
    expect(await found()).toMatchObject({ spec: first.spec, generation: 1, status: { vip: { type: 'Kuma' } } });
    expect(harness.disk.revision).toBe(before + 2);
    await harness.write(dataplane('redis-2', [tagged('redis', 6379)]));
    await replica.settle();
    expect((await found()).spec['identities']).toHaveLength(2);
  });

  it('an update of ports leaves address and hostname standing at every moment (unlike Kuma, docs/reference/kuma-2.14.md §2.8)', async () => {
    await harness.write(dataplane('redis-1', [tagged('redis', 6379)]));
    await replica.settle();
    await harness.write(dataplane('redis-1', [tagged('redis', 6380)]));
    const seen: JsonObject[] = [];
    while (await runner.step()) seen.push((await found()).status ?? {});
    expect((await found()).spec['ports']).toMatchObject([{ port: 6380 }]);
    expect(seen.length).toBeGreaterThan(0);
    for (const status of seen) {
      expect(status).toMatchObject({
        vip: { ip: '241.0.0.0' },
        addresses: [{ hostname: 'redis.svc.mesh.local', status: 'Available' }],
      });
    }
  });

  it('2.14 §2.7 in its grace period a service is unavailable, keeps address and hostname, and reports that it is unreachable', async () => {
    await harness.write(dataplane('redis-1', [tagged('redis', 6379)]));
    await replica.settle();
    await harness.write(remove(idOf('Dataplane', 'redis-1')));
    await replica.settle();
    expect(await found()).toMatchObject({
      spec: { state: 'Unavailable' },
      status: {
        dataplaneProxies: { total: 0, healthy: 0 },
        vip: { ip: '241.0.0.0' },
        addresses: [
          {
            hostname: 'redis.svc.mesh.local',
            status: 'NotAvailable',
            reason: 'unreachable: none of its instances is available',
          },
        ],
      },
    });
    expect(runner.nextWake).toBe(harness.clock.now() + 3_600_000);
    await harness.write(dataplane('redis-2', [tagged('redis', 6379)]));
    await replica.settle();
    expect(await found()).toMatchObject({
      spec: { state: 'Available' },
      status: {
        vip: { ip: '241.0.0.0' },
        addresses: [{ hostname: 'redis.svc.mesh.local', status: 'Available' }],
      },
    });
  });

  it('a generated service of another zone is named as its state there says, one written by hand whatever its state', async () => {
    const far = { ...idOf('MeshService', 'far'), zone: 'west' };
    const byHand = { ...idOf('MeshService', 'by-hand'), zone: 'west' };
    const marked = { [Label.managedBy]: 'meshservice-generator' };
    const statusOf = async (id: Identity): Promise<unknown> => (await harness.get(id))?.status?.['addresses'];
    await harness.write(put(far, { state: 'Available' }, marked), put(byHand, { state: 'Unavailable' }));
    await replica.settle();
    expect(await statusOf(far)).toMatchObject([{ status: 'Available' }]);
    expect(await statusOf(byHand)).toMatchObject([{ status: 'Available' }]);
    await harness.write(put(far, { state: 'Unavailable' }, marked));
    await replica.settle();
    expect(await statusOf(far)).toMatchObject([
      { status: 'NotAvailable', reason: expect.stringMatching(/^unreachable/) },
    ]);
    const before = harness.disk.revision;
    await replica.settle();
    expect(harness.disk.revision).toBe(before);
  });

  it('an unreachable service keeps its name from the others', async () => {
    const same = put(
      { kind: 'HostnameGenerator', mesh: '', zone: 'east', namespace: '', name: 'same' },
      { selector: { meshService: {} }, template: 'one.mesh' },
    );
    await harness.write(same, dataplane('redis-1', [tagged('redis', 6379)]));
    await replica.settle();
    await harness.write(dataplane('web-1', [tagged('web', 80)]), remove(idOf('Dataplane', 'redis-1')));
    await replica.settle();
    const entry = async (name: string): Promise<unknown> => {
      const addresses = (await harness.get(idOf('MeshService', name)))?.status?.['addresses'] as readonly JsonObject[];
      return addresses.find(({ hostname }) => hostname === 'one.mesh');
    };
    expect(await entry('redis')).toMatchObject({
      status: 'NotAvailable',
      reason: expect.stringMatching(/^unreachable/),
    });
    expect(await entry('web')).toMatchObject({ status: 'NotAvailable', reason: expect.stringMatching(/^clash with/) });
  });

  it('a service whose range is used up reports it, shows no name as Available, and is logged once; all heals by itself', async () => {
    const reports: string[] = [];
    const onExhausted = (...words: string[]): void => void reports.push(words.join(' '));
    const narrow = { ...ranges, MeshService: '10.0.0.0/31' };
    const other = harness.replica('b');
    await other.lead(createZoneReconcilers({ cp: EAST, ranges: narrow, onExhausted }));
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await harness.write(dataplane(`${name}-1`, [tagged(name, 80)]));
    await other.settle();
    const shown = async (): Promise<unknown[]> =>
      Promise.all(
        names.map(async (name) => {
          const { vip, addresses } = (await harness.get(idOf('MeshService', name)))?.status as JsonObject;
          return [Object(vip).ip, Object(addresses)[0]?.status, Object(addresses)[0]?.reason];
        }),
      );
    const without = [
      undefined,
      'NotAvailable',
      'unreachable: it has no virtual IP, no address of 10.0.0.0-10.0.0.1 is free',
    ];
    expect(await shown()).toEqual([
      ['10.0.0.0', 'Available', undefined],
      ['10.0.0.1', 'Available', undefined],
      without,
      without,
    ]);
    expect(reports).toEqual(['MeshService 10.0.0.0-10.0.0.1 MeshService east/default/c']);
    const wide = harness.replica('c');
    await wide.lead(createZoneReconcilers({ cp: EAST, ranges: { ...ranges, MeshService: '10.0.0.0/30' } }));
    await wide.settle();
    expect((await shown()).slice(2)).toEqual([
      ['10.0.0.2', 'Available', undefined],
      ['10.0.0.3', 'Available', undefined],
    ]);
  });

  it('T001-05 1,000 services at once, and a second leader in the middle: 1,000 addresses', async () => {
    await harness.write(...Array.from({ length: 1_000 }, (_, i) => dataplane(`dp-${i}`, [tagged(`s${i}`, 80)])));
    await runner.step();
    const other = harness.replica('b');
    await other.lead(createZoneReconcilers({ cp: EAST, ranges }));
    await expect(replica.settle()).rejects.toThrow('epoch');
    await other.settle();
    const ips = [...other.index.ofKind('MeshService')].map(({ status }) => (status?.['vip'] as JsonObject)['ip']);
    expect(new Set(ips).size).toBe(1_000);
  });

  it('tell how full the ranges are', async () => {
    const loops = createZoneReconcilers({ cp: EAST, ranges: { MeshService: '10.0.0.0/30' } });
    const other = harness.replica('b');
    await other.lead(loops);
    await harness.write(dataplane('redis-1', [tagged('redis', 6379)]));
    await other.settle();
    expect(poolMetrics(loops, 0)).toEqual({ MeshService: { size: 4n, used: 1, cooling: 0 } });
    expect(poolMetrics([], 0)).toEqual({});
  });

  it.each<[string, Record<string, string>, string]>([
    ['equal ranges', { MeshService: '10.0.0.0/8', MeshExternalService: '10.0.0.0/8' }, 'are the same range'],
    ['public addresses', { MeshService: '8.0.0.0/8' }, 'neither private nor reserved'],
    ['no range', { MeshService: 'ten' }, 'must be a range'],
  ])('refuse to start with %s', (_, wrong, message) => {
    expect(() => createZoneReconcilers({ cp: EAST, ranges: wrong })).toThrow(message);
  });
});
