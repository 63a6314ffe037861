import { Route } from '@causeway/proto-gen';
import type { RouteDestination, RouteKind, RouteSpec } from '@causeway/routing';
import { RoutingMesh } from '../../../../test/support/routing-mesh';
import type { RulePolicies } from '../policies/rule-policies';
import { grpcRoutes, NO_BACKEND, type GrpcRoutes } from './grpc-routes';

const parentRefs = [{ kind: 'Service', name: 'echo' }];
const to = (...names: readonly string[]): RouteSpec['rules'] => [
  { backendRefs: names.map((name) => ({ name, port: 7070 })) },
];

const byName = ({ services }: RouteDestination) => ({ cluster: services.map(({ name }) => name).join('+') });

/** Returns the resources of a gRPC client for one route at `echo:7070`; a cluster is named after its service. */
function translate(
  kind: RouteKind,
  rules: RouteSpec['rules'],
  toCluster = byName,
  policies: RulePolicies = {},
): GrpcRoutes {
  const mesh = RoutingMesh.echo();
  mesh.route(kind, 'r', { parentRefs, rules: rules ?? [] });
  const { frontend } = mesh.question({});
  const binding = mesh.table.bindingFor({ namespace: 'mesh' }, frontend, 7070, 'tcp');
  if (!binding) throw new Error('nothing is bound');
  return grpcRoutes(binding, {
    table: mesh.table,
    toCluster,
    selectPolicies: () => policies,
    toHashPolicies: () => [],
  });
}

/** The routes in words: `path /a → echo-v1`, `prefix /a/ x=1 → echo-v1 70, echo-v2 30`; the last, which takes what none matches, apart. */
function words({ routes }: GrpcRoutes): string[] {
  const texts = routes.map((fields) => {
    const { match, action } = Route.fromPartial(fields);
    const path = match?.pathSpecifier;
    const at = path?.$case === 'safeRegex' ? path.value.regex : path?.$case === 'connectMatcher' ? '' : path?.value;
    const headers = (match?.headers ?? []).map(({ name, headerMatchSpecifier: specifier }) => {
      const value = specifier?.$case === 'stringMatch' ? specifier.value.matchPattern : undefined;
      if (value?.$case === 'safeRegex') return ` ${name}~${value.value.regex}`;
      return ` ${name}=${value?.$case === 'exact' ? value.value : '?'}`;
    });
    const route = action?.$case === 'route' ? action.value : undefined;
    const clusters = route?.clusterSpecifier;
    const backends =
      clusters?.$case === 'weightedClusters'
        ? clusters.value.clusters.map(({ name, weight }) => `${name} ${weight}`).join(', ')
        : clusters?.value;
    const timeout = route?.maxStreamDuration?.maxStreamDuration;
    const limit = timeout ? ` within ${timeout.seconds} s ${timeout.nanos / 1e6} ms` : '';
    return `${path?.$case} ${at as string}${headers.join('')} → ${backends}${limit}`;
  });
  const last = texts.pop();
  if (routes.at(-1)?.typedPerFilterConfig) expect(last).toBe(`prefix  → ${NO_BACKEND}`);
  else texts.push(last ?? '');
  return texts;
}

