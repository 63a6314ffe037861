import { createZoneReconcilers } from '@causeway/controllers';
import { globalIdentity, Unavailable, type Identity, type JsonObject } from '@causeway/resources';
import type { Change, PutChange, ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { parentsOf, RouteLeader } from '../support/route-leader';
import { TestPlane } from '../support/test-plane';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;
const GLOBAL = { role: 'global' } as const;
const OWN = 'causeway.io/control-plane';
const BOUND = 'Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs';

const parent = (name: string, more: JsonObject = {}): JsonObject => ({ kind: 'Service', name, ...more });
const to = (name: string): JsonObject => ({ backendRefs: [{ name, port: 80 }] });
const routeTo = (name: string, ...parentRefs: readonly JsonObject[]): JsonObject => ({
  parentRefs: parentRefs.length > 0 ? parentRefs : [parent(name)],
  rules: [to(name)],
});
const SERVICE = {
  ports: [
    { port: 80, appProtocol: 'http' },
    { port: 81, appProtocol: 'http' },
  ],
};

describe('the status of routes on Postgres', () => {
  let database: TestDatabase;
  const planes: TestPlane[] = [];
  const leaders: RouteLeader[] = [];

  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    for (const leader of leaders.splice(0)) leader.end();
    await Promise.all(planes.splice(0).map((plane) => plane.close()));
    await database.drop();
  });

  const open = async (cp: TestPlane['cp']): Promise<TestPlane> => {
    const plane = new TestPlane(cp, await createPostgresBackend({ url: database.url, poolSize: 2 }));
    planes.push(plane);
    await plane.index.reached(0);
    return plane;
  };
  const lead = async (...[plane, holder, options]: Parameters<typeof RouteLeader.lead>): Promise<RouteLeader> => {
    const leader = await RouteLeader.lead(plane, holder, options);
    leaders.push(leader);
    return leader;
  };
  const zone = async (): Promise<{ readonly east: TestPlane; readonly leader: RouteLeader }> => {
    const east = await open(EAST);
    await east.write([putMesh()]);
    return { east, leader: await lead(east, 'one') };
  };
  const putMesh = (spec: JsonObject = {}): PutChange => ({
    type: 'put',
    id: globalIdentity('Mesh', 'default'),
    expect: 'any',
    labels: { 'kuma.io/origin': 'global' },
    spec,
  });
  const head = async ({ store }: TestPlane): Promise<number> => (await store.head()).revision;

  it('T002-04, T002-46: says that a parent is missing, that it is there, and that it is missing again', async () => {
    const { east, leader } = await zone();
    const route = east.id('HTTPRoute', 'route');
    await east.put('HTTPRoute', 'route', routeTo('foo'));
    await leader.settle();
    expect(parentsOf(east, route)).toEqual([
      'default/foo Accepted=False/NoMatchingParent ResolvedRefs=False/BackendNotFound',
    ]);
    expect(east.get(route)?.status?.['parents']).toMatchObject([
      {
        controllerName: OWN,
        parentRef: { group: '', kind: 'Service', namespace: 'default', name: 'foo' },
        conditions: [{ message: 'there is no MeshService default/foo', observedGeneration: 1 }, {}],
      },
    ]);
    await east.put('MeshService', 'foo', SERVICE);
    await leader.settle();
    expect(parentsOf(east, route)).toEqual([`default/foo ${BOUND}`]);
    await east.put('HTTPRoute', 'route', { ...routeTo('foo'), hostnames: ['a.example'] });
    await leader.settle();
    expect(east.get(route)?.status?.['parents']).toMatchObject([
      { conditions: [{ status: 'True', observedGeneration: 2 }, { observedGeneration: 2 }] },
    ]);
    await east.delete('MeshService', 'foo');
    await leader.settle();
    expect(parentsOf(east, route)[0]).toContain('Accepted=False/NoMatchingParent');
  });

  it('T002-47: one entry a parentRef, as producer and as consumer, and one a port', async () => {
    const { east, leader } = await zone();
    await east.put('MeshService', 'foo', SERVICE);
    await east.write([put(east, east.id('MeshService', 'bar', { namespace: 'shop' }), SERVICE)]);
    const refs = [parent('foo', { port: 80 }), parent('foo', { port: 82 }), parent('bar', { namespace: 'shop' })];
    await east.put('HTTPRoute', 'route', routeTo('foo', ...refs));
    await leader.settle();
    expect(parentsOf(east, east.id('HTTPRoute', 'route'))).toEqual([
      `default/foo:80 ${BOUND}`,
      'default/foo:82 Accepted=False/NoMatchingParent ResolvedRefs=True/ResolvedRefs',
      `shop/bar ${BOUND}`,
    ]);
  });

  it('T002-48: entries of other controllers survive, own ones of vanished parentRefs go, and broken ones heal', async () => {
    const { east, leader } = await zone();
    await east.put('MeshService', 'foo', SERVICE);
    const route = east.id('HTTPRoute', 'route');
    await east.put('HTTPRoute', 'route', routeTo('foo', parent('foo'), parent('bar')));
    await leader.settle();
    const foreign = { parentRef: { name: 'foo' }, controllerName: 'example.com/other', conditions: [], more: 1 };
    const meddle = async (change: (parents: readonly JsonObject[]) => JsonObject[]): Promise<void> => {
      const held = east.get(route);
      const status = { parents: change(held?.status?.['parents'] as readonly JsonObject[]) };
      await east.write([{ type: 'patch', id: route, expect: held?.revision ?? 0, status }]);
      await leader.settle();
    };
    await meddle(([first, ...rest]) => [{ ...first, conditions: [] }, foreign, ...rest]);
    expect(parentsOf(east, route)).toEqual([
      `default/foo ${BOUND}`,
      '-/foo',
      'default/bar Accepted=False/NoMatchingParent ResolvedRefs=True/ResolvedRefs',
    ]);
    await east.put('HTTPRoute', 'route', routeTo('foo'));
    await leader.settle();
    expect(east.get(route)?.status?.['parents']).toMatchObject([{ controllerName: OWN }, foreign]);
    await meddle(() => [foreign]);
    expect(east.get(route)?.status?.['parents']).toMatchObject([foreign, { controllerName: OWN }]);
  });

  it('T002-24, T002-25: the weaker kind turns, and turns back when the stronger one goes', async () => {
    const { east, leader } = await zone();
    await east.put('MeshService', 'foo', SERVICE);
    await east.put('HTTPRoute', 'http', routeTo('foo'));
    await leader.settle();
    const http = east.id('HTTPRoute', 'http');
    const since = (): unknown =>
      (east.get(http)?.status?.['parents'] as { conditions: JsonObject[] }[])[0]?.conditions[0];
    const before = since();
    await east.put('GRPCRoute', 'grpc', routeTo('foo'));
    await leader.settle();
    expect(since()).toMatchObject({ status: 'False', reason: 'Conflicted' });
    await east.delete('GRPCRoute', 'grpc');
    await leader.settle();
    expect(since()).toMatchObject({ status: 'True', reason: 'Accepted' });
    expect(since()).not.toEqual(before);
  });

  it('T002-03, T002-12: a route is accepted before its parent has an address, and changes no name and no address', async () => {
    const east = await open(EAST);
    await east.write([
      putMesh(),
      {
        type: 'put',
        id: east.id('HostnameGenerator', 'g', { zone: '' }),
        expect: 'any',
        labels: { 'kuma.io/origin': 'global' },
        spec: { template: '{{ name }}.mesh', selector: { meshService: {} } },
      },
      put(east, east.id('MeshService', 'foo'), SERVICE),
      put(east, east.id('HTTPRoute', 'early'), routeTo('foo')),
    ]);
    const alone = await lead(east, 'routes');
    await alone.settle();
    const early = parentsOf(east, east.id('HTTPRoute', 'early'));
    expect([early, east.get(east.id('MeshService', 'foo'))?.status]).toEqual([[`default/foo ${BOUND}`], undefined]);
    alone.end();
    const ranges = { MeshService: '241.0.0.0/8' };
    const leader = await lead(east, 'all', { loops: () => createZoneReconcilers({ cp: EAST, ranges }) });
    await leader.settle();
    const named = east.get(east.id('MeshService', 'foo'));
    expect(named?.status).toMatchObject({ vip: {}, addresses: [{ hostname: 'foo.mesh', status: 'Available' }] });
    await east.put('HTTPRoute', 'late', routeTo('foo'));
    await leader.settle();
    expect(parentsOf(east, east.id('HTTPRoute', 'late'))).toEqual([`default/foo ${BOUND}`]);
    expect(parentsOf(east, east.id('HTTPRoute', 'early'))).toEqual(early);
    expect(east.get(east.id('MeshService', 'foo'))).toBe(named);
  });

  it('T002-02: what the mesh allows, and whose the mesh is; a route of the global is left alone in a zone', async () => {
    const { east, leader } = await zone();
    await east.put('MeshService', 'foo', SERVICE);
    await east.put('HTTPRoute', 'own', routeTo('foo'));
    const copy = east.id('HTTPRoute', 'copy', { zone: '' });
    await east.write([
      { type: 'put', id: copy, expect: 'any', labels: { 'kuma.io/origin': 'global' }, spec: routeTo('foo') },
    ]);
    await leader.settle();
    expect(east.get(copy)?.status).toBeUndefined();
    const own = east.id('HTTPRoute', 'own');
    const allowing = async (spec: JsonObject): Promise<void> => {
      const parameters = globalIdentity('MeshParameters', 'p');
      const labels = { 'kuma.io/origin': 'global' };
      await east.write([{ type: 'put', id: parameters, expect: 'any', labels, spec }]);
      await leader.settle();
    };
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    await east.write([putMesh({ parametersRef })]);
    await allowing({ allowedRoutes: { kinds: [{ kind: 'GRPCRoute' }] } });
    expect(parentsOf(east, own)[0]).toContain('Accepted=False/NotAllowedByMesh');
    await allowing({});
    expect(parentsOf(east, own)).toEqual([`default/foo ${BOUND}`]);
  });

  it('T000-07: in a mesh of another controller a route has no entry of ours, until the mesh is ours', async () => {
    const { east, leader } = await zone();
    const [theirs, route] = [globalIdentity('Mesh', 'theirs'), east.id('HTTPRoute', 'route', { mesh: 'theirs' })];
    const meshOf = (spec: JsonObject): Change => ({ ...putMesh(spec), id: theirs });
    const inMesh = { mesh: 'theirs' };
    await east.write([
      meshOf({}),
      put(east, east.id('MeshService', 'foo', inMesh), SERVICE),
      put(east, east.id('HTTPRoute', 'route', inMesh), routeTo('foo')),
    ]);
    await leader.settle();
    expect(parentsOf(east, route)).toEqual([`default/foo ${BOUND}`]);
    await east.write([meshOf({ controllerName: 'example.com/other' })]);
    await leader.settle();
    expect(east.get(route)?.status).toEqual({});
    await east.write([meshOf({})]);
    await leader.settle();
    expect(parentsOf(east, route)).toEqual([`default/foo ${BOUND}`]);
  });

  it('shuffled: the same entries whatever came first, and nothing is written a second time', async () => {
    const global = await open(GLOBAL);
    const copy = (name: string): Change => ({
      type: 'put',
      id: global.id('MeshService', name, { zone: 'east' }),
      expect: 'any',
      labels: { 'kuma.io/display-name': name, 'kuma.io/zone': 'east' },
      spec: SERVICE,
    });
    const kinds = ['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute', 'UDPRoute'];
    const changes: Change[] = [
      ...['foo', 'bar'].map(copy),
      ...kinds.flatMap((kind) =>
        ['foo', 'bar', 'gone'].map((name) =>
          put(global, global.id(kind, `${kind.toLowerCase()}-${name}`), routeTo(name)),
        ),
      ),
    ];
    const routes = changes.filter(({ id }) => id.kind.endsWith('Route')).map(({ id }) => id);
    const all = (): readonly unknown[] => routes.map((id) => parentsOf(global, id));
    let wanted: readonly unknown[] | undefined;
    for (const [round, seed] of [7, 31, 101].entries()) {
      const leader = await lead(global, `round-${round}`);
      await global.write([putMesh()]);
      for (const i of [...changes.keys()].sort((a, b) => ((a * seed) % 17) - ((b * seed) % 17))) {
        await global.write([changes[i] ?? putMesh()]);
        if (i % 3 === 0) await leader.runner.step();
      }
      await leader.settle();
      wanted ??= all();
      expect(all()).toEqual(wanted);
      const before = await head(global);
      leader.end();
      const second = await lead(global, `again-${round}`);
      await second.settle();
      expect([await head(global), second.written]).toEqual([before, 0]);
      second.end();
      await global.write(changes.map(({ id }): Change => ({ type: 'delete', id, expect: 'any' })));
    }
    expect(wanted).toHaveLength(15);
  });

  it('two that both believe to lead write an entry once', async () => {
    const [one, two] = [await open(EAST), await open(EAST)];
    await one.write([putMesh(), put(one, one.id('MeshService', 'foo'), SERVICE)]);
    const older = await lead(one, 'older');
    await older.settle();
    const leader = await lead(two, 'leader');
    await leader.settle();
    const revision = await one.put('HTTPRoute', 'route', routeTo('foo'));
    await Promise.all([one, two].map(({ index }) => index.reached(revision)));
    await Promise.allSettled([older.settle(), leader.settle(), older.settle()]);
    await leader.settle();
    expect([older.written, leader.written, await head(one)]).toEqual([0, 1, revision + 1]);
    expect(parentsOf(two, two.id('HTTPRoute', 'route'))).toEqual([`default/foo ${BOUND}`]);
  });

  it.each(['before', 'after'] as const)(
    'a leader that loses its store %s the write leaves one write behind',
    async (when) => {
      const east = await open(EAST);
      await east.write([putMesh(), put(east, east.id('MeshService', 'foo'), SERVICE)]);
      let isBroken = false;
      const { store } = east;
      const write: ResourceStore['write'] = async (request) => {
        const fails = isBroken && request.changes.length > 0;
        if (fails && when === 'before') throw new Unavailable('the connection is gone');
        const result = await store.write(request);
        if (fails) throw new Unavailable('the connection is gone');
        return result;
      };
      const breaking = Object.create(store, { write: { value: write } }) as ResourceStore;
      const leader = await lead(east, 'one', { store: breaking });
      await leader.settle();
      const revision = await east.put('HTTPRoute', 'route', routeTo('foo'));
      isBroken = true;
      await expect(leader.settle()).rejects.toThrow('the connection is gone');
      isBroken = false;
      await leader.settle();
      const next = await lead(east, 'two');
      await next.settle();
      expect(parentsOf(east, east.id('HTTPRoute', 'route'))).toEqual([`default/foo ${BOUND}`]);
      expect([await head(east), next.written]).toEqual([revision + 1, 0]);
    },
  );

  it('that some proxy cannot obey a route is said at once, who else is waited for only in time', async () => {
    const east = await open(EAST);
    await east.write([putMesh()]);
    const progress = {
      of: () => ({
        proxies: { acked: 0, total: 1, waiting: [{ proxy: 'default/a' }] },
        unsupported: {
          total: unsupported,
          counts: [{ mode: 'builtin' as const, isTcpPassthrough: false, count: unsupported }].slice(0, unsupported),
          first: [{ type: 'proxy' as const, proxy: 'default/b', mode: 'builtin' as const }].slice(0, unsupported),
        },
      }),
      version: '',
      unsupported: { watch: () => undefined, forget: () => undefined, takeChanged: () => [] },
    };
    let unsupported = 0;
    const ever = Number.MAX_SAFE_INTEGER;
    const leader = await lead(east, 'one', { progress, patience: { first: ever, then: ever } });
    await east.put('MeshService', 'foo', { ...SERVICE, state: 'Available' });
    await east.put('HTTPRoute', 'all', routeTo('foo'));
    await leader.settle();
    const said = (name: string): string =>
      JSON.stringify(east.index.get(east.id('HTTPRoute', name))?.status?.['parents']);
    expect(said('all')).not.toContain('Programmed');
    unsupported = 1;
    await east.put('HTTPRoute', 'other', routeTo('foo'));
    await leader.settle();
    expect(said('other')).toContain('NotSupported');
  });
});

function put(plane: TestPlane, id: Identity, spec: JsonObject): Change {
  const origin = plane.cp.role === 'zone' ? 'zone' : 'global';
  const labels = { 'kuma.io/display-name': id.name, 'kuma.io/mesh': id.mesh, 'kuma.io/origin': origin };
  return { type: 'put', id, expect: 'any', labels, spec };
}
