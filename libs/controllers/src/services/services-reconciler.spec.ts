import type { JsonObject, Labels, Resource } from '@causeway/resources';
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
} from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import { KeyedLoop } from '@causeway/loops';
import { ServicesReconciler } from './services-reconciler';

const GRACE = 500;
const backend = idOf('MeshService', 'backend');
const workload = { 'kuma.io/workload': 'backend' };
const port80 = { name: '80', port: 80, targetPort: 80, appProtocol: 'tcp' };
const port81 = { name: '81', port: 81, targetPort: 81, appProtocol: 'tcp' };

describe('ServicesLoop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  const unusable: string[] = [];
  const newLoop = (): KeyedLoop =>
    new KeyedLoop(
      new ServicesReconciler({
        cp: EAST,
        gracePeriod: GRACE,
        meshes: meshesOf(replica.index),
        onUnusableName: (_, service) => unusable.push(service),
      }),
    );

  beforeEach(async () => {
    unusable.length = 0;
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([newLoop()]);
    await replica.settle();
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const services = (): Resource[] => [...replica.index.ofKind('MeshService')];
  const found = async (id = backend): Promise<Resource> => {
    const service = await harness.get(id);
    if (!service) throw new Error(`${id.name} does not exist`);
    return service;
  };

  it('T003-27 makes no new service in a mesh that is being terminated, until that is taken back', async () => {
    const mesh = (labels: Labels): Change =>
      put({ ...idOf('Mesh', 'default'), mesh: '', zone: '', namespace: '' }, {}, labels);
    await apply(mesh({}), dataplane('a', [tagged('old', 80)]));
    await apply(mesh({ 'causeway.io/terminating': 'true' }), dataplane('b', [tagged('old', 81), tagged('new', 82)]));
    expect(services().map(({ id }) => id.name)).toEqual(['old']);
    await apply(mesh({}));
    expect(
      services()
        .map(({ id }) => id.name)
        .sort(),
    ).toEqual(['new', 'old']);
    await apply(mesh({ 'causeway.io/terminating': 'true' }), remove(idOf('Dataplane', 'b')));
    expect(
      services()
        .map(({ id }) => id.name)
        .sort(),
    ).toEqual(['new', 'old']);
  });

  it('makes the services of a Dataplane of very many inbounds', async () => {
    const inbound = Array.from({ length: 1_000 }, (_, i) => ({ port: i + 1, tags: { 'kuma.io/service': `s${i}` } }));
    await apply(put(idOf('Dataplane', 'crowd'), { networking: { address: '10.0.0.1', inbound } }));
    expect(services()).toHaveLength(1_000);
    expect((await found(idOf('MeshService', 's999'))).spec['ports']).toEqual([
      { name: '1000', port: 1_000, targetPort: 1_000, appProtocol: 'tcp' },
    ]);
  });

  // Rows of docs/reference/kuma-rest.md §9.1 and docs/reference/kuma-2.14.md §2.
  it('G1 G15 by label: one service, ports in the order of the inbounds', async () => {
    await apply(
      dataplane(
        'dp-1',
        [
          { port: 80, name: 'http' },
          { port: 90, name: 'grpc', protocol: 'grpc' },
        ],
        workload,
      ),
    );
    const service = await found();
    expect(service.spec).toEqual({
      selector: { dataplaneLabels: { matchLabels: workload } },
      ports: [
        { ...port80, name: 'http' },
        { name: 'grpc', port: 90, targetPort: 90, appProtocol: 'grpc' },
      ],
      state: 'Available',
    });
    expect(service.labels).toEqual({
      'kuma.io/display-name': 'backend',
      'kuma.io/env': 'universal',
      'kuma.io/managed-by': 'meshservice-generator',
      'kuma.io/mesh': 'default',
      'kuma.io/origin': 'zone',
      'kuma.io/zone': 'east',
    });
  });

  it('2.14 by tag: each inbound its own service, of which a Dataplane may have several', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80), tagged('admin', 90), tagged('backend', 81)], workload));
    expect(
      services()
        .map(({ id }) => id.name)
        .sort(),
    ).toEqual(['admin', 'backend']);
    expect((await found()).spec).toEqual({
      selector: { dataplaneTags: { 'kuma.io/service': 'backend' } },
      ports: [port80, port81],
      state: 'Available',
    });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['G3 a name', { name: 'main', protocol: 'tcp' }, { name: 'main' }],
    ['no name', { name: '' }, {}],
    ['a protocol in capitals', { protocol: 'HTTP2' }, { appProtocol: 'http2' }],
    [
      'the tag kuma.io/protocol',
      { tags: { 'kuma.io/service': 'backend', 'kuma.io/protocol': 'grpc' } },
      { appProtocol: 'grpc' },
    ],
    ['a protocol that services do not have', { protocol: 'mysql' }, {}],
    ['state and servicePort do not matter', { state: 'NotReady', servicePort: 8080 }, {}],
  ])('ports: %s', async (_, inbound, want) => {
    await apply(dataplane('dp-1', [{ port: 80, tags: { 'kuma.io/service': 'backend' }, ...inbound }]));
    expect((await found()).spec['ports']).toEqual([{ ...port80, ...want }]);
  });

  it('gives a port once, and a name once', async () => {
    await apply(
      dataplane('dp-1', [
        tagged('backend', 80, { name: 'a' }),
        tagged('backend', 80),
        tagged('backend', 81, { name: 'a' }),
      ]),
    );
    expect((await found()).spec['ports']).toEqual([{ ...port80, name: 'a' }, port81]);
  });

  it.each(['backend_svc', 'backend.svc', '00-backend-svc', 'b'.repeat(64), 'Invalid_Workload'])(
    'G2 G14 no service is called %s',
    async (name) => {
      await apply(
        dataplane('dp-1', [tagged(name, 80)]),
        dataplane('dp-2', [{ port: 80 }], { 'kuma.io/workload': name }),
      );
      expect(services()).toEqual([]);
      expect(unusable).toEqual([name, name]);
    },
  );

  it('G13 nothing names a service: there is none', async () => {
    await apply(dataplane('dp-1', [{ port: 80, name: 'http' }]), dataplane('dp-2', [], workload));
    expect(services()).toEqual([]);
  });

  it('G4 G16 the existing ports hold while one Dataplane agrees, and the service says who differs', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    await apply(dataplane('dp-2', [tagged('backend', 80), tagged('backend', 81)]));
    const service = await found();
    expect(service.spec['ports']).toEqual([port80]);
    expect(service.status?.['conditions']).toEqual([
      {
        type: 'DataplanesAgree',
        status: 'False',
        reason: 'PortConflict',
        message:
          'ports of Dataplane dp-2 differ: all inbounds of one service must have the same ports, names and protocols',
        observedGeneration: 1,
        lastTransitionTime: new Date(harness.clock.now()).toISOString(),
      },
    ]);

    await apply(dataplane('dp-1', [tagged('backend', 80), tagged('backend', 81)]));
    expect((await found()).spec['ports']).toEqual([port80, port81]);
    expect((await found()).status?.['conditions']).toEqual([
      expect.objectContaining({ status: 'True', reason: 'Agreed' }),
    ]);
  });

  it('at creation, and when none agrees, the oldest wins', async () => {
    await apply(dataplane('dp-2', [tagged('backend', 81)]));
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    await apply(remove(backend));
    expect((await found()).spec['ports']).toEqual([port81]);
    await apply(dataplane('dp-1', [tagged('backend', 90)]), dataplane('dp-2', [tagged('backend', 91)]));
    expect((await found()).spec['ports']).toEqual([{ ...port81, name: '91', port: 91, targetPort: 91 }]);
  });

  it('G5 G11 P6 an update keeps status, state, uid and labels that users added (unlike Kuma)', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    const before = await found();
    await apply(
      {
        type: 'put',
        id: backend,
        expect: 'any',
        labels: { ...before.labels, 'custom.io/extra': 'preserved' },
        spec: before.spec,
      },
      {
        type: 'patch',
        id: backend,
        expect: 'any',
        spec: { ...before.spec, state: 'Available' },
        status: { vip: { ip: '241.0.0.0', type: 'Kuma' } },
        vip: '241.0.0.0',
      },
    );
    await apply(dataplane('dp-1', [tagged('backend', 81)]));
    const after = await found();
    expect(after.spec).toMatchObject({ ports: [port81], state: 'Available' });
    expect(after.labels).toMatchObject({ 'custom.io/extra': 'preserved' });
    expect(after.status).toEqual({ vip: { ip: '241.0.0.0', type: 'Kuma' } });
    expect(after.uid).toBe(before.uid);
    expect(after.freed).toEqual([]);
  });

  it('hand edits of a generated service are undone; without its mark it is left alone for good', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    const { labels } = await found();
    await apply({ type: 'put', id: backend, expect: 'any', labels, spec: { ports: [port81] } });
    expect((await found()).spec['ports']).toEqual([port80]);
    await apply(put(backend, { ports: [port81] }));
    expect((await found()).spec).toEqual({ ports: [port81] });
    await apply(remove(idOf('Dataplane', 'dp-1')));
    harness.clock.advance(10 * GRACE);
    await replica.settle();
    expect((await found()).spec).toEqual({ ports: [port81] });
  });

  it('G7 a service written by hand keeps its name, spec and status', async () => {
    await harness.write(put(idOf('MeshService', 'web'), { ports: [port81] }));
    await apply(dataplane('dp-1', [tagged('web', 80)]));
    const web = await found(idOf('MeshService', 'web'));
    expect([web.spec, web.status, web.generation]).toEqual([{ ports: [port81] }, undefined, 1]);
  });

  it('G6 G8 the last Dataplane gone: kept for the grace period, then deleted', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    await apply(remove(idOf('Dataplane', 'dp-1')));
    const start = harness.clock.now();
    expect((await found()).graceStartedAt).toBe(start);
    expect((await found()).generation).toBe(1);
    harness.clock.advance(GRACE - 1);
    await replica.settle();
    expect((await found()).graceStartedAt).toBe(start);
    harness.clock.advance(1);
    await replica.settle();
    expect(services()).toEqual([]);
  });

  it('G10 a Dataplane that returns in time keeps its service', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    const { uid } = await found();
    await apply(remove(idOf('Dataplane', 'dp-1')));
    harness.clock.advance(GRACE - 1);
    await apply(dataplane('dp-1', [tagged('backend', 81)]));
    harness.clock.advance(10 * GRACE);
    await replica.settle();
    expect(await found()).toMatchObject({ uid, spec: { ports: [port81] } });
    expect((await found()).graceStartedAt).toBeUndefined();
  });

  it('the grace period goes on under another leader', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    await apply(remove(idOf('Dataplane', 'dp-1')));
    const next = harness.replica('next');
    const runner = await next.lead([newLoop()]);
    await next.settle();
    expect(runner.nextWake).toBe(harness.clock.now() + GRACE);
    harness.clock.advance(GRACE);
    await next.settle();
    expect(next.index.countKind('MeshService')).toBe(0);
  });

  it('G9 what other zones made is theirs', async () => {
    const foreign = idOf('MeshService', 'backend', { zone: 'west' });
    const labels = { 'kuma.io/managed-by': 'meshservice-generator', 'kuma.io/zone': 'west' };
    await apply(put(foreign, { ports: [port80] }, labels));
    harness.clock.advance(10 * GRACE);
    await replica.settle();
    expect(await found(foreign)).toMatchObject({ generation: 1, spec: { ports: [port80] } });
  });

  it('a generated service that a user deletes is back at once', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    await apply(remove(backend));
    expect((await found()).generation).toBe(2);
  });

  it.each<[string, Labels, Labels, Labels]>([
    ['P1 they are carried over', {}, { team: 'a' }, { team: 'a' }],
    ['P2 and leave with the Dataplane', { team: 'a', 'x.io/y': 'b' }, { team: 'a' }, { team: 'a' }],
    ['P5 a change follows', { team: 'a' }, { team: 'b' }, { team: 'b' }],
  ])('labels: %s', async (_, before, after, want) => {
    await apply(dataplane('dp-1', [tagged('backend', 80)], before));
    await apply(dataplane('dp-1', [tagged('backend', 80)], after));
    const { labels } = await found();
    expect(Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith('kuma.io/')))).toEqual(want);
  });

  it('a service lives in the namespace of its Dataplanes', async () => {
    const there = { namespace: 'shop' };
    await apply(
      put(idOf('Dataplane', 'dp-1', there), { networking: { address: '10.0.0.1', inbound: [tagged('backend', 80)] } }),
    );
    expect((await found(idOf('MeshService', 'backend', there))).labels['k8s.kuma.io/namespace']).toBe('shop');
    expect(services()).toHaveLength(1);
  });

  it('P3 I10 nothing changes, nothing is written: by events, by resync, by another leader', async () => {
    await apply(
      dataplane('dp-1', [tagged('backend', 80)], { team: 'a' }),
      dataplane('dp-2', [tagged('backend', 81)], { team: 'b' }),
      dataplane('dp-3', [{ port: 80 }], workload),
    );
    const { revision } = harness;
    harness.clock.advance(600_000);
    await replica.settle();
    const next = harness.replica('next');
    await next.lead([newLoop()]);
    await next.settle();
    expect(harness.revision).toBe(revision);
  });

  it('gives the same services in whatever order the Dataplanes arrive', async () => {
    const all = [
      dataplane('dp-1', [tagged('backend', 80)], { team: 'a' }),
      dataplane('dp-2', [tagged('backend', 80), tagged('web', 90)], { team: 'a' }),
      dataplane('dp-3', [{ port: 70 }], { 'kuma.io/workload': 'jobs', team: 'b' }),
    ];
    const shape = (r: Resource): unknown => [r.id, r.labels, r.spec, r.status];
    const results = [];
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const other = new LoopHarness();
      const one = other.replica();
      await one.lead([newLoop()]);
      for (const i of order) {
        await other.write(...all.slice(i, i + 1));
        await one.settle();
      }
      results.push(
        [...one.index.ofKind('MeshService')]
          .map(shape)
          .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
      );
      await other.stop();
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it('a conflict in the middle is planned again: the newer Dataplane wins through', async () => {
    await apply(dataplane('dp-1', [tagged('backend', 80)]));
    const { labels, spec } = await found();
    // Both land between plan and write: the runner plans from the older revision.
    const writing = replica.store.write.bind(replica.store);
    let once = true;
    replica.store.write = async (request) => {
      if (once && request.fence) {
        once = false;
        await harness.write({ type: 'put', id: backend, expect: 'any', labels: { ...labels, 'my.io/x': 'y' }, spec });
      }
      return writing(request);
    };
    await apply(dataplane('dp-1', [tagged('backend', 81)]));
    expect(await found()).toMatchObject({ spec: { ports: [port81] }, labels: { 'my.io/x': 'y' } });
  });
});
