import { freePort } from '../../scripts/lib/ports.mjs';
import { register } from '@grpc/grpc-js-xds';
import type { JsonObject, Resource } from '@causeway/resources';
import { type RequestOutcome, type RouteKind, type RouteRule } from '@causeway/routing';
import { evaluate } from '@causeway/routing/testing';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyView } from '@causeway/xds-translation';
import { drawnFairly } from '../support/fair-draw';
import { GrpcWorkload, looseTimers, type GrpcCall } from '../support/grpc-workload';
import { TrafficPlane } from '../support/traffic-plane';
import { shippedKinds, sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const HOSTNAME = 'greeter.svc.mesh.local';
const PORT = 9000;
/** Number of calls that distinguishes equal shares of two backends from shares of three with one missing. */
const DRAWS = 600;
/** So many show another share of two answers. */
const DRAWS_OF_TWO = 400;
const SERVER_LISTENER = 'grpc/server?xds.resource.listening_address=';
const WAIT = '/test.Echo/Wait';
const SHOUT = '/test.Echo/Shout';
const OTHER = '/test.Other/Say';
const to = (...names: readonly string[]): Pick<RouteRule, 'backendRefs'> => ({
  backendRefs: names.map((name) => ({ name, namespace: 'mesh', port: PORT })),
});
const weighed = (weights: Readonly<Record<string, number>>): Pick<RouteRule, 'backendRefs'> => ({
  backendRefs: Object.entries(weights).map(([name, weight]) => ({ name, port: PORT, weight })),
});

/** Returns the answer to a call by the table of routes: the only share, or the name of the status. */
function answerOf(outcome: RequestOutcome): string {
  if (outcome.type === 'refused') return outcome.grpcStatus === 12 ? 'UNIMPLEMENTED' : 'UNAVAILABLE';
  const result = 'shares' in outcome ? outcome.shares[0]?.result : undefined;
  if (result?.type !== 'forwarded') return 'UNAVAILABLE';
  return result.destination.services.map(({ name }) => name).join('+');
}

describe('gRPC clients (grpc-js-xds) obey routes', () => {
  let plane: TrafficPlane;
  const stops: (() => void)[] = [];
  const clients = new Map<string, (call?: GrpcCall) => Promise<string>>();
  let dataplane: Resource;
  let bound: Resource[] = [];
  let order = 0;

  /** A workload that is a Dataplane of a namespace. */
  async function workload(name: string, namespace: string, networking: JsonObject): Promise<[GrpcWorkload, Resource]> {
    const own = sketch('Dataplane', name, { networking }, { namespace });
    plane.state.put(own);
    const view: Partial<EnvoyView> = { dataplane: own.id };
    const certificate = await plane.authority.issue({ uri: plane.spiffeId(name) });
    const authorities = [plane.authority.certificate];
    const made = new GrpcWorkload(plane, { node: `${namespace}-${name}`, certificate, authorities, view });
    stops.push(() => made.stop());
    return [made, own];
  }

  /** Makes a service of namespace `mesh` with a gRPC server that answers with the service's name; with `isReady` false no server is ready. */
  async function service(name: string, isReady = true): Promise<void> {
    const port = await freePort();
    const state = isReady ? 'Ready' : 'NotReady';
    const inbound = [{ port, name: 'grpc', state, tags: { app: name } }];
    const [server, own] = await workload(name, 'mesh', { address: '127.0.0.1', inbound });
    if (name === 'greeter') dataplane = own;
    if (isReady) await server.serve(name, `127.0.0.1:${port}`);
    const ports = [{ port: PORT, name: 'grpc', targetPort: 'grpc', appProtocol: 'grpc' }];
    const identities = [{ type: 'SpiffeID', value: plane.spiffeId(name) }];
    const spec = { selector: { dataplaneTags: { app: name } }, ports, identities };
    const addresses = [{ hostname: `${name}.svc.mesh.local`, status: 'Available' }];
    plane.state.put(sketch('MeshService', name, spec, { namespace: 'mesh', status: { addresses } }));
  }

  /** Binds a route to `greeter`. */
  function route(kind: RouteKind, rules: readonly RouteRule[], namespace = 'mesh'): void {
    order += 1;
    const parentRefs = [{ kind: 'Service', name: 'greeter', namespace: 'mesh' }];
    const spec = { parentRefs, rules } as unknown as JsonObject;
    const made = sketch(kind, `route-${order}`, spec, { namespace, creationOrder: order });
    bound.push(made);
    plane.state.put(made);
  }

  const call = (asked?: GrpcCall, from = 'mesh'): Promise<string> =>
    clients.get(from)?.(asked) ?? Promise.resolve('no such client');
  const draw = (count = DRAWS): Promise<string[]> => Promise.all(Array.from({ length: count }, () => call()));
  const answered = (want: string, asked?: GrpcCall, from?: string): Promise<unknown> =>
    until(`${want} to ${asked?.path ?? 'a call'}`, async () => (await call(asked, from)) === want);

  /** Returns the decision of the table of routes for the same call. */
  function decided({ path = '/test.Echo/Say', headers = {} }: GrpcCall = {}, from = 'mesh'): string {
    const table = plane.routes.table;
    const frontend = table.frontend({
      kind: 'MeshService',
      mesh: 'default',
      zone: 'west',
      namespace: 'mesh',
      name: 'greeter',
    });
    if (!frontend) throw new Error('there is no service greeter');
    const sent = { ...headers, 'content-type': 'application/grpc' };
    const request = {
      protocol: 'http' as const,
      scheme: 'http' as const,
      host: HOSTNAME,
      method: 'POST',
      path,
      query: [],
      headers: Object.entries(sent),
    };
    const isReady = ({ name }: { readonly name: string }): boolean => name !== 'empty';
    return answerOf(evaluate(table, { client: { namespace: from }, frontend, port: PORT, request }, isReady).outcome);
  }

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    plane = await TrafficPlane.start('west');
    plane.state.put(sketch('Mesh', 'default', { controllerName: 'causeway.io/control-plane' }), ...shippedKinds());
    for (const name of ['greeter', 'v1', 'v2']) await service(name);
    await service('empty', false);
    for (const namespace of ['mesh', 'consumer']) {
      const [client] = await workload('client', namespace, { address: '127.0.0.1', inbound: [] });
      clients.set(namespace, client.channel(HOSTNAME));
    }
    await answered('greeter');
  });
  afterAll(async () => {
    stops.forEach((stop) => stop());
    await plane.stop();
  });
  afterEach(async () => {
    plane.state.delete(...bound);
    bound = [];
    for (const from of clients.keys()) await answered('greeter', {}, from);
    expect(plane.problems()).toEqual([]);
  });

  const header = (name: string, value: string, type = 'Exact') => ({ headers: [{ name, type, value }] });
  it.each<[string, RouteKind, RouteRule[], [GrpcCall, string][]]>([
    [
      'GRPCRoute: service, method and header; what no rule matches is UNIMPLEMENTED (T002-11)',
      'GRPCRoute',
      [
        { matches: [{ method: { service: 'test.Echo' } }], ...to('v1') },
        { matches: [{ method: { service: 'test.Echo', method: 'Shout' } }], ...to('v2') },
        { matches: [{ ...header('x-canary', 'yes') }], ...to('greeter') },
      ],
      [
        [{}, 'v1'],
        [{ path: SHOUT }, 'v2'],
        [{ path: SHOUT, headers: { 'x-canary': 'yes' } }, 'v2'],
        [{ path: OTHER, headers: { 'x-canary': 'yes' } }, 'greeter'],
        [{ path: OTHER, headers: { 'x-canary': 'no' } }, 'UNIMPLEMENTED'],
        [{ path: OTHER }, 'UNIMPLEMENTED'],
      ],
    ],
    [
      'GRPCRoute: a method of any service, and expressions, which are whole',
      'GRPCRoute',
      [
        { matches: [{ method: { method: 'Shout' } }], ...to('v1') },
        {
          matches: [{ method: { type: 'RegularExpression', service: 'test\\.E|test.Other', method: 'S.*' } }],
          ...to('v2'),
        },
      ],
      [
        [{ path: SHOUT }, 'v1'],
        [{ path: OTHER }, 'v2'],
        [{}, 'UNIMPLEMENTED'],
      ],
    ],
    [
      'HTTPRoute: path, prefix of whole elements, header by expression; a query or another method takes no call',
      'HTTPRoute',
      [
        { matches: [{ path: { type: 'Exact', value: '/test.Echo/Say' } }], ...to('v1') },
        { matches: [{ path: { type: 'PathPrefix', value: '/test.Oth' } }], ...to('v1') },
        { matches: [{ path: { type: 'PathPrefix', value: '/test.Other' }, method: 'POST' }], ...to('v2') },
        { matches: [{ method: 'GET' }, { queryParams: [{ name: 'a', value: 'b' }] }], ...to('v1') },
        { matches: [{ ...header('X-Canary', '1|2', 'RegularExpression') }], ...to('greeter') },
      ],
      [
        [{}, 'v1'],
        [{ path: OTHER }, 'v2'],
        [{ path: SHOUT, headers: { 'x-canary': '2' } }, 'greeter'],
        [{ path: SHOUT, headers: { 'x-canary': '12' } }, 'UNIMPLEMENTED'],
        [{ path: SHOUT }, 'UNIMPLEMENTED'],
      ],
    ],
    [
      'what leads nowhere is UNAVAILABLE: no backend, a missing one, one without ready endpoints (T002-17, T002-43)',
      'GRPCRoute',
      [
        { matches: [{ method: { service: 'test.Other' } }] },
        { matches: [{ method: { method: 'Shout' } }], ...to('missing') },
        { matches: [{ ...header('to', 'empty') }], ...to('empty') },
        { ...to('v1') },
      ],
      [
        [{}, 'v1'],
        [{ path: OTHER }, 'UNAVAILABLE'],
        [{ path: SHOUT }, 'UNAVAILABLE'],
        [{ headers: { to: 'empty' } }, 'UNAVAILABLE'],
      ],
    ],
  ])('%s', async (_, kind, rules, calls) => {
    route(kind, rules);
    for (const [asked, want] of calls) {
      await answered(want, asked);
      expect(decided(asked)).toBe(want);
    }
  });

  it.each<[string, RouteKind]>([
    ['MeshGRPCRouteWeight: of calls', 'GRPCRoute'],
    ['a TCPRoute: of calls, each of which may take another connection', 'TCPRoute'],
  ])('%s; a weight of 0 sends nothing', async (_, kind) => {
    route(kind, [weighed({ v1: 70, v2: 30, missing: 0 })]);
    await answered('v1');
    expect(await drawnFairly(() => draw(DRAWS_OF_TWO), { v1: 70, v2: 30 })).toEqual([]);
  });

  it('a backend that leads nowhere keeps its share, which is UNAVAILABLE (T002-18)', async () => {
    route('GRPCRoute', [weighed({ v1: 50, missing: 30, empty: 20 })]);
    await answered('v1');
    expect(await drawnFairly(() => draw(), { v1: 50, UNAVAILABLE: 50 })).toEqual([]);
  });

  it('a weight that changes counts for the next calls, and none fails', async () => {
    route('GRPCRoute', [weighed({ v1: 100, v2: 0 })]);
    await answered('v1');
    const seen = new Set<string>();
    let isDone = false;
    const load = (async () => {
      while (!isDone) seen.add(await call());
    })();
    const [made] = bound;
    const spec = { ...made?.spec, rules: [weighed({ v1: 0, v2: 1 })] } as unknown as JsonObject;
    if (made) plane.state.put({ ...made, spec, generation: made.generation + 1 });
    await answered('v2');
    isDone = true;
    await load;
    expect([...seen].filter((answer) => answer !== 'v1' && answer !== 'v2')).toEqual([]);
    expect(new Set(await draw(DRAWS_OF_TWO))).toEqual(new Set(['v2']));
  });

  it('a route of another namespace is for its clients only, without fall-through (T002-31, T002-40)', async () => {
    route('GRPCRoute', [to('v1')]);
    route('GRPCRoute', [{ matches: [{ method: { method: 'Shout' } }], ...to('v2') }], 'consumer');
    await answered('v1');
    await answered('v2', { path: SHOUT }, 'consumer');
    await answered('UNIMPLEMENTED', {}, 'consumer');
    await answered('v1', { path: SHOUT });
    expect([decided({ path: SHOUT }, 'consumer'), decided({}, 'consumer')]).toEqual(['v2', 'UNIMPLEMENTED']);
  });

  it('a time-out ends a call', async () => {
    route('HTTPRoute', [{ timeouts: { request: '200ms' }, ...to('v1') }]);
    await answered('v1');
    expect(await call({ path: WAIT })).toBe('DEADLINE_EXCEEDED');
  });

  const rulePolicy = (kind: string, spec: JsonObject): void => {
    const targetRefs = [{ kind: 'MeshService', name: 'greeter' }];
    const made = sketch(kind, 'policy', { targetRefs, ...spec }, { namespace: 'mesh' });
    bound.push(made);
    plane.state.put(made);
  };

  it.each([false, true])('policies: a time-out ends a call, faults answer it; with a route: %s', async (isRouted) => {
    if (isRouted) route('GRPCRoute', [to('v1')]);
    rulePolicy('TimeoutPolicy', { request: '200ms' });
    // Well before the deadline of the client itself, which has the same status.
    await until('the policy ends a call', async () => {
      const began = Date.now();
      return (await call({ path: WAIT, within: 5_000 })) === 'DEADLINE_EXCEEDED' && Date.now() - began < 4_000;
    });
    rulePolicy('FaultPolicy', { abort: { grpcStatus: 8, status: 418, percent: 100 } });
    await answered('RESOURCE_EXHAUSTED');
    expect(await call()).toBe('RESOURCE_EXHAUSTED');
  });

  it('policies: a call is repeated so often by its status, without them not at all', async () => {
    const failing = (fails: number): Promise<string> =>
      call({ path: '/test.Echo/Fail', headers: { 'x-fails': `${fails}` } });
    expect([await failing(0), await failing(1)]).toEqual(['greeter after 0', 'UNAVAILABLE']);
    rulePolicy('RetryPolicy', { attempts: 2, on: ['unavailable', '5xx'], backoff: { base: '1ms' } });
    await until('calls are repeated', async () => (await failing(1)) === 'greeter after 1');
    expect([await failing(2), await failing(3)]).toEqual(['greeter after 2', 'UNAVAILABLE']);
    expect(plane.problems().join()).toContain('RetryPolicy /on: gRPC clients repeat by the status of the call only');
  });

  it('a filter is never left out: its calls fail, and the client’s Dataplane says why', async () => {
    const filters = [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } }];
    route('HTTPRoute', [{ matches: [{ path: { value: '/test.Other' } }], filters, ...to('v1') }, to('v2')]);
    await answered('UNAVAILABLE', { path: OTHER });
    await answered('v2');
    expect(plane.problems().join()).toContain('gRPC clients have no filter RequestHeaderModifier: calls fail');
  });

  it('routes change nothing at the servers: who may call, and what comes to their own address (T002-37, T002-38)', async () => {
    const inbound = [{ port: 1, servicePort: 2, state: 'NotReady', tags: { app: 'greeter' } }];
    const other = plane.dataplane('other', { address: '127.0.0.1', inbound });
    const { inbound: own = [] } = dataplane.spec['networking'] as { inbound?: { port: number }[] };
    const views: [Partial<EnvoyView>, string][] = [
      [{ dataplane: other.id }, 'inbound:127.0.0.1:1'],
      [{ dataplane: dataplane.id, wire: 'grpc' }, `${SERVER_LISTENER}127.0.0.1:${own[0]?.port}`],
    ];
    const listeners = views.map(([part, name]) => {
      const view: EnvoyView = { mesh: 'default', listed: new Set(), ...part };
      return () => plane.source.get(view, RESOURCE_TYPES.listener, name);
    });
    const before = listeners.map((get) => get());
    for (const each of before) expect(each).toHaveProperty('bytes');
    route('GRPCRoute', [to('v1')]);
    await answered('v1');
    listeners.forEach((get, i) => expect(get()).toBe(before[i]));
    plane.state.delete(other);
  });
});
