import { GlobalProgress } from '@causeway/controllers';
import { meshHttpRouteId } from '@causeway/kuma/testing';
import { isJsonArray, isJsonObject, type JsonObject, type Resource } from '@causeway/resources';
import { KumaZone } from '../support/kuma-zone';
import { parentsOf, RouteLeader } from '../support/route-leader';
import { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';

const HTTP = { ports: [{ port: 80, name: 'http', appProtocol: 'http' }], state: 'Available' };
const route = (v2: number): JsonObject => ({
  parentRefs: [{ kind: 'Service', name: 'foo', port: 80 }],
  rules: [
    {
      backendRefs: [
        { name: 'foo', weight: 100 - v2 },
        { name: 'foo-v2', weight: v2 },
      ],
    },
  ],
});
const labelsOf = (name: string) => ({ 'kuma.io/display-name': name, 'kuma.io/zone': 'east' });
const share = (name: string, weight: number) => ({ kind: 'MeshService', labels: labelsOf(name), port: 80, weight });
const spec = (v2: number): JsonObject => ({
  targetRef: { kind: 'Mesh' },
  to: [
    {
      targetRef: { kind: 'MeshService', labels: labelsOf('foo'), sectionName: 'http' },
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          default: { backendRefs: [share('foo', 100 - v2), share('foo-v2', v2)] },
        },
      ],
    },
  ],
});

describe('routes in zones of Kuma', () => {
  let global: TestGlobal;
  let east: TestZone;
  let leader: RouteLeader;
  let kuma: readonly string[];
  const kz = new KumaZone('kz');

  beforeEach(async () => {
    [global, east, kuma] = [new TestGlobal(), new TestZone('east'), ['kz']];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await east.join(global);
    for (const name of ['foo', 'foo-v2']) {
      await east.put('MeshService', name, HTTP);
      await global.holds(east.id('MeshService', name));
    }
    // The fake zone has a stream only: the test sets what the global knows of zones.
    await global.put('Zone', 'kz', {});
    const zones = () => ({ connected: ['east'], kuma });
    const progress = new GlobalProgress({ index: global.index, zones });
    leader = (await RouteLeader.lead(global, 'global-1', { progress, kuma: () => kuma })).start();
  });
  afterEach(async () => {
    kz.leave();
    await leader.stopped();
    await east.close();
    await global.close();
  });

  const made = (name: string): Resource | undefined => global.get(meshHttpRouteId(global.id('HTTPRoute', name)));
  const says = (name: string, wanted: JsonObject): Promise<unknown> =>
    until('it is said', () => JSON.stringify(made(name)?.spec) === JSON.stringify(wanted));
  const reason = (name: string): string => {
    const parents = global.get(global.id('HTTPRoute', name))?.status?.['parents'];
    const [first] = isJsonArray(parents) ? parents.filter(isJsonObject) : [];
    const all = isJsonArray(first?.['conditions']) ? first['conditions'].filter(isJsonObject) : [];
    const message = all.find(({ type }) => type === 'UnsupportedByKuma')?.['message'];
    return typeof message === 'string' ? message : '';
  };
  const explains = async (name: string, why: string): Promise<void> => {
    await until(`it says ${why}`, () => reason(name).includes(why));
    await until('it is gone', () => made(name) === undefined);
  };
  const heard = async (): Promise<readonly JsonObject[]> => {
    kz.ask(global, ['MeshHTTPRoute']);
    const all = await kz.firstResources('MeshHTTPRoute');
    kz.leave();
    return all.map((each) => each.spec);
  };

  it('a zone of Kuma is told one MeshHTTPRoute of an exact route, and its changes; the condition is absent', async () => {
    await global.put('HTTPRoute', 'split', route(10));
    await says('split', spec(10));
    expect(await heard()).toEqual([spec(10)]);
    const before = made('split');
    await global.put('HTTPRoute', 'split', route(50));
    await says('split', spec(50));
    expect(made('split')).toMatchObject({ generation: 2, uid: before?.uid });
    expect(await heard()).toEqual([spec(50)]);
    await until('its status is said', () => parentsOf(global, global.id('HTTPRoute', 'split')).length > 0);
    expect(reason('split')).toBe('');
    expect([...east.index.ofKind('MeshHTTPRoute')]).toEqual([]);
    await global.delete('HTTPRoute', 'split');
    await until('it is gone', () => made('split') === undefined);
    expect(await heard()).toEqual([]);
  });

  it('is told no longer when the route, a service, another route or an export makes it inexact, and told again after', async () => {
    await global.put('HTTPRoute', 'split', route(10));
    await says('split', spec(10));
    await global.put('HTTPRoute', 'split', { ...route(10), rules: [{ timeouts: { request: '1s' } }] });
    await explains('split', 'rule rule-1');
    await global.put('HTTPRoute', 'split', route(20));
    await says('split', spec(20));
    await until('it is said no longer', () => reason('split') === '');
    await east.put('MeshService', 'foo-v2', { ...HTTP, ports: [{ port: 80, name: 'http' }] });
    await explains('split', 'port 80 of MeshService foo-v2 is not of http');
    await east.put('MeshService', 'foo-v2', { ...HTTP, export: { mode: 'Subset', zones: ['west'] } });
    await explains('split', 'zone kz does not get MeshService foo-v2');
    await east.put('MeshService', 'foo-v2', HTTP);
    await says('split', spec(20));
    await global.put('HTTPRoute', 'other', route(1));
    await explains('split', 'other routes are bound to MeshService foo port 80');
    await explains('other', 'other routes are bound to MeshService foo port 80');
    await global.delete('HTTPRoute', 'other');
    await says('split', spec(20));
  });

  it('is made while there are zones of Kuma only', async () => {
    await global.put('HTTPRoute', 'split', route(10));
    await says('split', spec(10));
    kuma = [];
    await until('it is gone', () => made('split') === undefined);
    kuma = ['kz'];
    await says('split', spec(10));
  });

  it('follows the labels of zones, by which services are exported', async () => {
    const selected = { mode: 'Subset', zones: { matchLabels: { site: 'a' } } };
    await east.put('MeshService', 'foo-v2', { ...HTTP, export: selected });
    await global.put('HTTPRoute', 'split', route(10));
    await explains('split', 'zone kz does not get MeshService foo-v2');
    await global.put('Zone', 'kz', {}, { site: 'a' });
    await says('split', spec(10));
  });

  it("an operator's MeshHTTPRoute stays, also under the name; one whose route is gone goes", async () => {
    const own = { ...meshHttpRouteId(global.id('HTTPRoute', 'split')), name: 'mine' };
    const taken = meshHttpRouteId(global.id('HTTPRoute', 'split'));
    const orphan = meshHttpRouteId(global.id('HTTPRoute', 'gone'));
    const put = { type: 'put', expect: 'any', spec: { to: [] } } as const;
    await global.write([
      { ...put, id: own, labels: {} },
      { ...put, id: taken, labels: {} },
      { ...put, id: orphan, labels: { 'causeway.io/derived-from': 'x' } },
    ]);
    await global.put('HTTPRoute', 'split', route(10));
    await until('the reason is said', () => reason('split').includes(`somebody else made has the name ${taken.name}`));
    await until('the orphan is gone', () => global.get(orphan) === undefined);
    expect([own, taken].map((id) => global.get(id)?.spec)).toEqual([{ to: [] }, { to: [] }]);
    await global.write([{ type: 'delete', id: taken, expect: 'any' }]);
    await says('split', spec(10));
  });
});
