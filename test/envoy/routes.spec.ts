import type { RouteKind, RouteRule } from '@causeway/routing';
import { ENVOY } from '../support/envoy-process';
import { PORTS, RoutedPlane, type Routed } from '../support/routed-plane';
import type { Asked } from '../support/routing-mesh';

const { http, 'http-alt': alternative } = PORTS;
const ECHO = [{ kind: 'Service', name: 'echo', port: http }];
const prefix = (value: string) => ({ path: { type: 'PathPrefix', value } });
const exact = (value: string) => ({ path: { type: 'Exact', value } });
const header = (name: string, value: string) => ({ headers: [{ name, value }] });
const query = (value: string) => ({ queryParams: [{ name: 'animal', value }] });
const to = (version: number, port: number = http) => ({ backendRefs: [{ name: `echo-v${version}`, port }] });
const set = (value: string) => ({
  filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'X-Header-Set', value }] } }],
});

type Row = readonly [asked: string | Asked, answer: string];

/** The answer in a few words, as the tables of the conformance tests have it. */
function words({ status, name, answer }: Routed): string {
  if (answer.location !== undefined) return `${status} ${answer.location}`;
  return status === 200 ? name : String(status);
}

(ENVOY === undefined ? describe.skip : describe)('routes as a real Envoy obeys them', () => {
  let routed: RoutedPlane;

  beforeAll(async () => {
    routed = await RoutedPlane.start();
    await routed.mesh();
  });
  afterAll(() => routed.stop());
  afterEach(async () => {
    expect(routed.plane.problems()).toEqual([]);
    await routed.clear();
  });

  const echo = (rules: readonly RouteRule[], kind: RouteKind = 'HTTPRoute') =>
    routed.route(kind, 'route', { parentRefs: ECHO, rules });

  async function expectRows(rows: readonly Row[]): Promise<void> {
    const answers: Row[] = [];
    for (const [asked] of rows)
      answers.push([asked, words(await routed.ask(typeof asked === 'string' ? { url: asked } : asked))]);
    expect(answers).toEqual(rows);
  }

  /** Sends requests and returns how often each answer came. */
  async function counted(asked: Asked, count: number): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    const answers = await Promise.all(Array.from({ length: count }, () => routed.ask(asked)));
    for (const each of answers) counts[words(each)] = (counts[words(each)] ?? 0) + 1;
    return counts;
  }

  /** Of a fair draw, 6 standard deviations: one run of a billion is outside. */
  function expectShare(found: number | undefined, share: number, count: number): void {
    const most = 6 * Math.sqrt(count * share * (1 - share));
    expect(Math.abs((found ?? 0) - share * count)).toBeLessThan(most);
  }

  it('MeshBasic: without a route the service itself answers (T002-10)', () => expectRows([['/', 'echo']]));

  it('MeshTrafficSplit; what no rule matches is 404 (T002-11)', async () => {
    await echo([
      { matches: [exact('/v1')], ...to(1) },
      { matches: [exact('/v2')], ...to(2) },
    ]);
    await expectRows([
      ['/v1', 'echo-v1'],
      ['/v2', 'echo-v2'],
      ['/v3', '404'],
    ]);
  });

  it('MeshFrontend, MeshFrontendHostname: the address decides, not the Host header', async () => {
    const parentRefs = [{ kind: 'Service', name: 'echo-v2' }];
    await routed.route('HTTPRoute', 'route', { parentRefs, rules: [{ ...set('set'), ...to(2) }] });
    const led = await routed.ask({ to: 'echo-v2', host: 'echo-v1' });
    expect([led.name, led.answer['x-header-set']]).toEqual(['echo-v2', 'set']);
    const other = await routed.ask({ to: 'echo-v1', host: 'echo-v2' });
    expect([other.name, other.answer['x-header-set']]).toEqual(['echo-v1', undefined]);
  });

  it('MeshPorts (T002-28)', async () => {
    const one = (name: string) => ({ rules: [{ ...set(name.slice(-2)), backendRefs: [{ name }] }] });
    const v1 = [{ kind: 'Service', name: 'echo-v1', port: http }];
    await routed.route('HTTPRoute', 'v1', { parentRefs: v1, ...one('echo-v1') });
    await routed.route('HTTPRoute', 'v2', { parentRefs: [{ kind: 'Service', name: 'echo-v2' }], ...one('echo-v2') });
    const asked = [http, alternative].flatMap((port) => ['echo-v1', 'echo-v2'].map((name) => ({ to: name, port })));
    const answers = await Promise.all(asked.map((each) => routed.ask(each)));
    expect(answers.map(({ answer }) => answer['x-header-set'])).toEqual(['v1', 'v2', undefined, 'v2']);
  });

  it('MeshConsumerRoute: a route of another namespace is for its clients only (T002-31, T002-40)', async () => {
    const parentRefs = [{ kind: 'Service', namespace: 'mesh', name: 'echo-v1' }];
    const rules = [{ matches: [exact('/only')], ...set('set'), backendRefs: [{ namespace: 'mesh', name: 'echo-v1' }] }];
    await routed.route('HTTPRoute', 'route', { parentRefs, rules }, 'consumer');
    const ask = async (from: string, url: string) => {
      const { status, answer } = await routed.ask({ to: 'echo-v1', from, url });
      return [status, answer['x-header-set']];
    };
    expect([await ask('consumer', '/only'), await ask('mesh', '/only')]).toEqual([
      [200, 'set'],
      [200, undefined],
    ]);
    // Nothing falls through to a producer's route.
    await routed.route('HTTPRoute', 'producer', { parentRefs: [{ kind: 'Service', name: 'echo-v1' }], rules: [to(2)] });
    expect([await ask('consumer', '/other'), await ask('mesh', '/other')]).toEqual([
      [404, undefined],
      [200, undefined],
    ]);
  });

  it('MeshHTTPRouteSimpleSameNamespace', async () => {
    await echo([to(1, alternative)]);
    await expectRows([['/', 'echo-v1']]);
  });

  it('MeshHTTPRouteMatching', async () => {
    await echo([
      { matches: [prefix('/'), header('version', 'one')], ...to(1) },
      { matches: [prefix('/v2'), header('version', 'two')], ...to(2) },
    ]);
    await expectRows([
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

  it('MeshHTTPRouteQueryParamMatching', async () => {
    await echo([
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
    await expectRows([
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

  it('MeshHTTPRouteNamedRule', async () => {
    await echo([
      { name: 'named-rule', matches: [prefix('/named')], ...to(1) },
      { matches: [prefix('/unnamed')], ...to(2) },
    ]);
    expect((await routed.ask({ url: '/unnamed' })).url).toBe('/unnamed');
    await expectRows([['/named', 'echo-v1']]);
  });

  it('MeshHTTPRouteWeight; invalid backends are 500, those without endpoints 503, and keep their weight (T002-08, T002-17)', async () => {
    await echo([
      {
        backendRefs: [
          { name: 'echo-v1', port: http, weight: 70 },
          { name: 'echo-v2', port: http, weight: 30 },
          { name: 'echo-v3', port: http, weight: 0 },
        ],
      },
    ]);
    const split = await counted({}, 1_000);
    expect(Object.keys(split).sort()).toEqual(['echo-v1', 'echo-v2']);
    expectShare(split['echo-v2'], 0.3, 1_000);
    const backendRefs = ['echo-v1', 'nowhere', 'empty'].map((name, i) => ({
      name,
      port: http,
      weight: [50, 30, 20][i] ?? 0,
    }));
    await echo([{ backendRefs }]);
    const broken = await counted({}, 1_000);
    expectShare(broken['500'], 0.3, 1_000);
    expectShare(broken['503'], 0.2, 1_000);
    expect(Object.keys(broken).sort()).toEqual(['500', '503', 'echo-v1']);
  });

  it('without backends a rule is 500 (T002-43); a redirect needs none', async () => {
    await echo([
      { matches: [exact('/none')] },
      { matches: [exact('/zero')], backendRefs: [{ name: 'echo', weight: 0 }] },
    ]);
    await expectRows([
      ['/none', '500'],
      ['/zero', '500'],
    ]);
  });

  it('MeshHTTPRouteRedirectHostAndStatus, …Path, …Port, …SchemeRedirect, …303/307/308', async () => {
    const redirect = (value: string, requestRedirect: object): RouteRule => ({
      matches: [prefix(value)],
      filters: [{ type: 'RequestRedirect', requestRedirect }],
    });
    const replacePrefix = (replacePrefixMatch: string) => ({
      path: { type: 'ReplacePrefixMatch', replacePrefixMatch },
    });
    const replaceFull = (replaceFullPath: string) => ({ path: { type: 'ReplaceFullPath', replaceFullPath } });
    await echo([
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
    ]);
    await expectRows([
      ['/hostname-redirect', `302 http://example.org:${http}/hostname-redirect`],
      ['/host-and-status', `301 http://example.org:${http}/host-and-status`],
      ['/original-prefix/lemon?a=b', `302 http://echo:${http}/replacement-prefix/lemon?a=b`],
      ['/full/path/original', `302 http://echo:${http}/full-path-replacement`],
      ['/path-and-host/lemon', `302 http://example.org:${http}/replacement-prefix/lemon`],
      ['/path-and-status/lemon', `301 http://echo:${http}/replacement-prefix/lemon`],
      ['/full-path-and-host/lemon', `302 http://example.org:${http}/replacement-full`],
      ['/full-path-and-status/lemon', `301 http://echo:${http}/replacement-full`],
      ['/port', '302 http://echo:8083/port'],
      ['/scheme', '302 https://echo/scheme'],
      ['/303', `303 http://echo:${http}/303`],
    ]);
    await echo([redirect('/307', { statusCode: 307 }), redirect('/308', { statusCode: 308 })]);
    await expectRows([
      ['/307', `307 http://echo:${http}/307`],
      ['/308', `308 http://echo:${http}/308`],
    ]);
  });

  it('MeshHTTPRouteRequestHeaderModifier, …BackendRequestHeaderModifier', async () => {
    const requestHeaderModifier = {
      set: [{ name: 'X-Header-Set', value: 'set 100%' }],
      add: [{ name: 'X-Header-Add', value: 'added' }],
      remove: ['X-Header-Remove'],
    };
    const filters = [{ type: 'RequestHeaderModifier', requestHeaderModifier }];
    const headers = { 'x-header-set': 'some', 'x-header-add': 'some', 'x-header-remove': 'some', 'x-other': 'some' };
    for (const rule of [{ filters, ...to(1) }, { backendRefs: [{ name: 'echo-v1', port: http, filters }] }]) {
      await echo([rule]);
      const got = (await routed.ask({ headers })).headers;
      expect([got['x-header-set'], got['x-header-remove'], got['x-other']]).toEqual(['set 100%', undefined, 'some']);
      expect(got['x-header-add']).toMatch(/^some, ?added$/);
    }
  });

  it('MeshHTTPRouteRewritePath', async () => {
    const rewrite = (value: string, path: object, more: object = {}): RouteRule => ({
      matches: [prefix(value)],
      filters: [{ type: 'URLRewrite', urlRewrite: { path: path as never, ...more } }],
      ...to(1),
    });
    const replacePrefix = (replacePrefixMatch: string) => ({ type: 'ReplacePrefixMatch', replacePrefixMatch });
    await echo([
      rewrite('/prefix/one', replacePrefix('/one')),
      rewrite('/strip-prefix', replacePrefix('/')),
      rewrite('/full/one', { type: 'ReplaceFullPath', replaceFullPath: '/one' }, { hostname: 'one.example' }),
    ]);
    const got = async (url: string) => (await routed.ask({ url })).url;
    expect(await Promise.all(['/prefix/one/two', '/strip-prefix/three', '/strip-prefix'].map(got))).toEqual([
      '/one/two',
      '/three',
      '/',
    ]);
    const { url, headers } = await routed.ask({ url: '/full/one/two?a=b' });
    expect([url, headers.host]).toEqual(['/one?a=b', 'one.example']);
  });

  it('takes the largest regular expression that a route may have', async () => {
    await echo([{ matches: [{ path: { type: 'RegularExpression', value: '/[a-z]{900}' } }], ...to(1) }]);
    await expectRows([
      [`/${'a'.repeat(900)}`, 'echo-v1'],
      ['/a', '404'],
    ]);
  });

  it('copies requests to another service, and never waits for it', async () => {
    const requestMirror = { backendRef: { name: 'empty', port: http } };
    await echo([{ filters: [{ type: 'RequestMirror', requestMirror }], ...to(1) }]);
    await expectRows([['/', 'echo-v1']]);
  });

  it('TCPRoute: connections are shared by weight, and the strongest kind of a port decides (T002-23, T002-25)', async () => {
    const rule = { backendRefs: [{ name: 'echo-v2', port: http }] };
    const parentRefs = [{ kind: 'Service', name: 'echo' }];
    await routed.route('TCPRoute', 'bytes', { parentRefs, rules: [rule] });
    const connection = { headers: { connection: 'close' } };
    await expectRows([
      [connection, 'echo-v2'],
      [{ ...connection, port: PORTS.tcp }, 'echo-v2'],
    ]);
    await routed.route('HTTPRoute', 'requests', { parentRefs, rules: [to(1)] });
    await expectRows([[connection, 'echo-v1']]);
  });

  it('a route makes a port of bytes one of requests, and its end makes it one of bytes again', async () => {
    await routed.route('HTTPRoute', 'route', {
      parentRefs: [{ kind: 'Service', name: 'echo', port: PORTS.tcp }],
      rules: [{ matches: [exact('/v2')], ...to(2) }],
    });
    const asked = (url: string): Asked => ({ url, port: PORTS.tcp, headers: { connection: 'close' } });
    await expectRows([
      [asked('/v2'), 'echo-v2'],
      [asked('/'), '404'],
    ]);
    await routed.clear();
    await expectRows([[asked('/'), 'echo']]);
  });

  it('a change of weights or matches is a change of routes only: no listener, no cluster, no connection', async () => {
    await echo([
      {
        backendRefs: [
          { name: 'echo-v1', weight: 1 },
          { name: 'echo-v2', weight: 0 },
        ],
      },
    ]);
    const types = () =>
      routed.plane.server
        .proxies()
        .flatMap(({ id, types: each }) => each.map(({ type, responses }) => `${id} ${type} ${responses.sent}`));
    const before = types();
    await echo([
      {
        matches: [prefix('/x')],
        backendRefs: [
          { name: 'echo-v1', weight: 9 },
          { name: 'echo-v2', weight: 0 },
        ],
      },
    ]);
    const changed = types().filter((each) => !before.includes(each));
    expect(changed.every((each) => each.includes('RouteConfiguration'))).toBe(true);
    expect(changed).toHaveLength(2);
  });
});
