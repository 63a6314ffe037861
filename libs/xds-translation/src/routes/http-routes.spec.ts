import {
  RouteAction_ClusterNotFoundResponseCode as Code,
  RouteConfiguration,
  type RouteMatch,
} from '@causeway/proto-gen';
import type { RouteDestination, RouteKind, RouteSpec } from '@causeway/routing';
import { RoutingMesh } from '../../../../test/support/routing-mesh';
import { encodeResource } from '@causeway/xds-server';
import { backendShares, INVALID } from './backend-shares';
import { httpRoutes } from './http-routes';
import type { RulePolicies } from '../policies/rule-policies';

type Rules = NonNullable<RouteSpec['rules']>;

const listClusters = ({ services, port }: RouteDestination) =>
  services.map(({ name }) => ({ cluster: `${name}:${port}`, instances: 1 }));

/** Translates rules of `echo:80`: the messages as they come back from the wire, and the problems. */
function translate(rules: Rules, kind: RouteKind = 'HTTPRoute', policies: RulePolicies = {}) {
  const mesh = RoutingMesh.echo();
  mesh.route(kind, 'route', { parentRefs: [{ kind: 'Service', name: 'echo', port: 80 }], rules });
  const { binding } = mesh.decide();
  if (!binding) throw new Error('nothing is bound');
  const retryPolicy = { retryOn: 'connect-failure' };
  const { routes, problems } = httpRoutes(binding, {
    table: mesh.table,
    listClusters,
    retryPolicy,
    selectPolicies: () => policies,
    toHashPolicies: () => [],
  });
  const message = { name: 'echo', virtualHosts: [{ name: 'echo', domains: ['*'], routes: [...routes] }] };
  const encoded = encodeResource(RouteConfiguration, message);
  if (!encoded.ok) throw new Error(JSON.stringify(encoded.violations));
  const [host] = RouteConfiguration.decode(encoded.resource.bytes).virtualHosts;
  return { routes: host?.routes ?? [], problems: problems.map(({ reason }) => reason) };
}

type PathSpecifier = NonNullable<RouteMatch['pathSpecifier']>;

function valueOf(path: PathSpecifier): string {
  if (path.$case === 'safeRegex') return path.value.regex;
  return typeof path.value === 'string' ? path.value : '';
}

const paths = (rules: Rules, kind?: RouteKind): string[] =>
  translate(rules, kind).routes.map(({ match }) => {
    const path = match?.pathSpecifier;
    return path ? `${path.$case} ${valueOf(path)}` : '';
  });

const action = (rules: Rules, kind?: RouteKind) => {
  const found = translate(rules, kind).routes[0]?.action;
  return found?.$case === 'route' ? found.value : undefined;
};

const path = (type: string, value: string) => ({ matches: [{ path: { type, value } }] });

