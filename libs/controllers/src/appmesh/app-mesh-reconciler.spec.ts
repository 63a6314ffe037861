import { FollowedRoutes } from '@causeway/meshes';
import { findCondition, type ControlPlane, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { type Change, type ResourceStore } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { dataplane, EAST, idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { meshesOf } from '../../../../test/support/meshes';
import type { ControlLoop } from '@causeway/loops';
import { createZoneReconcilers } from '../zone-reconcilers';
import { createAppMeshLoops } from './app-mesh-reconciler';

const http = { portMapping: { port: 9080, protocol: 'http' } };
const node = (name: string, more: JsonObject = {}, place: Partial<Identity> = {}): Change =>
  put(idOf('VirtualNode', name, place), { podSelector: { matchLabels: { app: name } }, listeners: [http], ...more });
const router = (weight: number): Change =>
  put(idOf('VirtualRouter', 'r'), {
    listeners: [http],
    routes: [
      {
        name: 'main',
        http: {
          match: { prefix: '/' },
          action: { weightedTargets: [{ virtualNodeRef: { name: 'blue' }, weight }] },
          retryPolicy: { maxRetries: 2, httpRetryEvents: ['gateway-error'], perRetryTimeout: { unit: 's', value: 1 } },
        },
      },
    ],
  });
const byRouter = { provider: { virtualRouter: { virtualRouterRef: { name: 'r' } } } };
const service = (name = 'front', spec: JsonObject = byRouter): Change => put(idOf('VirtualService', name), spec);

describe('the loop of App Mesh', () => {
  let harness: LoopHarness;
  let replica: Replica;
  const ends: (() => void)[] = [];

  const lead = async (
    one: Replica,
    cp: ControlPlane = EAST,
    others: readonly ControlLoop[] = [],
    store: ResourceStore = one.store,
  ): Promise<void> => {
    const { index } = one;
    const routes = new FollowedRoutes({ index, meshes: meshesOf(index), zone: 'east', run: fillAtOnce });
    const term = new AbortController();
    ends.push(() => {
      term.abort();
      routes.close();
    });
    await one.lead([...others, ...createAppMeshLoops({ cp, routes }, term)], store);
    await one.settle();
  };

  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    const suffixes = put(idOf('MeshNaming', 'names', { zone: '', namespace: '' }), { suffixes: ['default'] });
    await harness.write(put({ kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' }, {}), suffixes);
    await lead(replica);
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) end();
    await harness.stop();
  });

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const generated = async (): Promise<readonly Resource[]> =>
    (await harness.rows()).filter(({ labels }) => labels['causeway.io/managed-by'] !== undefined);
  const names = async (): Promise<readonly string[]> =>
    (await generated()).map(({ id }) => `${id.kind} ${id.name}`).sort();
  const condition = async (id: Identity, type: string): Promise<JsonObject | undefined> =>
    findCondition((await harness.get(id))?.status, type);

  it('makes what nodes, routers and services say, says that they are accepted, and then writes nothing more', async () => {
    await apply(node('blue'), router(1), service());
    expect(await names()).toEqual([
      'HTTPRoute vs-front-9080',
      'MeshService vn-blue',
      'MeshService vs-front',
      'RetryPolicy vs-front-9080-main',
    ]);
    for (const id of [idOf('VirtualNode', 'blue'), idOf('VirtualRouter', 'r'), idOf('VirtualService', 'front')]) {
      expect(await condition(id, 'Accepted')).toMatchObject({ status: 'True', observedGeneration: 1 });
      expect(await condition(id, 'ResolvedRefs')).toMatchObject({ status: 'True' });
    }
    expect((await harness.get(idOf('MeshService', 'vs-front')))?.labels).toMatchObject({
      'appmesh.k8s.aws/aws-name': 'front.default',
      'causeway.io/managed-by': 'VirtualService',
      'causeway.io/managed-by-name': 'front',
      'kuma.io/display-name': 'vs-front',
      'kuma.io/zone': 'east',
    });
    const { revision } = harness;
    await lead(replica);
    await lead(harness.replica('b'));
    expect(harness.revision).toBe(revision);
  });

  it('one change writes what it changes, and nothing else is written again', async () => {
    await apply(node('blue'), node('green'), router(1), service(), service('other', {}));
    const before = new Map((await harness.rows()).map(({ id, revision }) => [`${id.kind} ${id.name}`, revision]));
    await apply(router(2));
    const moved = (await harness.rows()).filter(({ id, revision }) => before.get(`${id.kind} ${id.name}`) !== revision);
    expect(moved.map(({ id }) => `${id.kind} ${id.name}`).sort()).toEqual([
      'HTTPRoute vs-front-9080',
      'VirtualRouter r',
    ]);
    expect((await harness.get(idOf('HTTPRoute', 'vs-front-9080')))?.spec).toMatchObject({
      rules: [{ backendRefs: [{ name: 'vn-blue', weight: 2 }] }],
    });
  });

  it('keeps what other loops say of a generated service', async () => {
    await apply(node('blue'));
    const id = idOf('MeshService', 'vn-blue');
    const found = await harness.get(id);
    await harness.write({
      type: 'patch',
      id,
      expect: found?.revision ?? 0,
      spec: { ...found?.spec, state: 'Available', instances: 3 },
    });
    await apply(node('blue', { listeners: [http, { portMapping: { port: 80, protocol: 'tcp' } }] }));
    const spec = (await harness.get(id))?.spec;
    expect(spec).toMatchObject({ state: 'Available', instances: 3, ports: [{ port: 9080 }, { port: 80 }] });
  });

  it('T003-15 a service that loses its provider keeps its ports without routes; one that never had any has none', async () => {
    await apply(node('blue'), router(1), service(), service('other', {}));
    const portsOf = async (name: string): Promise<unknown> =>
      (await harness.get(idOf('MeshService', `vs-${name}`)))?.spec['ports'];
    const ports = [{ name: '9080', port: 9080, targetPort: 9080, appProtocol: 'http' }];
    expect([await portsOf('front'), await portsOf('other')]).toEqual([ports, []]);
    await apply(service('front', {}));
    expect([await portsOf('front'), await names()]).toEqual([
      ports,
      ['MeshService vn-blue', 'MeshService vs-front', 'MeshService vs-other'],
    ]);
    // Also under the next leader, and where the router goes in place of the reference.
    replica = harness.replica('b');
    await lead(replica);
    await apply(service());
    await apply(remove(idOf('VirtualRouter', 'r')));
    expect([await portsOf('front'), await names()]).toEqual([
      ports,
      ['MeshService vn-blue', 'MeshService vs-front', 'MeshService vs-other'],
    ]);
    const { revision } = harness;
    await lead(harness.replica('c'));
    expect(harness.revision).toBe(revision);
  });

  it('what is generated goes with its source, also where that went while nobody led', async () => {
    await apply(node('blue'), router(1), service());
    await apply(remove(idOf('VirtualService', 'front')));
    expect(await names()).toEqual(['MeshService vn-blue']);
    const next = harness.replica('b');
    await harness.write(remove(idOf('VirtualNode', 'blue')));
    await lead(next);
    expect(await names()).toEqual([]);
  });

  it('makes anew what was deleted or changed behind its back, and never touches what somebody wrote under its name', async () => {
    await harness.write(put(idOf('MeshService', 'vn-green'), { ports: [{ port: 1 }] }));
    await apply(node('blue'), node('green'));
    await apply(remove(idOf('MeshService', 'vn-blue')));
    expect(await names()).toEqual(['MeshService vn-blue']);
    expect((await harness.get(idOf('MeshService', 'vn-green')))?.spec).toEqual({ ports: [{ port: 1 }] });
    const taken = 'causeway.io/NameTaken';
    expect(await condition(idOf('VirtualNode', 'blue'), taken)).toBeUndefined();
    expect(await condition(idOf('VirtualNode', 'green'), taken)).toMatchObject({
      status: 'True',
      reason: 'NameTaken',
      message:
        'not generated, because the name is taken: MeshService default/vn-green; delete it, or give the source another name',
    });
    await apply(remove(idOf('MeshService', 'vn-green')));
    expect(await condition(idOf('VirtualNode', 'green'), taken)).toBeUndefined();
    expect(await names()).toEqual(['MeshService vn-blue', 'MeshService vn-green']);
  });

  it('after a crash before the write the next leader makes it, and a leader that was replaced changes nothing', async () => {
    const other = harness.replica('b');
    await harness.write(node('blue'), router(1), service());
    await lead(other);
    const { revision } = harness;
    expect(await names()).toHaveLength(4);
    // It learns that it was replaced by the refusal of its write, or has nothing to write any more.
    await replica.settle().catch(() => undefined);
    expect(harness.revision).toBe(revision);
  });

  it('T003-08 a source that loses its name loses its objects, and gets them back when the holder goes', async () => {
    await apply(node('blue'), service('first', { awsName: 'x' }));
    await apply(service('second', { awsName: 'x' }));
    expect(await names()).toEqual(['MeshService vn-blue', 'MeshService vs-first']);
    expect(await condition(idOf('VirtualService', 'second'), 'Accepted')).toMatchObject({ reason: 'AwsNameConflict' });
    await apply(remove(idOf('VirtualService', 'first')));
    expect(await names()).toEqual(['MeshService vn-blue', 'MeshService vs-second']);
    expect(await condition(idOf('VirtualService', 'second'), 'Accepted')).toMatchObject({ status: 'True' });
  });

  it('a node of the global has a service in the zones that have its Dataplanes; its routes are made on the global', async () => {
    const place = { zone: '' };
    await apply(
      node('blue', {}, place),
      put(idOf('VirtualService', 'front', place), { provider: { virtualNode: { virtualNodeRef: { name: 'blue' } } } }),
    );
    expect(await names()).toEqual(['MeshService vs-front']);
    await apply(dataplane('pod', [{ port: 9080 }], { app: 'blue' }));
    expect(await names()).toEqual(['MeshService vn-blue', 'MeshService vs-front']);
    expect((await generated()).map(({ id }) => id.zone)).toEqual(['east', 'east']);
    expect((await harness.get(idOf('VirtualNode', 'blue', place)))?.status).toBeUndefined();
    await apply(remove(idOf('Dataplane', 'pod')));
    expect(await names()).toEqual(['MeshService vs-front']);
  });

  it('beside the other loops of a zone: addresses, names by awsName and states come with it, and nobody writes twice', async () => {
    const others = (): readonly ControlLoop[] =>
      createZoneReconcilers({ cp: EAST, ranges: { MeshService: '241.0.0.0/24' }, meshes: meshesOf(replica.index) });
    await lead(replica, EAST, others());
    const generator = idOf('HostnameGenerator', 'aws-names', { mesh: '', namespace: '' });
    const named = {
      selector: { meshService: { matchLabels: { 'causeway.io/managed-by': 'VirtualService' } } },
      template: '{{ label "appmesh.k8s.aws/aws-name" }}',
    };
    await apply(
      node('blue'),
      router(1),
      service(),
      dataplane('pod', [{ port: 9080 }], { app: 'blue' }),
      put(generator, named),
    );
    const front = await harness.get(idOf('MeshService', 'vs-front'));
    expect(front?.status).toMatchObject({
      vip: { type: 'Kuma' },
      addresses: [{ hostname: 'front.default', status: 'Available' }],
    });
    expect((await harness.get(idOf('MeshService', 'vn-blue')))?.spec).toMatchObject({ state: 'Available' });
    const { revision } = harness;
    await lead(replica, EAST, others());
    expect(harness.revision).toBe(revision);
  });

  it('the global makes the routes of what was made there, and leaves what zones made to them', async () => {
    const other = harness.replica('b');
    await lead(other, { role: 'global' });
    const place = { zone: '' };
    const provider = { virtualNode: { virtualNodeRef: { name: 'blue' } } };
    await harness.write(node('blue', {}, place), put(idOf('VirtualService', 'front', place), { provider }));
    await harness.write(
      node('red'),
      service('back', { provider: { virtualNode: { virtualNodeRef: { name: 'red' } } } }),
    );
    await other.settle();
    expect((await generated()).map(({ id }) => `${id.zone}/${id.kind} ${id.name}`)).toEqual([
      '/HTTPRoute vs-front-9080',
    ]);
    expect(await condition(idOf('VirtualNode', 'blue', place), 'Accepted')).toMatchObject({ status: 'True' });
    expect((await harness.get(idOf('VirtualNode', 'red')))?.status).toBeUndefined();
  });

  it('a service says which of its ports the routes of others have taken, until those go', async () => {
    await apply(node('blue'), router(1), service());
    const id = idOf('VirtualService', 'front');
    expect(await condition(id, 'causeway.io/RoutedByXRoute')).toBeUndefined();
    const parentRefs = [{ group: 'appmesh.k8s.aws', kind: 'VirtualService', name: 'front' }];
    await apply(put(idOf('HTTPRoute', 'mine'), { parentRefs, rules: [{ backendRefs: [{ name: 'vn-blue' }] }] }));
    expect(await condition(id, 'causeway.io/RoutedByXRoute')).toMatchObject({
      status: 'True',
      reason: 'RoutedByXRoute',
      message: 'port 9080 is taken by a HTTPRoute',
    });
    await apply(remove(idOf('HTTPRoute', 'mine')));
    expect(await condition(id, 'causeway.io/RoutedByXRoute')).toBeUndefined();
  });

  const nodeOf = async (name: string): Promise<unknown> =>
    (await harness.get(idOf('Dataplane', name)))?.status?.['virtualNode'];

  it('T003-33 T003-35 writes to which node a Dataplane belongs and its backends, and keeps it there under the next leader', async () => {
    const all = { podSelector: {} };
    const pod = dataplane('pod', [{ port: 80 }], { app: 'v2' });
    await apply(node('v1'), node('v2', { backends: [{ virtualService: { virtualServiceRef: { name: 's' } } }] }), pod);
    const bound = { namespace: 'default', name: 'v2', backends: [{ namespace: 'default', name: 'vs-s' }] };
    expect(await nodeOf('pod')).toEqual(bound);
    // The older one ranks first, had the Dataplane no node yet.
    await apply(node('v1', all));
    expect(await nodeOf('pod')).toEqual(bound);
    const { revision } = harness;
    replica = harness.replica('b');
    await lead(replica);
    expect(harness.revision).toBe(revision);
    expect(await nodeOf('pod')).toEqual(bound);
    await apply(node('v2', { backends: [] }));
    expect(await nodeOf('pod')).toEqual({ ...bound, backends: [] });
    await apply(remove(idOf('VirtualNode', 'v2')));
    expect(await nodeOf('pod')).toMatchObject({ name: 'v1' });
    await apply(remove(idOf('VirtualNode', 'v1')));
    expect(await nodeOf('pod')).toBeUndefined();
  });

  describe('writes a binding once, T003-33,', () => {
    const pod = dataplane('pod', [{ port: 80 }], { app: 'v1' });
    /** Leads with `replica`; at the write of a binding `meet` happens, and makes the write itself if it wants to. */
    const leadUntilBinding = (meet: (write: () => Promise<unknown>) => Promise<unknown>): Promise<void> => {
      const { store } = replica;
      const write: typeof store.write = async (request) => {
        const isBinding = request.changes.some(({ type, id }) => type === 'patch' && id.kind === 'Dataplane');
        if (isBinding) await meet(() => store.write(request));
        return store.write(request);
      };
      return lead(replica, EAST, [], Object.assign(Object.create(store), { write }));
    };
    const crash = (): never => {
      throw new Error('the process is killed');
    };

    it.each<[string, (write: () => Promise<unknown>) => Promise<unknown>]>([
      ['after a crash before the write', async () => crash()],
      ['after a crash between the write and its answer', async (write) => write().then(crash)],
    ])('%s', async (_, meet) => {
      const { revision: empty } = harness;
      await harness.write(node('v1'), pod);
      let isMet = false;
      const once = (write: () => Promise<unknown>): Promise<unknown> => {
        isMet = true;
        return meet(write);
      };
      await leadUntilBinding(once).catch(() => undefined);
      expect([isMet, harness.revision > empty]).toEqual([true, true]);
      const isWritten = (await nodeOf('pod')) !== undefined;
      const rowOf = async (): Promise<unknown> => (await harness.get(idOf('Dataplane', 'pod')))?.revision;
      const row = await rowOf();
      replica = harness.replica('b');
      await lead(replica);
      expect(await nodeOf('pod')).toMatchObject({ name: 'v1' });
      expect((await rowOf()) === row).toBe(isWritten);
      const { revision: settled } = harness;
      await lead(harness.replica('c'));
      expect(harness.revision).toBe(settled);
    });

    it('by the newer of two leaders, whatever the older one still writes', async () => {
      await harness.write(node('v1'), node('v2'), pod);
      const other = harness.replica('b');
      let after = 0;
      await leadUntilBinding(async () => {
        await harness.write(remove(idOf('VirtualNode', 'v1')), node('v2', { podSelector: {} }));
        await lead(other);
        expect(await nodeOf('pod')).toMatchObject({ name: 'v2' });
        after = harness.revision;
      }).catch(() => undefined);
      expect(after).toBeGreaterThan(0);
      expect([await nodeOf('pod'), harness.revision]).toMatchObject([{ name: 'v2' }, after]);
    });
  });

  it('T003-33 nodes that select one Dataplane say so until they do not', async () => {
    await apply(node('blue'), node('green', { podSelector: {} }), dataplane('pod', [{ port: 80 }], { app: 'blue' }));
    expect(await condition(idOf('VirtualNode', 'green'), 'causeway.io/MembershipConflict')).toMatchObject({
      message: 'other VirtualNodes select these Dataplanes too: pod',
    });
    await apply(dataplane('pod', [{ port: 80 }], { app: 'other' }));
    expect(await condition(idOf('VirtualNode', 'green'), 'causeway.io/MembershipConflict')).toBeUndefined();
  });
});
