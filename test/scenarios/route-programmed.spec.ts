import { createProgressReporter, GlobalProgress, reportedRoutes, ZoneProgress } from '@causeway/controllers';
import { isJsonArray, isJsonObject, type Identity, type JsonObject } from '@causeway/resources';
import { ProxyZone } from '../support/proxy-zone';
import { parentsOf, RouteLeader } from '../support/route-leader';
import { TestGlobal } from '../support/sync-mesh';
import type { TestPlane } from '../support/test-plane';
import { until } from '../support/until';

const ROUTE = { parentRefs: [{ kind: 'Service', name: 'foo' }], rules: [{ backendRefs: [{ name: 'foo', port: 80 }] }] };
/** A zone whose leader writes the status of routes, and reports. */
const proxyZone = (name: string): ProxyZone =>
  new ProxyZone(name, (plane, { cp, proxies, findPosition }) =>
    RouteLeader.lead(plane, name, {
      isBeside: true,
      progress: new ZoneProgress(proxies),
      loops: (routes, ended) => [
        createProgressReporter({ cp, reported: [reportedRoutes(routes)], proxies, findPosition }, ended),
      ],
    }),
  );

function programmed(plane: TestPlane, id: Identity): JsonObject | undefined {
  const parents = plane.get(id)?.status?.['parents'];
  const [first] = isJsonArray(parents) ? parents.filter(isJsonObject) : [];
  const conditions = first?.['conditions'];
  return (isJsonArray(conditions) ? conditions.filter(isJsonObject) : []).find(({ type }) => type === 'Programmed');
}

const LATE = Number.MAX_SAFE_INTEGER;

describe('Programmed of routes', () => {
  let global: TestGlobal;
  let east: ProxyZone;
  let west: ProxyZone;
  let leader: RouteLeader;
  let kuma: readonly string[];

  beforeEach(async () => {
    global = new TestGlobal();
    [east, west] = [proxyZone('east'), proxyZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await east.plane.put('MeshService', 'foo', { ports: [{ port: 80 }], state: 'Available' });
    await west.plane.holds(east.plane.id('MeshService', 'foo'));
    kuma = [];
    const zones = () => ({ connected: ['east', 'west'], kuma });
    const progress = new GlobalProgress({ index: global.index, zones });
    leader = (await RouteLeader.lead(global, 'global-1', { progress })).start();
  });
  afterEach(async () => {
    await leader.stopped();
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  const says = (plane: TestPlane, id: Identity, wanted: JsonObject): Promise<unknown> =>
    until(`Programmed as ${JSON.stringify(wanted)}`, () => {
      const found = programmed(plane, id);
      return found && Object.entries(wanted).every(([key, value]) => found[key] === value) ? found : undefined;
    });

  it("T002-04: of a zone's own route is True once the proxies of the zone have applied it, and stays so", async () => {
    await east.report({ a: LATE, b: 0 });
    await east.plane.put('HTTPRoute', 'own', ROUTE);
    const own = east.plane.id('HTTPRoute', 'own');
    await says(east.plane, own, { status: 'False', message: 'applied by 1 of 2 proxies; waiting for default/b' });
    await east.report({ b: east.revision });
    await says(east.plane, own, { status: 'True', message: 'applied by 2 of 2 proxies', observedGeneration: 1 });
    const { revision } = await east.plane.holds(own);
    expect(await global.holds(own, ({ status }) => status !== undefined)).toMatchObject({ generation: 1 });
    await east.report({ c: 0 });
    await east.plane.put('HTTPRoute', 'other', { ...ROUTE, parentRefs: [{ kind: 'Service', name: 'none' }] });
    await east.plane.holds(east.plane.id('HTTPRoute', 'other'), ({ status }) => status !== undefined);
    expect(east.plane.get(own)?.revision).toBe(revision);
  });

  it("of the global's route waits for the proxies of every zone, with counts, and for each generation anew", async () => {
    await east.report({ a: LATE, b: LATE });
    await west.report({ c: 0 });
    await global.put('HTTPRoute', 'all', ROUTE);
    const all = global.id('HTTPRoute', 'all');
    await says(global, all, {
      status: 'False',
      message: 'applied by 2 of 3 proxies, 1 of 2 zones; waiting for west: default/c; waiting for west',
    });
    await west.report({ c: LATE });
    await says(global, all, { status: 'True', message: 'applied by 3 of 3 proxies, 2 of 2 zones' });
    await west.report({ c: 0 });
    await global.put('HTTPRoute', 'all', { ...ROUTE, hostnames: ['a.example'] });
    await says(global, all, { status: 'False', observedGeneration: 2 });
    await west.report({ c: LATE });
    await says(global, all, { status: 'True', observedGeneration: 2 });
    const { revision } = await global.holds(all);
    await west.report({ d: 0 });
    await global.put('TCPRoute', 'later', { ...ROUTE, parentRefs: [{ kind: 'Service', name: 'none' }] });
    await global.holds(global.id('TCPRoute', 'later'), ({ status }) => status !== undefined);
    expect(global.get(all)?.revision).toBe(revision);
  });

  it('says at each parent which zones of Kuma are not sent the route, as long as there are some', async () => {
    await global.put('HTTPRoute', 'all', ROUTE);
    const all = global.id('HTTPRoute', 'all');
    const told = (): boolean => parentsOf(global, all)[0]?.includes('UnsupportedByKuma=True/NotExpressible') ?? false;
    await until('it is bound', () => parentsOf(global, all).length > 0);
    expect(told()).toBe(false);
    kuma = ['kz'];
    await until('it is said', told);
    kuma = [];
    await until('it is said no longer', () => !told());
  });

  it('of a kind that a machine cannot obey is False and names it, as is that of a parent that nobody serves', async () => {
    await east.report({ a: LATE }, { userAgent: 'causeway-agent 0.1.0+builtin' });
    await east.plane.put('HTTPRoute', 'own', ROUTE);
    await says(east.plane, east.plane.id('HTTPRoute', 'own'), { status: 'False', reason: 'NotSupported' });
    await east.plane.put('TCPRoute', 'tcp', { ...ROUTE, parentRefs: [{ kind: 'Service', name: 'bar' }] });
    await east.plane.put('MeshService', 'bar', { ports: [{ port: 80 }], state: 'Available' });
    await says(east.plane, east.plane.id('TCPRoute', 'tcp'), { status: 'True' });
    const listener = { name: 'web', port: 80, protocol: 'HTTP' };
    await east.plane.put('Gateway', 'edge', { gatewayClassName: 'edge', listeners: [listener] });
    await east.plane.put('HTTPRoute', 'edge', { ...ROUTE, parentRefs: [{ name: 'edge' }] });
    await says(east.plane, east.plane.id('HTTPRoute', 'edge'), { status: 'False', reason: 'NoGateway' });
  });
});