describe('matches', () => {
  it('stand in the order of the binding, a prefix by whole elements', () => {
    const rules = [
      path('PathPrefix', '/'),
      path('PathPrefix', '/v2/'),
      path('RegularExpression', '/v[0-9]+'),
      path('Exact', '/v2'),
    ];
    expect(paths(rules)).toEqual(['path /v2', 'safeRegex /v[0-9]+', 'pathSeparatedPrefix /v2', 'prefix /']);
  });

  it('are left out where no path can be so', () => {
    expect(paths([path('Exact', '/a?b'), path('PathPrefix', '/a#b'), path('RegularExpression', '')])).toEqual([]);
  });

  it('are two where the prefix is replaced, for Envoy replaces what it has matched', () => {
    const rewrite = (value: string, replacePrefixMatch: string) => {
      const urlRewrite = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch } };
      const rules = [{ ...path('PathPrefix', value), filters: [{ type: 'URLRewrite', urlRewrite }] }];
      const found = translate(rules.map((rule) => ({ ...rule, backendRefs: [{ name: 'echo' }] })));
      return found.routes.map(({ match, action: to }) => [
        match?.pathSpecifier?.value,
        to?.$case === 'route' && to.value.prefixRewrite,
      ]);
    };
    expect(rewrite('/p', '/q')).toEqual([
      ['/p', '/q'],
      ['/p/', '/q/'],
    ]);
    expect(rewrite('/p/', '/')).toEqual([
      ['/p', '/'],
      ['/p/', '/'],
    ]);
    expect(rewrite('/', '/q')).toEqual([['/', '/q/']]);
  });

  it('ask for headers without case, for Host by its name in HTTP/2, for encoded values of parameters', () => {
    const [route] = translate([
      {
        matches: [
          {
            method: 'GET',
            headers: [
              { name: 'Host', value: 'a.example' },
              { name: 'Version', type: 'RegularExpression', value: 'one|two' },
              { name: 'version', value: 'three' },
            ],
            queryParams: [{ name: 'q', value: 'a b' }],
          },
        ],
      },
    ]).routes;
    const headers = route?.match?.headers.map(({ name, headerMatchSpecifier: by }) => {
      return [name, by?.$case === 'stringMatch' ? by.value.matchPattern?.value : undefined];
    });
    expect(headers).toMatchObject([
      [':method', 'GET'],
      [':authority', 'a.example'],
      ['version', { regex: 'one|two' }],
    ]);
    const by = route?.match?.queryParameters[0]?.queryParameterMatchSpecifier;
    expect(by?.$case === 'stringMatch' && by.value.matchPattern?.value).toMatchObject({
      regex: 'a(?: |(?i:%20)|\\+)b',
    });
  });

  it('of gRPC calls are a POST of their content type, by the two parts of the path', () => {
    const method = (fields: object) => ({ matches: [{ method: fields }] });
    const rules = [
      method({ service: 'a.B', method: 'C' }),
      method({ service: 'a.B' }),
      method({ method: 'C' }),
      method({ type: 'RegularExpression', service: '.+', method: 'X|Y' }),
      {},
    ];
    expect(paths(rules, 'GRPCRoute')).toEqual([
      'path /a.B/C',
      'safeRegex /a\\.B/[^/]+',
      'safeRegex /[^/]+/[^/]+',
      'safeRegex /[^/]+/C',
      'prefix /',
    ]);
    const headers = translate([{}], 'GRPCRoute').routes[0]?.match?.headers.map(({ name }) => name);
    expect(headers).toEqual([':method', 'content-type']);
  });
});

describe('backends', () => {
  it('have exact weights; what leads nowhere keeps its own and is answered 500, UNAVAILABLE in gRPC', () => {
    const backendRefs = [
      { name: 'echo-v1', weight: 70 },
      { name: 'nowhere', weight: 29 },
      { name: 'echo-v2', weight: 1 },
      { name: 'echo', weight: 0 },
    ];
    const forward = action([{ backendRefs }]);
    const { clusterSpecifier: to } = forward ?? {};
    expect(to?.$case === 'weightedClusters' && to.value.clusters.map(({ name, weight }) => [name, weight])).toEqual([
      ['echo-v1:80', 70],
      [INVALID, 29],
      ['echo-v2:80', 1],
    ]);
    expect(forward?.clusterNotFoundResponseCode).toBe(Code.INTERNAL_SERVER_ERROR);
    expect(action([{ backendRefs }], 'GRPCRoute')?.clusterNotFoundResponseCode).toBe(Code.SERVICE_UNAVAILABLE);
  });

  it('that are none are 500, UNAVAILABLE in gRPC', () => {
    const status = (kind?: RouteKind) => {
      const found = translate([{}], kind).routes[0]?.action;
      return found?.$case === 'directResponse' ? found.value.status : undefined;
    };
    expect([status(), status('GRPCRoute')]).toEqual([500, 503]);
  });

  it('of several services share the weight of their reference by instances', () => {
    const to = (name: string, weight: number) => {
      const services = [{ kind: 'MeshService', mesh: 'default', zone: '', namespace: '', name }];
      return { weight, filters: [], to: { ok: true as const, destination: { services, port: 80 } } };
    };
    const parts: Readonly<Record<string, readonly number[]>> = { one: [7], two: [1, 2], some: [0, 5, 0], none: [0, 0] };
    const shares = (...backends: readonly (readonly [string, number])[]) =>
      backendShares(
        backends.map(([name, weight]) => to(name, weight)),
        ({ services: [service] }) =>
          (parts[service?.name ?? ''] ?? []).map((instances, i) => ({ cluster: `${service?.name}${i}`, instances })),
      ).map(({ cluster, weight }) => `${cluster} ${weight}`);
    expect(shares(['one', 90], ['two', 10])).toEqual(['one0 270', 'two0 10', 'two1 20']);
    expect(shares(['some', 3], ['none', 1], ['unknown', 2])).toEqual(['some1 6', 'none0 1', 'none1 1', 'invalid 4']);
    const most = backendShares([to('one', 1_000_000), to('two', 1_000_000)], () => [
      { cluster: 'a', instances: 65_521 },
      { cluster: 'b', instances: 65_519 },
    ]);
    expect(most.reduce((sum, { weight }) => sum + weight, 0)).toBeLessThan(2 ** 32);
  });
});

