import { RoutingMesh, type Asked } from '../../../test/support/routing-mesh';
import type { RouteKind, RouteRule } from './model';

const ECHO_80 = [{ kind: 'Service', name: 'echo', port: 80 }];
const prefix = (value: string) => ({ path: { type: 'PathPrefix', value } });
const exact = (value: string) => ({ path: { type: 'Exact', value } });
const header = (name: string, value: string) => ({ headers: [{ name, value }] });
const query = (value: string) => ({ queryParams: [{ name: 'animal', value }] });
const to = (version: number, port = 80) => ({ backendRefs: [{ name: `echo-v${version}`, port }] });
const set = (value: string) => ({
  filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'X-Header-Set', value }] } }],
});

function echo(rules: readonly RouteRule[], kind: RouteKind = 'HTTPRoute', parentRefs = ECHO_80): RoutingMesh {
  const mesh = RoutingMesh.echo();
  mesh.route(kind, 'route', { parentRefs, rules });
  return mesh;
}

/** The value of the response header that a fixture sets. */
function headerSet(mesh: RoutingMesh, asked: Asked): string | undefined {
  const { outcome } = mesh.decide(asked);
  const result = 'shares' in outcome ? outcome.shares[0]?.result : undefined;
  return result?.type === 'forwarded' ? result.responseChanges[0]?.set?.[0]?.value : undefined;
}

type Row = readonly [asked: string | Asked, answer: string];

function expectRows(mesh: RoutingMesh, rows: readonly Row[]): void {
  const answers = rows.map(([asked]) => [asked, mesh.answer(typeof asked === 'string' ? { url: asked } : asked)]);
  expect(answers).toEqual(rows.map(([asked, answer]) => [asked, answer]));
}

