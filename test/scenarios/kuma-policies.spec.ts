import { GlobalProgress } from '@causeway/controllers';
import { kumaPolicyId } from '@causeway/kuma/testing';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { isJsonArray, isJsonObject, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { KumaZone } from '../support/kuma-zone';
import { PolicyLeader } from '../support/policy-leader';
import type { RouteLeader } from '../support/route-leader';
import { TestGlobal, TestZone } from '../support/sync-mesh';
import { until } from '../support/until';

const HTTP = {
  ports: [
    { port: 80, name: 'http', appProtocol: 'http' },
    { port: 9_000, name: 'tcp' },
  ],
  state: 'Available',
};
const policy = (
  spec: JsonObject,
  targetRefs: readonly JsonObject[] = [{ kind: 'Mesh', name: 'default' }],
): JsonObject => ({
  targetRefs,
  ...spec,
});
const labels = { 'kuma.io/display-name': 'web', 'kuma.io/zone': 'east' };
const toWeb = (http: JsonObject): JsonObject => ({
  targetRef: { kind: 'Mesh' },
  to: [{ targetRef: { kind: 'MeshService', labels, sectionName: 'http' }, default: { http } }],
});
const timeout = (requestTimeout: string): JsonObject => toWeb({ requestTimeout, streamIdleTimeout: '1800s' });
const SERVERS = {
  targetRef: { kind: 'Mesh', proxyTypes: ['Sidecar'] },
  rules: [{ default: { http: { requestTimeout: '0s', streamIdleTimeout: '0s' } } }],
};

describe('policies in zones of Kuma', () => {
  let global: TestGlobal;
  let east: TestZone;
  let leader: RouteLeader;
  let kuma: readonly string[];
  const kz = new KumaZone('kz');

  beforeEach(async () => {
    [global, east, kuma] = [new TestGlobal(), new TestZone('east'), ['kz']];
    await global.put('Mesh', 'default', {});
    for (const shipped of shippedPolicies)
      await global.put('MetaresourceDefinition', shippedDefinitionName(shipped), shippedDefinition(shipped));
    await global.serve();
    await east.join(global);
    await east.put('MeshService', 'web', HTTP);
    await global.holds(east.id('MeshService', 'web'));
    await global.put('Zone', 'kz', {});
    // The fake zone has a stream only: the test sets what the global knows of zones.
    const progress = new GlobalProgress({ index: global.index, zones: () => ({ connected: ['east'], kuma }) });
    leader = (await PolicyLeader.lead(global, 'global-1', { progress, kuma: () => kuma })).leader.start();
  });
  afterEach(async () => {
    kz.leave();
    await leader.stopped();
    await east.close();
    await global.close();
  });

  const idOf = (kind: string, name: string): Identity => ({
    kind,
    mesh: 'default',
    zone: '',
    namespace: 'default',
    name,
  });
  const put = (kind: string, name: string, spec: JsonObject): Promise<unknown> =>
    global.write([{ type: 'put', id: idOf(kind, name), expect: 'any', labels: {}, spec }]);
  const drop = (kind: string, name: string): Promise<unknown> =>
    global.write([{ type: 'delete', id: idOf(kind, name), expect: 'any' }]);
  type Kind = Parameters<typeof kumaPolicyId>[0];
  const made = (kind: Kind): Resource | undefined => global.get(kumaPolicyId(kind, east.id('MeshService', 'web')));
  const says = (kind: Kind, wanted: JsonObject | undefined): Promise<unknown> =>
    until(`${kind} is said`, () => JSON.stringify(made(kind)?.spec) === JSON.stringify(wanted));
  /** Returns what the status reports as not sent to zones of Kuma; empty if it reports nothing. */
  const reason = (kind: string, name: string): string | undefined => {
    const conditions = global.get(idOf(kind, name))?.status?.['conditions'];
    if (!isJsonArray(conditions)) return undefined;
    const message = conditions.filter(isJsonObject).find(({ type }) => type === 'UnsupportedByKuma')?.['message'];
    return typeof message === 'string' ? message : '';
  };
  const explains = (kind: string, name: string, why: string): Promise<unknown> =>
    until(`${kind} ${name} says ${why}`, () =>
      why === '' ? reason(kind, name) === '' : (reason(kind, name) ?? '').includes(why),
    );
  const hears = (kind: Kind, wanted: readonly JsonObject[]): Promise<unknown> =>
    until(`kz hears of ${kind}`, async () => {
      kz.ask(global, [kind]);
      const all = await kz.firstResources(kind);
      kz.leave();
      return (
        JSON.stringify(all.map(({ spec }) => JSON.stringify(spec)).sort()) ===
        JSON.stringify(wanted.map((spec) => JSON.stringify(spec)).sort())
      );
    });

  it('a zone of Kuma is told what the fold of a TimeoutPolicy comes to, its changes and its end; other zones are not', async () => {
    await put('TimeoutPolicy', 'top', policy({ request: '10s' }));
    await says('MeshTimeout', timeout('10s'));
    await explains('TimeoutPolicy', 'top', '');
    const servers = () => global.get(kumaPolicyId('MeshTimeout', global.id('Mesh', 'default')));
    await until('servers are told', () => servers() !== undefined);
    await hears('MeshTimeout', [timeout('10s'), SERVERS]);
    const web = [{ kind: 'MeshService', name: 'web' }];
    await put('TimeoutPolicy', 'special', policy({ defaults: { request: '20s' } }, web));
    await says('MeshTimeout', timeout('20s'));
    await put('TimeoutPolicy', 'top', policy({ overrides: { request: '30s' } }));
    await says('MeshTimeout', timeout('30s'));
    expect([...east.index.ofKind('MeshTimeout')]).toEqual([]);
    await drop('TimeoutPolicy', 'top');
    await says('MeshTimeout', timeout('20s'));
    await drop('TimeoutPolicy', 'special');
    await says('MeshTimeout', undefined);
    await until('servers are told no longer', () => servers() === undefined);
    await hears('MeshTimeout', []);
  });

  it('is told no longer where a policy, a route or a service makes it inexact, and the policy says why', async () => {
    const retry = (on: readonly string[]): JsonObject => policy({ attempts: 2, on });
    await put('RetryPolicy', 'again', retry(['5xx']));
    await until('it is told', () => made('MeshRetry') !== undefined);
    expect(made('MeshRetry')?.spec).toEqual(toWeb(expect.objectContaining({ numRetries: 2 }) as JsonObject));
    await put('RetryPolicy', 'again', retry(['connect-failure']));
    await explains('RetryPolicy', 'again', 'at MeshService web port 80 a request that no server has begun');
    await says('MeshRetry', undefined);
    await put('RetryPolicy', 'again', retry(['reset']));
    await until('it is told', () => made('MeshRetry') !== undefined);
    const rules = [{ name: 'own', timeouts: { request: '1s' } }];
    await global.put('HTTPRoute', 'r', { parentRefs: [{ kind: 'Service', name: 'web', port: 80 }], rules });
    await explains('RetryPolicy', 'again', 'rule own has timeouts of its own');
    await says('MeshRetry', undefined);
    await global.delete('HTTPRoute', 'r');
    await until('it is told', () => made('MeshRetry') !== undefined);
    await explains('RetryPolicy', 'again', '');
    await east.put('MeshService', 'web', { ...HTTP, ports: [{ port: 80, appProtocol: 'http2' }] });
    await explains('RetryPolicy', 'again', 'where appProtocol is http2');
    await put('HeaderPolicy', 'h', policy({ request: { set: { a: 'b' } } }));
    await explains('HeaderPolicy', 'h', 'do not apply the rest: kz; a HeaderPolicy is not translated');
    kuma = [];
    await explains('HeaderPolicy', 'h', '');
  });

  it('is told no longer while another zone has a service of its name', async () => {
    const west = new TestZone('west');
    try {
      await west.join(global);
      await put('TimeoutPolicy', 'top', policy({ request: '10s' }));
      await says('MeshTimeout', timeout('10s'));
      // By the tag, it costs no other service a look for the sake of its servers.
      await west.put('MeshService', 'web', { ...HTTP, selector: { dataplaneTags: { 'kuma.io/service': 'web' } } });
      await explains('TimeoutPolicy', 'top', 'several services may have its name');
      await says('MeshTimeout', undefined);
      await west.delete('MeshService', 'web');
      await says('MeshTimeout', timeout('10s'));
    } finally {
      await west.close();
    }
  });

  it('nothing of a policy of another zone, or of one that is kept from sync, is told', async () => {
    await put('TimeoutPolicy', 'top', policy({ request: '10s' }));
    await says('MeshTimeout', timeout('10s'));
    const any = { type: 'put', expect: 'any' } as const;
    const spec = policy({ overrides: { request: '1s' } });
    const other = { ...idOf('TimeoutPolicy', 'theirs'), zone: 'east' };
    const kept = idOf('TimeoutPolicy', 'kept');
    await global.write([
      { ...any, id: other, labels: {}, spec },
      { ...any, id: kept, labels: { 'kuma.io/kds-sync': 'disabled' }, spec },
    ]);
    await put('TimeoutPolicy', 'top', policy({ request: '11s' }));
    await says('MeshTimeout', timeout('11s'));
  });

  it('servers of Kuma are told who may call them, by their SPIFFE ids', async () => {
    const selector = { dataplaneLabels: { matchLabels: { 'kuma.io/workload': 'db' } } };
    const id = { ...global.id('MeshService', 'db'), zone: 'kz' };
    await global.write([
      {
        type: 'put',
        expect: 'any',
        id,
        labels: { 'kuma.io/display-name': 'db', 'kuma.io/zone': 'kz' },
        spec: { ...HTTP, selector },
      },
    ]);
    const value = 'spiffe://default.east.mesh.local/workload/web';
    const allow = (type: string): JsonObject => ({ allow: { web: { from: [{ spiffeId: { type, value } }] } } });
    await put('AccessPolicy', 'acp', policy(allow('Exact')));
    const permission = () => global.get(kumaPolicyId('MeshTrafficPermission', id));
    await until('it is told', () => permission() !== undefined);
    const wanted = {
      targetRef: { kind: 'Dataplane', labels: { 'kuma.io/workload': 'db', 'kuma.io/zone': 'kz' } },
      rules: [{ default: { allow: [{ spiffeID: { type: 'Exact', value } }] } }],
    };
    await hears('MeshTrafficPermission', [wanted]);
    await put('AccessPolicy', 'acp', policy(allow('Prefix')));
    await explains('AccessPolicy', 'acp', 'names a prefix');
    await until('it is told no longer', () => permission() === undefined);
  });

  it('is made while there are zones of Kuma only; what somebody else made stays', async () => {
    const id = kumaPolicyId('MeshTimeout', east.id('MeshService', 'web'));
    const orphan = { ...id, name: 'timeoutpolicy-00' };
    const any = { type: 'put', expect: 'any', spec: { to: [] } } as const;
    await global.write([
      { ...any, id, labels: {} },
      { ...any, id: orphan, labels: { 'causeway.io/derived-from': 'x' } },
    ]);
    await put('TimeoutPolicy', 'top', policy({ request: '10s' }));
    await explains('TimeoutPolicy', 'top', `somebody else made has the name ${id.name}`);
    await until('the orphan is gone', () => global.get(orphan) === undefined);
    expect(made('MeshTimeout')?.spec).toEqual({ to: [] });
    await global.write([{ type: 'delete', id, expect: 'any' }]);
    await says('MeshTimeout', timeout('10s'));
    kuma = [];
    await says('MeshTimeout', undefined);
    kuma = ['kz'];
    await says('MeshTimeout', timeout('10s'));
  });
});