describe('filters', () => {
  const to = (name: string, filters: object[] = []) => ({ name, filters: filters as never });
  const set = (value: string) => ({
    type: 'RequestHeaderModifier',
    requestHeaderModifier: { set: [{ name: 'X-Set', value }], add: [{ name: 'X-Add', value }], remove: ['X-Gone'] },
  });

  it('change headers: a percent sign is no substitution, and Host is left as it is and said', () => {
    const host = {
      type: 'RequestHeaderModifier',
      requestHeaderModifier: {
        set: [
          { name: 'Host', value: 'a' },
          { name: 'X', value: '100%' },
        ],
      },
    };
    const { routes, problems } = translate([{ filters: [host], backendRefs: [to('echo')] }]);
    expect(routes[0]?.requestHeadersToAdd.map(({ header }) => [header?.key, header?.value])).toEqual([['X', '100%%']]);
    expect(routes[0]?.requestHeadersToRemove).toEqual([]);
    expect(problems).toEqual(['the header Host is not changed: URLRewrite with hostname does that']);
  });

  it('of a backend come after those of its rule, in one list of its own', () => {
    const found = action([{ filters: [set('rule')], backendRefs: [to('echo', [set('backend')])] }]);
    const specifier = found?.clusterSpecifier;
    const [cluster] = specifier?.$case === 'weightedClusters' ? specifier.value.clusters : [];
    expect(cluster?.requestHeadersToAdd.map(({ header, appendAction }) => [header?.value, appendAction])).toEqual([
      ['backend', 2],
      ['rule', 0],
      ['backend', 0],
    ]);
    expect(cluster?.requestHeadersToRemove).toEqual(['X-Gone']);
  });

  it('rewrite a path for a rule or its only backend; for one of several that is refused and said', () => {
    const path = { type: 'ReplaceFullPath', replaceFullPath: '/full\\1' };
    const rewrite = { type: 'URLRewrite', urlRewrite: { hostname: 'b.example', path } };
    const only = action([{ backendRefs: [to('echo', [rewrite])] }]);
    expect(only?.regexRewrite?.substitution).toBe('/full\\\\1');
    expect(only?.hostRewriteSpecifier?.value).toBe('b.example');
    const rules = [{ backendRefs: [to('echo', [rewrite]), to('echo-v1')] }];
    const specifier = action(rules)?.clusterSpecifier;
    const clusters = specifier?.$case === 'weightedClusters' ? specifier.value.clusters.map(({ name }) => name) : [];
    expect(clusters).toEqual([INVALID, 'echo-v1:80']);
    expect(translate(rules).problems).toHaveLength(1);
  });

  it('redirect with a port only where it is not the usual one of the scheme', () => {
    const redirect = (requestRedirect: object) => {
      const found = translate([{ filters: [{ type: 'RequestRedirect', requestRedirect }] }]).routes[0]?.action;
      if (found?.$case !== 'redirect') return undefined;
      const { portRedirect, responseCode, schemeRewriteSpecifier: scheme } = found.value;
      return [scheme?.value, portRedirect, responseCode];
    };
    expect(redirect({})).toEqual([undefined, 0, 1]);
    expect(redirect({ scheme: 'https', statusCode: 301 })).toEqual(['https', 0, 0]);
    expect(redirect({ scheme: 'https', port: 8443, statusCode: 308 })).toEqual(['https', 8443, 4]);
    expect(redirect({ port: 443, statusCode: 303 })).toEqual([undefined, 443, 2]);
  });

  it('copy requests to what there is, in millionths, and refuse an unknown extension', () => {
    const mirror = (name: string, share: object) => ({
      type: 'RequestMirror',
      requestMirror: { backendRef: { name, port: 80 }, ...share },
    });
    const filters = [
      mirror('echo-v1', {}),
      mirror('echo-v2', { fraction: { numerator: 1, denominator: 8 } }),
      mirror('nowhere', {}),
    ];
    const copies = action([{ filters, backendRefs: [to('echo')] }])?.requestMirrorPolicies ?? [];
    expect(copies.map(({ cluster, runtimeFraction }) => [cluster, runtimeFraction?.defaultValue?.numerator])).toEqual([
      ['echo-v1:80', 1_000_000],
      ['echo-v2:80', 125_000],
    ]);
    const extension = { type: 'ExtensionRef', extensionRef: { group: 'a.b', kind: 'C', name: 'd' } };
    expect(translate([{ filters: [extension], backendRefs: [to('echo')] }]).routes[0]?.action?.$case).toBe(
      'directResponse',
    );
  });

  it('end requests after their time-outs', () => {
    const found = action([{ timeouts: { request: '10s', backendRequest: '1500ms' }, backendRefs: [to('echo')] }]);
    expect(found?.timeout?.seconds).toBe(10);
    expect(found?.retryPolicy).toMatchObject({ retryOn: 'connect-failure', perTryTimeout: { seconds: 1, nanos: 5e8 } });
    expect(action([{ backendRefs: [to('echo')] }])?.timeout).toMatchObject({ seconds: 0, nanos: 0 });
  });

  it('of policies stand beside those of the rule: time-outs, repetitions, faults, headers', () => {
    const policies = {
      timeout: { request: '10s', backendRequest: '2s', idle: '5s' },
      retry: { attempts: 2, on: ['5xx' as const] },
      fault: { abort: { status: 418, percent: 50 } },
      headers: { request: { set: { x: 'policy', y: 'policy' } }, response: { remove: { server: true as const } } },
    };
    const own = { requestHeaderModifier: { set: [{ name: 'X', value: 'rule' }] }, type: 'RequestHeaderModifier' };
    const [route] = translate(
      [{ timeouts: { request: '4s' }, filters: [own], backendRefs: [to('echo')] }],
      'HTTPRoute',
      policies,
    ).routes;
    const action = route?.action?.$case === 'route' ? route.action.value : undefined;
    expect([action?.timeout?.seconds, action?.idleTimeout?.seconds]).toEqual([4, 5]);
    expect(action?.retryPolicy).toMatchObject({
      retryOn: 'connect-failure,5xx',
      numRetries: 2,
      perTryTimeout: { seconds: 2, nanos: 0 },
    });
    expect(Object.keys(route?.typedPerFilterConfig ?? {})).toEqual(['fault']);
    expect(route?.requestHeadersToAdd.map(({ header }) => `${header?.key}=${header?.value}`)).toEqual([
      'X=rule',
      'y=policy',
    ]);
    expect(route?.responseHeadersToRemove).toEqual(['server']);
  });
});