describe('a binding as gRPC clients get it', () => {
  it('a GRPCRoute by service, method and header, the stronger first; a call that none matches is UNIMPLEMENTED', () => {
    const translated = translate('GRPCRoute', [
      { matches: [{}], ...to('echo')?.[0] },
      { matches: [{ method: { service: 'a.B' } }], ...to('echo-v1')?.[0] },
      { matches: [{ method: { service: 'a.B', method: 'Say' } }], ...to('echo-v2')?.[0] },
      { matches: [{ method: { method: 'S.y' }, headers: [{ name: 'X-V', value: '1' }] }], ...to('echo-v1')?.[0] },
      {
        matches: [{ method: { type: 'RegularExpression', service: 'a|b', method: 'S.*' } }],
        ...to('echo-v1')?.[0],
      },
    ]);
    expect(words(translated)).toEqual([
      'path /a.B/Say → echo-v2',
      'safeRegex /(?:a|b)/(?:S.*) → echo-v1',
      'prefix /a.B/ → echo-v1',
      'safeRegex /[^/]+/S\\.y x-v=1 → echo-v1',
      'prefix  → echo',
    ]);
    expect(translated.lost).toEqual([]);
    const unmatched = translated.routes.at(-1)?.typedPerFilterConfig?.['fault']?.typeUrl;
    expect(unmatched).toBe('type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault');
  });

  it('an HTTPRoute by path and header; a match that no call can have takes none, and nothing is lost by it', () => {
    const translated = translate('HTTPRoute', [
      { matches: [{ path: { type: 'Exact', value: '/a.B/Say' }, method: 'POST' }], ...to('echo-v1')?.[0] },
      { matches: [{ path: { value: '/a.B/' } }], ...to('echo-v2')?.[0] },
      { matches: [{ path: { type: 'RegularExpression', value: '/c|/d' } }], ...to('echo-v1')?.[0] },
      { matches: [{ method: 'GET' }], ...to('echo')?.[0] },
      { matches: [{ queryParams: [{ name: 'a', value: 'b' }] }], ...to('echo')?.[0] },
      {
        matches: [{ headers: [{ name: 'v', type: 'RegularExpression', value: '1|2' }] }],
        ...to('echo')?.[0],
      },
    ]);
    expect(words(translated)).toEqual([
      'path /a.B/Say → echo-v1',
      'safeRegex (?:/c|/d) → echo-v1',
      'path /a.B → echo-v2',
      'prefix /a.B/ → echo-v2',
      'prefix  v~(?:1|2) → echo',
    ]);
    expect(translated.lost).toEqual([]);
  });

  it('weights are exact, of one cluster added up; what leads nowhere keeps its weight; 0 is none', () => {
    const backendRefs = [
      { name: 'echo-v1', port: 7070, weight: 50 },
      { name: 'echo-v2', port: 7070, weight: 30 },
      { name: 'missing', port: 7070, weight: 15 },
      { name: 'echo-v1', port: 7070, weight: 5 },
      { name: 'echo', port: 7070, weight: 0 },
    ];
    const weighed = `echo-v1 55, echo-v2 30, ${NO_BACKEND} 15`;
    expect(words(translate('GRPCRoute', [{ backendRefs }]))).toEqual([`prefix  → ${weighed}`]);
    expect(words(translate('TCPRoute', [{ backendRefs }]))).toEqual([`prefix  → ${weighed}`]);
    expect(words(translate('GRPCRoute', [{}]))).toEqual([`prefix  → ${NO_BACKEND}`]);
  });

  it('the shorter time-out ends a call', () => {
    const timeouts = { request: '2s', backendRequest: '500ms' };
    expect(words(translate('HTTPRoute', [{ timeouts, ...to('echo-v1')?.[0] }]))).toEqual([
      'prefix  → echo-v1 within 0 s 500 ms',
    ]);
  });

  const modifier = { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } };
  const rewrite = { type: 'URLRewrite', urlRewrite: { hostname: 'h' } };
  const redirect = { type: 'RequestRedirect', requestRedirect: { hostname: 'h' } };
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'echo-v2', port: 7070 } } };
  const hosted = { matches: [{ headers: [{ name: 'Host', value: 'h' }] }] };
  const rule = 'HTTPRoute mesh/r rule-1: ';
  it.each([
    ['a filter that changes requests', { filters: [modifier], ...to('echo-v1')?.[0] }, [`prefix  → ${NO_BACKEND}`]],
    ['a rewrite', { filters: [rewrite], ...to('echo-v1')?.[0] }, [`prefix  → ${NO_BACKEND}`]],
    ['a redirect', { filters: [redirect] }, [`prefix  → ${NO_BACKEND}`]],
    ['a mirror', { filters: [mirror], ...to('echo-v1')?.[0] }, ['prefix  → echo-v1']],
    ['a header below the program', { ...hosted, ...to('echo-v1')?.[0] }, []],
    [
      'a filter of one backend',
      {
        backendRefs: [
          { name: 'echo-v1', filters: [modifier] },
          { name: 'echo-v2', weight: 3 },
        ],
      },
      [`prefix  → ${NO_BACKEND} 1, echo-v2 3`],
    ],
  ])('%s is not done, and translated', (_, given, routes) => {
    const translated = translate('HTTPRoute', [given]);
    expect(words(translated)).toEqual(routes);
    expect(translated.lost).toHaveLength(1);
    expect(translated.lost[0]).toMatch(new RegExp(`^${rule}`));
  });

  it('what of a destination cannot be reached is translated once', () => {
    const clusterOf = (): { cluster: string; lost: string } => ({ cluster: 'here', lost: 'not all of it' });
    const translated = translate('GRPCRoute', [...(to('echo-v1') ?? []), ...(to('echo-v2') ?? [])], clusterOf);
    expect(translated.lost).toEqual([
      'GRPCRoute mesh/r rule-1: not all of it',
      'GRPCRoute mesh/r rule-2: not all of it',
    ]);
  });

  describe('of policies', () => {
    const first = (policies: RulePolicies, timeouts?: object) => {
      const translated = translate(
        'HTTPRoute',
        [{ ...to('echo-v1')?.[0], ...(timeouts && { timeouts }) }],
        byName,
        policies,
      );
      const { action, typedPerFilterConfig } = Route.fromPartial(translated.routes[0] ?? {});
      return {
        lost: translated.lost,
        route: action?.$case === 'route' ? action.value : undefined,
        typedPerFilterConfig,
      };
    };

    it('the shorter time ends a call, but that of an attempt is not a time of calls that are repeated', () => {
      const seconds = (policies: RulePolicies, own?: object) =>
        first(policies, own).route?.maxStreamDuration?.maxStreamDuration?.seconds;
      const timeout = { request: '9s', backendRequest: '4s' };
      expect(seconds({ timeout })).toBe(4);
      expect(seconds({ timeout }, { request: '3s' })).toBe(3);
      expect(seconds({ timeout: { request: '9s' }, retry: { perTryTimeout: '2s' } })).toBe(9);
      expect(seconds({})).toBeUndefined();
    });

    it('calls are repeated by their status, and on nothing else', () => {
      const retry = { attempts: 2, on: ['5xx', 'unavailable', 'cancelled'], backoff: { base: '10ms' } };
      const { route, lost } = first({ retry: retry as never });
      expect(route?.retryPolicy).toMatchObject({ retryOn: 'unavailable,cancelled', numRetries: 2 });
      expect(lost).toEqual([`${rule}RetryPolicy /on: gRPC clients repeat by the status of the call only, not on 5xx`]);
      expect(first({ retry: { attempts: 2 } }).route?.retryPolicy).toBeUndefined();
    });

    it('faults stand beside the route; changes of headers are left out, and translated', () => {
      const translated = first({
        fault: { abort: { grpcStatus: 8, percent: 50 } },
        headers: { request: { set: { a: 'b' } } },
      });
      expect(Object.keys(translated.typedPerFilterConfig)).toEqual(['fault']);
      expect(translated.lost).toEqual([`${rule}HeaderPolicy: gRPC clients change no headers`]);
      expect(translated.route?.clusterSpecifier?.value).toBe('echo-v1');
    });
  });
});