describe('the mesh conformance tests of the Gateway API as vectors (T002-27, T002-28, T002-31)', () => {
  it('MeshBasic', () => expect(RoutingMesh.echo().answer()).toBe('implicit echo'));

  it('MeshTrafficSplit', () => {
    const mesh = echo([
      { matches: [exact('/v1')], ...to(1) },
      { matches: [exact('/v2')], ...to(2) },
    ]);
    expectRows(mesh, [
      ['/v1', 'echo-v1'],
      ['/v2', 'echo-v2'],
      ['/v3', '404'],
    ]);
  });

  it('MeshFrontend, MeshFrontendHostname: the frontend decides, not the Host header', () => {
    const mesh = echo([{ ...set('set'), ...to(2) }], 'HTTPRoute', [{ kind: 'Service', name: 'echo-v2' } as never]);
    expect(headerSet(mesh, { to: 'echo-v2', host: 'echo-v1' })).toBe('set');
    expect(mesh.answer({ to: 'echo-v2', host: 'echo-v1' })).toBe('echo-v2');
    expect(headerSet(mesh, { to: 'echo-v1', host: 'echo-v2' })).toBeUndefined();
    expect(mesh.answer({ to: 'echo-v1', host: 'echo-v2' })).toBe('implicit echo-v1');
  });

  it('MeshPorts (T002-28)', () => {
    const mesh = RoutingMesh.echo();
    const one = [{ kind: 'Service', name: 'echo-v1', port: 80 }];
    mesh.route('HTTPRoute', 'v1', { parentRefs: one, rules: [{ ...set('v1'), backendRefs: [{ name: 'echo-v1' }] }] });
    const all = [{ kind: 'Service', name: 'echo-v2' }];
    mesh.route('HTTPRoute', 'v2', { parentRefs: all, rules: [{ ...set('v2'), backendRefs: [{ name: 'echo-v2' }] }] });
    const ports = [80, 8080].flatMap((port) => ['echo-v1', 'echo-v2'].map((name) => ({ to: name, port })));
    expect(ports.map((asked) => headerSet(mesh, asked))).toEqual(['v1', 'v2', undefined, 'v2']);
  });

  it('MeshConsumerRoute (T002-31)', () => {
    const mesh = RoutingMesh.echo();
    const parentRefs = [{ kind: 'Service', namespace: 'mesh', name: 'echo-v1' }];
    const rules = [{ ...set('set'), backendRefs: [{ namespace: 'mesh', name: 'echo-v1', port: 80 }] }];
    mesh.route('HTTPRoute', 'route', { parentRefs, rules }, { namespace: 'consumer' });
    expect(headerSet(mesh, { to: 'echo-v1', from: 'consumer' })).toBe('set');
    expect(headerSet(mesh, { to: 'echo-v1' })).toBeUndefined();
  });

  it('MeshHTTPRouteSimpleSameNamespace', () => expect(echo([to(1, 8080)]).answer()).toBe('echo-v1'));

  it('MeshHTTPRouteMatching', () => {
    const mesh = echo([
      { matches: [prefix('/'), header('version', 'one')], ...to(1) },
      { matches: [prefix('/v2'), header('version', 'two')], ...to(2) },
    ]);
    expectRows(mesh, [
      ['/', 'echo-v1'],
      ['/example', 'echo-v1'],
      [{ headers: { Version: 'one' } }, 'echo-v1'],
      ['/v2', 'echo-v2'],
      ['/v2/example', 'echo-v2'],
      [{ headers: { Version: 'two' } }, 'echo-v2'],
      ['/v2/', 'echo-v2'],
      ['/v2example', 'echo-v1'],
      ['/foo/v2/example', 'echo-v1'],
    ]);
  });

  it('MeshHTTPRouteQueryParamMatching', () => {
    const mesh = echo([
      { matches: [query('whale')], ...to(1) },
      { matches: [query('dolphin')], ...to(2) },
      { matches: [{ ...prefix('/path1'), ...query('whale') }], ...to(1) },
      { matches: [{ ...header('version', 'one'), ...query('whale') }], ...to(2) },
      {
        matches: [
          { ...prefix('/path3'), ...query('shark') },
          { ...prefix('/path4'), ...header('version', 'three'), ...query('kraken') },
        ],
        ...to(1),
      },
      { matches: [prefix('/path5')], ...to(1) },
      { matches: [query('hydra')], ...to(2) },
    ]);
    expectRows(mesh, [
      ['/?animal=whale', 'echo-v1'],
      ['/?animal=dolphin', 'echo-v2'],
      ['/?animal=whale&otherparam=irrelevant', 'echo-v1'],
      ['/?animal=dolphin&color=blue', 'echo-v2'],
      ['/path1?animal=whale', 'echo-v1'],
      [{ url: '/?animal=whale', headers: { version: 'one' } }, 'echo-v2'],
      ['/path3?animal=shark', 'echo-v1'],
      [{ url: '/path4?animal=kraken', headers: { version: 'three' } }, 'echo-v1'],
      ['/path5?animal=hydra', 'echo-v1'],
      ...['/?color=blue', '/?animal=dog', '/?animal=whaledolphin', '/', '/?animal=shark', '/path4?animal=kraken'].map(
        (url): Row => [url, '404'],
      ),
    ]);
  });

  it('MeshHTTPRouteNamedRule: an unnamed rule is called by its place, the path is kept', () => {
    const mesh = echo([
      { name: 'named-rule', matches: [prefix('/named')], ...to(1) },
      { matches: [prefix('/unnamed')], ...to(2) },
    ]);
    expect(mesh.decide({ url: '/named' }).entry?.rule.name).toBe('named-rule');
    expect(mesh.decide({ url: '/unnamed' }).entry?.rule.name).toBe('rule-2');
    expect(mesh.forwarded({ url: '/unnamed' })?.path).toBe('/unnamed');
  });

  it('MeshHTTPRouteWeight, MeshGRPCRouteWeight: shares are exact, a weight of 0 sends nothing (T002-08)', () => {
    const backends = (port: number) => [
      { name: 'echo-v1', port, weight: 70 },
      { name: 'echo-v2', port, weight: 30 },
      { name: 'echo-v3', port, weight: 0 },
    ];
    expect(echo([{ backendRefs: backends(80) }]).answer()).toBe('echo-v1 0.7, echo-v2 0.3');
    const mesh = RoutingMesh.echo();
    const parentRefs = [{ kind: 'Service', name: 'echo', port: 7070 }];
    const id = mesh.route('GRPCRoute', 'weighted', { parentRefs, rules: [{ backendRefs: backends(7070) }] });
    const call = { port: 7070, method: 'POST', url: '/echo.Echo/Say', headers: { 'content-type': 'application/grpc' } };
    expect(mesh.answer(call)).toBe('echo-v1 0.7, echo-v2 0.3');
    expect(mesh.conditions(id)).toEqual([['Accepted=True/Accepted', 'ResolvedRefs=False/BackendNotFound']]);
  });

  it('MeshHTTPRouteRedirectHostAndStatus, …Path, …Port, …SchemeRedirect, …303/307/308', () => {
    const redirect = (value: string, requestRedirect: object): RouteRule => ({
      matches: [prefix(value)],
      filters: [{ type: 'RequestRedirect', requestRedirect }],
    });
    const replacePrefix = (replacePrefixMatch: string) => ({
      path: { type: 'ReplacePrefixMatch', replacePrefixMatch },
    });
    const replaceFull = (replaceFullPath: string) => ({ path: { type: 'ReplaceFullPath', replaceFullPath } });
    const mesh = echo([
      redirect('/hostname-redirect', { hostname: 'example.org' }),
      redirect('/host-and-status', { hostname: 'example.org', statusCode: 301 }),
      redirect('/original-prefix', replacePrefix('/replacement-prefix')),
      redirect('/full', replaceFull('/full-path-replacement')),
      redirect('/path-and-host', { hostname: 'example.org', ...replacePrefix('/replacement-prefix') }),
      redirect('/path-and-status', { statusCode: 301, ...replacePrefix('/replacement-prefix') }),
      redirect('/full-path-and-host', { hostname: 'example.org', ...replaceFull('/replacement-full') }),
      redirect('/full-path-and-status', { statusCode: 301, ...replaceFull('/replacement-full') }),
      redirect('/port', { port: 8083 }),
      redirect('/scheme', { scheme: 'https' }),
      redirect('/303', { statusCode: 303 }),
      redirect('/307', { statusCode: 307 }),
      redirect('/308', { statusCode: 308 }),
    ]);
    expectRows(mesh, [
      ['/hostname-redirect', '302 http://example.org/hostname-redirect'],
      ['/host-and-status', '301 http://example.org/host-and-status'],
      ['/original-prefix/lemon', '302 http://echo/replacement-prefix/lemon'],
      ['/full/path/original', '302 http://echo/full-path-replacement'],
      ['/path-and-host', '302 http://example.org/replacement-prefix'],
      ['/path-and-status', '301 http://echo/replacement-prefix'],
      ['/full-path-and-host', '302 http://example.org/replacement-full'],
      ['/full-path-and-status', '301 http://echo/replacement-full'],
      ['/port', '302 http://echo:8083/port'],
      ['/scheme', '302 https://echo/scheme'],
      ['/303', '303 http://echo/303'],
      ['/307', '307 http://echo/307'],
      ['/308?a=b', '308 http://echo/308?a=b'],
      [{ url: '/303', port: 8080 }, 'implicit echo'],
    ]);
  });

  it.each(['rule', 'backend'])('MeshHTTPRoute(Backend)RequestHeaderModifier, by the %s', (where) => {
    const changes = (requestHeaderModifier: object): RouteRule => {
      const filters = [{ type: 'RequestHeaderModifier', requestHeaderModifier }];
      const [backend] = to(1).backendRefs;
      return where === 'rule' || !backend ? { filters, ...to(1) } : { backendRefs: [{ ...backend, filters }] };
    };
    const named = (...pairs: readonly (readonly [string, string])[]) => pairs.map(([name, value]) => ({ name, value }));
    const mesh = echo([
      { matches: [prefix('/set')], ...changes({ set: named(['X-Header-Set', 'set-overwrites-values']) }) },
      { matches: [prefix('/add')], ...changes({ add: named(['X-Header-Add', 'add-appends-values']) }) },
      { matches: [prefix('/remove')], ...changes({ remove: ['X-Header-Remove'] }) },
      {
        matches: [prefix('/multiple')],
        ...changes({
          set: named(['X-Header-Set-1', 'header-set-1'], ['X-Header-Set-2', 'header-set-2']),
          add: named(['X-Header-Add-1', 'header-add-1'], ['X-Header-Add-2', 'header-add-2']),
          remove: ['X-Header-Remove-1', 'X-Header-Remove-2'],
        }),
      },
    ]);
    const sent = (url: string, headers: Record<string, string>) =>
      Object.fromEntries(
        (mesh.forwarded({ url, headers })?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]),
      );
    expect(sent('/set', { 'x-header-set': 'some-other-value', other: 'kept' })).toEqual({
      'x-header-set': 'set-overwrites-values',
      other: 'kept',
    });
    expect(sent('/set', {})).toEqual({ 'x-header-set': 'set-overwrites-values' });
    expect(sent('/add', { 'x-header-add': 'some-other-value' })).toEqual({
      'x-header-add': 'some-other-value,add-appends-values',
    });
    expect(sent('/remove', { 'X-HEADER-REMOVE': 'gone', other: 'kept' })).toEqual({ other: 'kept' });
    expect(
      sent('/multiple', {
        'X-Header-Set-2': 'set-val-2',
        'X-Header-Add-2': 'add-val-2',
        'X-Header-Remove-2': 'remove-val-2',
        Another: 'another-header-val',
      }),
    ).toEqual({
      'x-header-set-1': 'header-set-1',
      'x-header-set-2': 'header-set-2',
      'x-header-add-1': 'header-add-1',
      'x-header-add-2': 'add-val-2,header-add-2',
      another: 'another-header-val',
    });
  });

  it('MeshHTTPRouteRewritePath', () => {
    const rewrite = (path: object, ...more: object[]) => ({
      filters: [{ type: 'URLRewrite', urlRewrite: { path } }, ...more] as NonNullable<RouteRule['filters']>,
      ...to(1),
    });
    const add = { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'X-Add', value: 'one' }] } };
    const byPrefix = (replacePrefixMatch: string) => ({ type: 'ReplacePrefixMatch', replacePrefixMatch });
    const full = { type: 'ReplaceFullPath', replaceFullPath: '/one' };
    const mesh = echo([
      { matches: [prefix('/prefix/one')], ...rewrite(byPrefix('/one')) },
      { matches: [prefix('/strip-prefix')], ...rewrite(byPrefix('/')) },
      { matches: [prefix('/full/one')], ...rewrite(full) },
      { matches: [prefix('/full/rewrite-path-and-modify-headers')], ...rewrite(full, add) },
      { matches: [prefix('/prefix/rewrite-path-and-modify-headers')], ...rewrite(byPrefix('/prefix'), add) },
    ]);
    const pathOf = (url: string) => mesh.forwarded({ url })?.path;
    expect(pathOf('/prefix/one/two')).toBe('/one/two');
    expect(pathOf('/strip-prefix/three')).toBe('/three');
    expect(pathOf('/strip-prefix')).toBe('/');
    expect(pathOf('/full/one/two')).toBe('/one');
    expect(mesh.forwarded({ url: '/full/rewrite-path-and-modify-headers/test' })).toMatchObject({
      path: '/one',
      headers: [['X-Add', 'one']],
    });
    expect(pathOf('/prefix/rewrite-path-and-modify-headers/one')).toBe('/prefix/one');
  });

  it('HTTPRouteMatchingAcrossRoutes, HTTPRoutePathMatchOrder (T002-27)', () => {
    const mesh = RoutingMesh.echo();
    const rule = (match: object, version: number): RouteRule => ({ matches: [match], ...to(version) });
    const put = (name: string, ...rules: RouteRule[]) => mesh.route('HTTPRoute', name, { parentRefs: ECHO_80, rules });
    put('a', rule(prefix('/match/'), 1), rule(exact('/match/exact'), 2));
    put('b', rule(prefix('/match/prefix/'), 2), rule(exact('/match'), 2), rule(prefix('/match/prefix/one'), 1));
    expectRows(mesh, [
      ['/match/exact', 'echo-v2'],
      ['/match', 'echo-v2'],
      ['/match/x', 'echo-v1'],
      ['/match/prefix/x', 'echo-v2'],
      ['/match/prefix/one/x', 'echo-v1'],
    ]);
  });

  it('GRPCExactMethodMatching and the precedence of service, method, headers', () => {
    const mesh = RoutingMesh.echo();
    const rules: RouteRule[] = [
      { matches: [{ method: { service: 'echo.Echo' } }], ...to(1, 7070) },
      { matches: [{ method: { service: 'echo.Echo', method: 'Two' } }], ...to(2, 7070) },
      { matches: [{ method: { type: 'RegularExpression', service: 'other\\..*' } }], ...to(2, 7070) },
    ];
    mesh.route('GRPCRoute', 'grpc', { parentRefs: [{ kind: 'Service', name: 'echo', port: 7070 }], rules });
    const call = (url: string): string =>
      mesh.answer({ port: 7070, url, method: 'POST', headers: { 'Content-Type': 'application/grpc+proto' } });
    expect(['/echo.Echo/One', '/echo.Echo/Two', '/other.X/Any', '/none.X/Any'].map(call)).toEqual([
      'echo-v1',
      'echo-v2',
      'echo-v2',
      'grpc 12',
    ]);
    expect(mesh.answer({ port: 7070, url: '/echo.Echo/One', method: 'POST' })).toBe('404');
  });
});
