import { GlobalProgress, ZoneProgress } from '@causeway/controllers';
import { shippedDefinition, shippedPolicies } from '@causeway/policies';
import { isJsonArray, isJsonObject, type Identity, type JsonObject } from '@causeway/resources';
import { definition, PolicyLeader, policyId, putOf } from '../support/policy-leader';
import { ProxyZone } from '../support/proxy-zone';
import { TestGlobal } from '../support/sync-mesh';
import type { TestPlane } from '../support/test-plane';
import { until } from '../support/until';

const LATE = Number.MAX_SAFE_INTEGER;
/** As grpc-js-xds names itself. */
const GRPC = { userAgent: 'gRPC Node Pure JS 1.14.1' };
const BUILTIN = { userAgent: 'causeway-agent 0.1.0+builtin' };

const proxyZone = (name: string): ProxyZone =>
  new ProxyZone(name, (plane, { cp, proxies, findPosition }) =>
    PolicyLeader.lead(plane, name, {
      isBeside: true,
      progress: new ZoneProgress(proxies),
      reports: { cp, proxies, findPosition },
    }),
  );

describe('Enforced of policies', () => {
  let global: TestGlobal;
  let east: ProxyZone;
  let west: ProxyZone;
  let leader: PolicyLeader;

  beforeEach(async () => {
    global = new TestGlobal();
    [east, west] = [proxyZone('east'), proxyZone('west')];
    await global.put('Mesh', 'default', {});
    await global.write(shippedPolicies.map((policy) => definition(shippedDefinition(policy))));
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await global.write([putOf(global, 'MeshService', 'all', { ports: [{ port: 80 }] })]);
    for (const { plane } of [east, west]) await plane.holds(policyId(global, 'MeshService', 'all'));
    const zones = () => ({ connected: ['east', 'west'], kuma: [] });
    const patience = { first: 1_000, then: 1_000, zones: 1_000 };
    const progress = new GlobalProgress({ index: global.index, zones });
    leader = (await PolicyLeader.lead(global, 'global-1', { progress, patience })).start();
  });
  afterEach(async () => {
    await leader.stopped();
    await Promise.all([east.close(), west.close()]);
    await global.close();
  });

  const of = (plane: TestPlane, id: Identity, type: string): JsonObject | undefined => {
    const all = plane.get(id)?.status?.['conditions'];
    return (isJsonArray(all) ? all.filter(isJsonObject) : []).find((one) => one['type'] === type);
  };
  const says = (plane: TestPlane, id: Identity, type: string, wanted: JsonObject): Promise<unknown> =>
    until(`${type} as ${JSON.stringify(wanted)}`, () => {
      const found = of(plane, id, type);
      return found && Object.entries(wanted).every(([key, value]) => found[key] === value);
    });
  const timeout = (
    plane: TestPlane,
    name: string,
    request: string,
    on: JsonObject = { kind: 'Mesh', name: 'default' },
  ): Promise<number> => plane.write([putOf(plane, 'TimeoutPolicy', name, { targetRefs: [on], request })]);

  it("T004-46: of a zone's own policy follows its proxies, and what cannot apply it makes it partial while it is there", async () => {
    await east.report({ a: LATE, b: 0 });
    await timeout(east.plane, 'own', '1s');
    const own = policyId(east.plane, 'TimeoutPolicy', 'own');
    const said = 'AtomicDefaults: enforced in 1 of 1 scopes';
    await says(east.plane, own, 'PartiallyEnforced', {
      status: 'True',
      reason: 'Pending',
      message: `${said}; applied by 1 of 2 proxies; waiting for default/b`,
    });
    await east.report({ b: LATE });
    await says(east.plane, own, 'Enforced', { status: 'True', message: `${said}; applied by 2 of 2 proxies` });
    expect(await global.holds(own, ({ status }) => status !== undefined)).toMatchObject({ generation: 1 });
    await east.report({ c: LATE }, BUILTIN);
    await says(east.plane, own, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported' });
    expect(of(east.plane, own, 'Enforced')).toMatchObject({ status: 'False', reason: 'NotSupported' });
    expect(of(east.plane, own, 'PartiallyEnforced')?.['message']).toMatch(
      /applied by 2 of 2 proxies; default\/c \(builtin\) cannot apply all of it: builtin: the builtin proxy passes/,
    );
    // It is replaced by a proxy that supports the feature.
    await east.report({ c: LATE });
    await says(east.plane, own, 'Enforced', { status: 'True', message: `${said}; applied by 3 of 3 proxies` });
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'LoadBalancingPolicy',
      { algorithm: 'RingHash', hash: [{ header: 'x-user' }] },
      { algorithm: 'Maglev' },
      '/algorithm',
    ],
    ['LoadBalancingPolicy', { locality: { failover: ['west'] } }, { hash: [{ sourceAddress: true }] }, '/hash'],
    ['CircuitBreakerPolicy', { limits: { requests: 1 } }, { limits: { connections: 1 } }, '/limits/connections'],
    ['CircuitBreakerPolicy', { limits: { requests: 2 } }, { ejection: {} }, '/ejection'],
  ])('T004-47: %s %j is done by gRPC clients, %j is not: then it is partial', async (kind, able, unable, field) => {
    const { plane } = east;
    const targetRefs = [{ kind: 'Mesh', name: 'default' }];
    const own = policyId(plane, kind, 'own');
    await east.report({ a: LATE });
    await east.report({ c: LATE }, GRPC);
    await plane.write([putOf(plane, kind, 'own', { targetRefs, ...able })]);
    await says(plane, own, 'Enforced', { status: 'True', observedGeneration: 1 });
    await plane.write([putOf(plane, kind, 'own', { targetRefs, ...unable })]);
    await says(plane, own, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported', observedGeneration: 2 });
    expect(of(plane, own, 'PartiallyEnforced')?.['message']).toContain(
      `default/c (gRPC) cannot apply all of it: gRPC: ${field}`,
    );
  });

  it('counts every proxy that lacks something by its dataplane mode, also those that no message names', async () => {
    await east.report({ a: LATE, b: LATE, c: LATE }, BUILTIN);
    await east.report({ d: LATE }, GRPC);
    const spec = { targetRefs: [{ kind: 'Mesh', name: 'default' }], request: '1s', idle: '1s' };
    for (const [plane, name, at] of [
      [east.plane, 'own', ''],
      [global, 'all', 'east: '],
    ] as const) {
      const id = policyId(plane, 'TimeoutPolicy', name);
      await plane.write([putOf(plane, 'TimeoutPolicy', name, spec)]);
      // Three apply nothing of it; the fourth, which no message names, applies a part.
      await says(plane, id, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported' });
      const message = of(plane, id, 'PartiallyEnforced')?.['message'];
      const names = ['a', 'b', 'c'].map((proxy) => `${at}default/${proxy} (builtin)`).join(', ');
      expect(message).toContain(`${names} and 1 more cannot apply all of it: gRPC: /idle`);
      expect(message).toContain('; builtin: the builtin proxy passes');
      expect(of(plane, id, 'Enforced')).toMatchObject({ status: 'False', reason: 'NotSupported' });
      await plane.write([{ type: 'delete', id, expect: 'any' }]);
    }
  });

  it("T004-46: of the global's policy waits for the proxies of every zone, for each generation anew", async () => {
    await east.report({ a: LATE, b: LATE });
    await west.report({ c: 0 });
    await timeout(global, 'all', '1s');
    const all = policyId(global, 'TimeoutPolicy', 'all');
    const said = 'AtomicDefaults: enforced in 1 of 1 scopes; applied by';
    await says(global, all, 'PartiallyEnforced', {
      status: 'True',
      reason: 'Pending',
      message: `${said} 2 of 3 proxies, 1 of 2 zones; waiting for west: default/c; waiting for west`,
    });
    await west.report({ c: LATE });
    await says(global, all, 'Enforced', { status: 'True', message: `${said} 3 of 3 proxies, 2 of 2 zones` });
    await west.report({ c: 0 });
    await timeout(global, 'all', '2s');
    await says(global, all, 'PartiallyEnforced', { status: 'True', reason: 'Pending', observedGeneration: 2 });
    await west.report({ c: LATE });
    await says(global, all, 'Enforced', { status: 'True', observedGeneration: 2 });
    await west.report({ d: LATE }, BUILTIN);
    await says(global, all, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported' });
    expect(of(global, all, 'PartiallyEnforced')?.['message']).toContain(
      'west: default/d (builtin) cannot apply all of it',
    );
  });

  it('T004-61: what was overridden is Enforced once the proxies know that the other is gone', async () => {
    await east.report({ a: LATE });
    await west.report({ c: LATE });
    await timeout(global, 'first', '1s');
    await timeout(global, 'second', '2s', { kind: 'MeshService', name: 'all' });
    const first = policyId(global, 'TimeoutPolicy', 'first');
    await says(global, first, 'Overridden', { status: 'True' });
    await global.write([{ type: 'delete', id: policyId(global, 'TimeoutPolicy', 'second'), expect: 'any' }]);
    await says(global, first, 'Enforced', { status: 'True', reason: 'Enforced' });
  });

  it('of a policy that nobody is connected for is Unknown', async () => {
    await timeout(east.plane, 'own', '1s');
    await east.report({});
    await says(east.plane, policyId(east.plane, 'TimeoutPolicy', 'own'), 'Enforced', { status: 'Unknown' });
  });

  it('of a policy on requests says at which ports and routes connections are bytes, and no more once they are not', async () => {
    const { plane } = east;
    const redis = (appProtocol: string): JsonObject => ({
      ports: [
        { port: 6379, appProtocol },
        { port: 80, appProtocol: 'http' },
      ],
    });
    const ports = (appProtocol: string): Promise<number> =>
      plane.write([putOf(plane, 'MeshService', 'redis', redis(appProtocol))]);
    await ports('tcp');
    await east.report({ a: LATE });
    const [both, port, other] = ['both', 'port', 'other'].map((name) => policyId(plane, 'TimeoutPolicy', name));
    if (!both || !port || !other) throw new Error('no identities');
    await timeout(plane, 'both', '1s', { kind: 'MeshService', name: 'redis' });
    await says(plane, both, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported' });
    expect(of(plane, both, 'PartiallyEnforced')?.['message']).toContain('requests at port 6379 of redis: connections');
    await plane.write([{ type: 'delete', id: both, expect: 'any' }]);
    await timeout(plane, 'port', '1s', { kind: 'MeshService', name: 'redis', sectionName: '6379' });
    await timeout(plane, 'other', '1s', { kind: 'MeshService', name: 'redis', sectionName: '80' });
    await says(plane, port, 'Enforced', { status: 'False', reason: 'NotSupported' });
    expect(of(plane, port, 'PartiallyEnforced')).toMatchObject({ status: 'False', reason: 'NotSupported' });
    await says(plane, other, 'Enforced', { status: 'True' });
    await ports('http');
    await says(plane, port, 'Enforced', { status: 'True' });
    await ports('tcp');
    await says(plane, port, 'Enforced', { status: 'False', reason: 'NotSupported' });
    // A route that matches requests makes the port an HTTP port.
    const parentRefs = [{ kind: 'MeshService', name: 'redis', port: 6379 }];
    await plane.write([
      putOf(plane, 'HTTPRoute', 'redis', { parentRefs, rules: [{ backendRefs: [{ name: 'redis', port: 80 }] }] }),
    ]);
    await says(plane, port, 'Enforced', { status: 'True' });
  });

  it('of an AccessPolicy holds outside the mesh where an egress stands before it, which sees connections only', async () => {
    const external = { match: { port: 443, protocol: 'tcp' }, endpoints: [{ address: '192.0.2.1', port: 443 }] };
    await global.write([putOf(global, 'MeshExternalService', '/api', external)]);
    await east.plane.holds(policyId(global, 'MeshExternalService', 'api', ''));
    const access = (rules: JsonObject): Promise<number> =>
      east.plane.write([
        putOf(east.plane, 'AccessPolicy', 'own', { targetRefs: [{ kind: 'Mesh', name: 'default' }], ...rules }),
      ]);
    await east.report({ a: LATE });
    await access({ allow: { all: {} } });
    const own = policyId(east.plane, 'AccessPolicy', 'own');
    const lacks = async (): Promise<unknown> => {
      await says(east.plane, own, 'PartiallyEnforced', { status: 'True', reason: 'NotSupported' });
      return of(east.plane, own, 'PartiallyEnforced')?.['message'];
    };
    expect(await lacks()).toContain('MeshExternalServices (no zone egress is connected) cannot apply all of it');
    const owner = { kind: 'ZoneEgress', mesh: '', zone: 'east', namespace: '', name: 'out' };
    await east.report({ a: LATE });
    await east.report({ out: LATE }, { kind: 'egress', owner });
    await says(east.plane, own, 'Enforced', { status: 'True' });
    expect(of(east.plane, own, 'Enforced')?.['message']).toContain('applied by 2 of 2 proxies');
    await access({ allow: { all: {}, gets: { to: [{ methods: ['GET'] }] } } });
    expect(await lacks()).toContain('zone egress: /allow/gets/to the zone egress passes requests on as bytes');
  });

  it("concerns the proxies of a service's instances where they enforce it", async () => {
    const { plane } = east;
    const dataplane = (app: string): JsonObject => ({
      networking: { address: '10.0.0.1', inbound: [{ port: 80, tags: { app } }] },
    });
    const service = (app: string): JsonObject => ({ ports: [{ port: 80 }], selector: { dataplaneTags: { app } } });
    await plane.write([
      ...['web', 'other'].map((name) => putOf(plane, 'Dataplane', name, dataplane(name))),
      ...['web', 'other'].map((name) => putOf(plane, 'MeshService', name, service(name))),
    ]);
    const limited = (name: string, on: JsonObject): Promise<number> =>
      plane.write([
        putOf(plane, 'RateLimitPolicy', name, { targetRefs: [{ ...on }], requests: { count: 1, per: '1s' } }),
      ]);
    await limited('limit', { kind: 'MeshService', name: 'web' });
    await limited('wide', { kind: 'Namespace', name: 'ns' });
    await east.report({ web: LATE }, { owner: policyId(plane, 'Dataplane', 'web') });
    await east.report({ other: LATE }, { owner: policyId(plane, 'Dataplane', 'other'), ...BUILTIN });
    const [limit, wide] = ['limit', 'wide'].map((name) => policyId(plane, 'RateLimitPolicy', name));
    if (!limit || !wide) throw new Error('no identities');
    await says(plane, limit, 'Enforced', { status: 'True' });
    expect(of(plane, limit, 'Enforced')?.['message']).toContain('applied by 1 of 1 proxies');
    await until('the other one', () => of(plane, wide, 'PartiallyEnforced')?.['status'] === 'True');
    expect(of(plane, wide, 'PartiallyEnforced')?.['reason']).toMatch(/PartiallyEnforced|NotSupported/);
  });
});
