import { globalIdentity } from '@causeway/resources';
import { plainTokens } from '../support/rest-access';
import { EchoMesh, type Asked } from './routes-fixture';
import type { ParsedJson } from './rest-fixture';

const ECHO_80 = [{ kind: 'Service', name: 'echo', port: 80 }];
const prefix = (value: string) => ({ path: { type: 'PathPrefix', value } });
const exact = (value: string) => ({ path: { type: 'Exact', value } });
const header = (name: string, value: string) => ({ headers: [{ name, value }] });
const query = (value: string) => ({ queryParams: [{ name: 'animal', value }] });
const to = (version: number, port = 80) => ({ backendRefs: [{ name: `echo-v${version}`, port }] });
const set = (value: string) => ({
  filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'X-Header-Set', value }] } }],
});
const redirect = (value: string, requestRedirect: object) => ({
  matches: [prefix(value)],
  filters: [{ type: 'RequestRedirect', requestRedirect }],
});
const replacePrefix = { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } };
const replaceFull = { path: { type: 'ReplaceFullPath', replaceFullPath: '/full' } };
const weighted = (port: number) => ({
  backendRefs: [
    { name: 'echo-v1', port, weight: 70 },
    { name: 'echo-v2', port, weight: 30 },
    { name: 'echo-v3', port, weight: 0 },
  ],
});

interface Vector {
  readonly routes: readonly { readonly kind?: string; readonly namespace?: string; readonly spec: object }[];
  readonly rows: readonly (readonly [asked: Asked | string, answer: string])[];
}

const echo = (...rules: readonly object[]) => [{ spec: { parentRefs: ECHO_80, rules } }];
const of = (name: string, rule: object, more: object = {}) => ({
  spec: { parentRefs: [{ kind: 'Service', namespace: 'mesh', name, ...more }], rules: [rule] },
});
const frontend = [of('echo-v2', { ...set('set'), ...to(2) })];
const grpc = { scheme: 'grpc', headers: {} };

const vectors: Readonly<Record<string, Vector>> = {
  'MeshBasic (T002-10)': { routes: [], rows: [['/', 'implicit echo']] },
  'MeshTrafficSplit (T002-11)': {
    routes: echo({ matches: [exact('/v1')], ...to(1) }, { matches: [exact('/v2')], ...to(2) }),
    rows: [
      ['/v1', 'echo-v1'],
      ['/v2', 'echo-v2'],
      ['/v3', '404'],
    ],
  },
  'MeshFrontend (T002-38)': {
    routes: frontend,
    rows: [
      [{ service: 'echo-v2' }, 'echo-v2 set'],
      [{ service: '', host: '10.0.0.2', url: ':8080/' }, 'direct v2'],
    ],
  },
  'MeshFrontendHostname (T002-07)': {
    routes: frontend,
    rows: [
      [{ service: '', host: '241.0.0.3', headers: { Host: 'echo-v1' } }, 'echo-v2 set'],
      [{ service: '', host: '241.0.0.2', headers: { Host: 'echo-v2' } }, 'implicit echo-v1'],
    ],
  },
  'MeshPorts (T002-28)': {
    routes: [
      of('echo-v1', { ...set('v1'), backendRefs: [{ name: 'echo-v1' }] }, { port: 80 }),
      of('echo-v2', { ...set('v2'), backendRefs: [{ name: 'echo-v2' }] }),
    ],
    rows: [
      [{ service: 'echo-v1' }, 'echo-v1 v1'],
      [{ service: 'echo-v1', url: ':8080/' }, 'implicit echo-v1'],
      [{ service: 'echo-v2' }, 'echo-v2 v2'],
      [{ service: 'echo-v2', url: ':8080/' }, 'echo-v2 v2'],
    ],
  },
  'MeshConsumerRoute (T002-31)': {
    routes: [
      {
        namespace: 'consumer',
        ...of('echo-v1', { ...set('set'), backendRefs: [{ namespace: 'mesh', name: 'echo-v1', port: 80 }] }),
      },
    ],
    rows: [
      [{ service: 'echo-v1', from: 'consumer' }, 'echo-v1 set'],
      [{ service: 'echo-v1' }, 'implicit echo-v1'],
    ],
  },
  MeshHTTPRouteSimpleSameNamespace: { routes: echo(to(1, 8080)), rows: [['/', 'echo-v1']] },
  'MeshHTTPRouteMatching (T002-27)': {
    routes: echo(
      { matches: [prefix('/'), header('version', 'one')], ...to(1) },
      { matches: [prefix('/v2'), header('version', 'two')], ...to(2) },
    ),
    rows: [
      ...['/', '/example', '/v2example', '/foo/v2/example'].map((url) => [url, 'echo-v1'] as const),
      ...['/v2', '/v2/example', '/v2/'].map((url) => [url, 'echo-v2'] as const),
      [{ headers: { Version: 'one' } }, 'echo-v1'],
      [{ headers: { Version: 'two' } }, 'echo-v2'],
    ],
  },
  MeshHTTPRouteQueryParamMatching: {
    routes: echo(
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
    ),
    rows: [
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
        (url) => [url, '404'] as const,
      ),
    ],
  },
  'MeshHTTPRouteWeight (T002-08)': { routes: echo(weighted(80)), rows: [['/', 'echo-v1 0.7, echo-v2 0.3']] },
  'MeshHTTPRouteRedirectHostAndStatus, …Path, …Port, …SchemeRedirect, …303/307/308': {
    routes: echo(
      redirect('/host', { hostname: 'example.org' }),
      redirect('/both', { hostname: 'example.org', statusCode: 301 }),
      redirect('/original-prefix', replacePrefix),
      redirect('/path-and-status', { statusCode: 301, ...replacePrefix }),
      redirect('/whole', replaceFull),
      redirect('/port', { port: 8083 }),
      redirect('/scheme', { scheme: 'https' }),
      redirect('/303', { statusCode: 303 }),
      redirect('/307', { statusCode: 307 }),
      redirect('/308', { statusCode: 308 }),
    ),
    rows: [
      ['/host', '302 http://example.org/host'],
      ['/both', '301 http://example.org/both'],
      ['/original-prefix/lemon', '302 http://echo/new/lemon'],
      ['/path-and-status', '301 http://echo/new'],
      ['/whole/of/it', '302 http://echo/full'],
      ['/port', '302 http://echo:8083/port'],
      ['/scheme', '302 https://echo/scheme'],
      ['/303', '303 http://echo/303'],
      ['/307', '307 http://echo/307'],
      ['/308?a=b', '308 http://echo/308?a=b'],
    ],
  },
  'MeshGRPCRouteWeight (T002-24)': {
    routes: [
      { kind: 'GRPCRoute', spec: { parentRefs: [{ ...ECHO_80[0], port: 7070 }], rules: [weighted(7070)] } },
      { kind: 'HTTPRoute', spec: { parentRefs: [{ ...ECHO_80[0], port: 7070 }], rules: [to(2, 7070)] } },
    ],
    rows: [
      [{ ...grpc, url: ':7070/echo.Echo/Say' }, 'echo-v1 0.7, echo-v2 0.3'],
      [{ url: ':7070/echo.Echo/Say' }, '404'],
    ],
  },
  'TCPRouteWeightedRouting (T002-23)': {
    routes: [{ kind: 'TCPRoute', spec: { parentRefs: [{ ...ECHO_80[0], port: 9090 }], rules: [weighted(9090)] } }],
    rows: [[{ scheme: 'tcp', url: ':9090' }, 'echo-v1 0.7, echo-v2 0.3']],
  },
  'InvalidNonExistentBackendRef, NoBackendRefs, no endpoints (T002-17, T002-18, T002-43)': {
    routes: echo(
      {
        matches: [prefix('/missing')],
        backendRefs: [
          { name: 'none', port: 80 },
          { name: 'echo-v1', port: 80 },
        ],
      },
      { matches: [prefix('/nowhere')] },
      { matches: [prefix('/empty')], backendRefs: [{ name: 'empty', port: 80 }] },
    ),
    rows: [
      ['/missing', '500 0.5, echo-v1 0.5'],
      ['/nowhere', '500'],
      ['/empty', '503'],
    ],
  },
};

describe('POST /meshes/{mesh}/_explain: the conformance table', () => {
  let mesh: EchoMesh;
  afterEach(() => mesh.close());

  it.each(Object.entries(vectors))('%s', async (_, { routes, rows }) => {
    mesh = await EchoMesh.start();
    for (const [i, { kind = 'HTTPRoute', namespace, spec }] of routes.entries()) {
      await mesh.route(kind, `route-${i}`, spec, namespace);
    }
    const answers: [Asked | string, string][] = [];
    for (const [asked] of rows)
      answers.push([asked, await mesh.answer(typeof asked === 'string' ? { url: asked } : asked)]);
    expect(answers).toEqual(rows);
  });

  it('MeshHTTPRouteRequestHeaderModifier, …BackendRequestHeaderModifier, …RewritePath, …NamedRule', async () => {
    mesh = await EchoMesh.start();
    const add = { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'X-Add', value: 'two' }] } };
    const rewrite = {
      type: 'URLRewrite',
      urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
    };
    const [backend] = to(1).backendRefs;
    const rules = [
      { name: 'named-rule', matches: [prefix('/strip')], filters: [rewrite, add], ...to(1) },
      { matches: [prefix('/backend')], backendRefs: [{ ...backend, filters: [add] }] },
    ];
    await mesh.route('HTTPRoute', 'route', { parentRefs: ECHO_80, rules });
    const first = await mesh.explain({ url: '/strip/three', headers: { 'x-add': 'one' } });
    expect(first.decision).toMatchObject({ rule: 'named-rule', route: { kind: 'HTTPRoute', name: 'route' } });
    expect(first.shares[0].request).toMatchObject({ path: '/three', headers: [['x-add', 'one,two']] });
    const second = await mesh.explain({ url: '/backend' });
    expect(second.decision.rule).toBe('rule-2');
    expect(second.shares[0].request.headers).toEqual([['X-Add', 'two']]);
  });
});

describe('POST /meshes/{mesh}/_explain', () => {
  let mesh: EchoMesh;
  afterEach(() => mesh.close());

  it('says how the request came to its rule, and why every other rule lost: 256 by name, the rest counted', async () => {
    mesh = await EchoMesh.start();
    for (let r = 0; r < 3; r += 1) {
      const rules = Array.from({ length: 16 }, (_, i) => ({
        matches: Array.from({ length: 8 }, (__, j) => exact(`/r${r}/${i}/${j}`)),
        ...to(1),
      }));
      await mesh.route('HTTPRoute', `r${r}`, { parentRefs: ECHO_80, rules });
    }
    const answer = await mesh.explain({ service: '', host: '241.0.0.1', url: '/r0/0/0' });
    expect(answer.steps).toEqual([
      '241.0.0.1 is the virtual IP of MeshService east/mesh/echo',
      'from namespace mesh to port 80 of MeshService mesh/echo',
      'group producer decides, with 3 HTTPRoutes',
    ]);
    expect(answer.decision).toMatchObject({ group: 'producer', rule: 'rule-1', match: 'Exact /r0/0/0' });
    expect([answer.lost.length, answer.lostTotal]).toEqual([256, 383]);
    expect(answer.lost[0]).toEqual({
      route: 'HTTPRoute mesh/r0',
      rule: 'rule-1',
      match: 'Exact /r0/0/1',
      reason: 'does not match: needs Exact /r0/0/1',
    });
  });

  it.each<[string, object, string, string, string]>([
    ['no URL', {}, 'to', 'required', 'is required'],
    ['another scheme', { to: 'ftp://echo/' }, 'to', 'wrong-form', 'got "ftp://echo/"'],
    ['https', { to: 'https://echo/' }, 'to', 'wrong-form', 'scheme tls'],
    ['no host', { to: 'http:///a' }, 'to', 'wrong-form', 'got "http:///a"'],
    ['a long URL', { to: `http://echo/${'a'.repeat(2_048)}` }, 'to', 'too-long', '2048'],
    ['a user', { to: 'http://me@echo/' }, 'to', 'wrong-form', 'no user'],
    ['a space', { to: 'http://echo/a b' }, 'to', 'wrong-form', 'ASCII'],
    ['a bad method', { to: 'http://echo/', method: 'G T' }, 'method', 'wrong-form', 'got "G T"'],
    [
      'a bad header',
      { to: 'http://echo/', headers: [{ name: 'a b', value: 'c' }] },
      'headers[0].name',
      'wrong-form',
      'a b',
    ],
    [
      'two lines',
      { to: 'http://echo/', headers: [{ name: 'a', value: 'b\nc' }] },
      'headers[0].value',
      'wrong-form',
      'one line',
    ],
    [
      'many headers',
      { to: 'http://echo/', headers: Array.from({ length: 65 }, () => ({ name: 'a', value: 'b' })) },
      ...(['headers', 'too-many', '64'] as const),
    ],
    [
      'large headers',
      { to: 'http://echo/', headers: Array.from({ length: 5 }, () => ({ name: 'a', value: 'b'.repeat(4_096) })) },
      ...(['headers', 'too-large', '16384'] as const),
    ],
    ['an unknown field', { to: 'http://echo/', form: {} }, 'form', 'unknown-field', 'from'],
    ['an unknown Dataplane', { to: 'http://echo/', from: { dataplane: 'x' } }, 'from.dataplane', 'invalid', 'got "x"'],
    [
      'two clients',
      { to: 'http://echo/', from: { dataplane: 'x', gateway: 'y' } },
      'from.gateway',
      'invalid',
      'dataplane',
    ],
    ['another kind', { to: 'http://echo/', service: { kind: 'Pod', name: 'x' } }, 'service.kind', 'not-one-of', 'Pod'],
  ])('refuses %s by field, rule and value', async (_, body, ...[field, rule, reason]) => {
    mesh = await EchoMesh.start();
    const [status, problem] = await mesh.post(body);
    expect([status, problem.invalid_parameters]).toEqual([
      422,
      [expect.objectContaining({ field, rule, reason: expect.stringContaining(reason) })],
    ]);
  });

  it('answers 404 for what is nowhere, and 400 or 413 for what is no question', async () => {
    mesh = await EchoMesh.start();
    const asked: [object, string][] = [
      [{ to: 'http://10.9.9.9/' }, 'no service and no Dataplane of mesh default is at 10.9.9.9'],
      [
        { to: 'http://x/', service: { namespace: 'mesh', name: 'none' } },
        'there is no MeshService mesh/none in mesh default',
      ],
      [
        { to: 'http://x:81/', service: { namespace: 'mesh', name: 'echo' } },
        'MeshService east/mesh/echo has no port 81',
      ],
    ];
    for (const [body, detail] of asked)
      expect(await mesh.post(body)).toEqual([404, expect.objectContaining({ detail })]);
    expect((await mesh.post({ to: 'http://241.0.0.1/' }, '?zone=west'))[0]).toBe(422);
    expect((await mesh.post({ to: 'http://241.0.0.1/' }, '?zne=west'))[0]).toBe(400);
    expect((await mesh.post([]))[0]).toBe(422);
  });

  it('a regular expression that would take for ever elsewhere is linear here', async () => {
    mesh = await EchoMesh.start();
    const path = { type: 'RegularExpression', value: '(a|aa)+(a|aa)+(a|aa)+$' };
    await mesh.route('HTTPRoute', 'slow', { parentRefs: ECHO_80, rules: [{ matches: [{ path }], ...to(1) }] });
    expect(await mesh.answer({ url: `/${'a'.repeat(2_000)}b` })).toBe('404');
  });

  it('is refused to who may not read the service or a route to it', async () => {
    mesh = await EchoMesh.start({ access: { verifiers: [plainTokens], open: false } });
    const body = { to: 'http://241.0.0.1/' };
    const url = '/meshes/default/_explain';
    const ask = (token: string) =>
      mesh.rest.server.inject({ method: 'POST', url, payload: body, headers: { authorization: `bearer ${token}` } });
    expect((await ask('anna:')).statusCode).toBe(403);
    const grant = (name: string, role: string) => ({
      id: globalIdentity('RoleBinding', name),
      spec: { role, subjects: [{ kind: 'User', name: 'anna' }], namespaces: ['mesh'] },
    });
    await mesh.rest.seed(grant('of-namespace', 'viewer'));
    expect((await ask('anna:')).json()).toMatchObject({ outcome: 'implicit' });
    const [mine, theirs] = ['mesh', 'consumer'].map((namespace) => ({
      id: { kind: 'HTTPRoute', mesh: 'default', zone: 'east', namespace, name: 'r' },
      spec: { parentRefs: [{ kind: 'Service', namespace: 'mesh', name: 'echo' }], rules: [to(1)] },
    }));
    if (mine && theirs) {
      await mesh.rest.seed(mine);
      expect((await ask('anna:')).statusCode).toBe(200);
      await mesh.rest.seed(theirs);
    }
    const refused = await ask('anna:');
    expect([refused.statusCode, refused.json().detail]).toEqual([403, expect.stringContaining('HTTPRoute')]);
  });

  it('on the global resolves as in the zone that is named, with the routes that come there', async () => {
    mesh = await EchoMesh.start({ cp: { role: 'global' } });
    await mesh.rest.seed(
      { id: globalIdentity('Zone', 'east') },
      { id: globalIdentity('Zone', 'west') },
      ...['east', ''].map((zone) => ({
        id: { kind: 'HTTPRoute', mesh: 'default', zone, namespace: 'mesh', name: zone === '' ? 'all' : 'own' },
        spec: {
          parentRefs: ECHO_80,
          rules: [{ matches: [exact(zone === '' ? '/all' : '/own')], ...to(1) }],
        },
      })),
    );
    const body = { from: { namespace: 'mesh' }, to: 'http://echo/own', service: { namespace: 'mesh', name: 'echo' } };
    expect((await mesh.post(body))[1].invalid_parameters).toEqual([
      expect.objectContaining({ field: 'zone', rule: 'required' }),
    ]);
    expect((await mesh.post(body, '?zone=east'))[1]).toMatchObject({ zone: 'east', outcome: 'routed', lostTotal: 1 });
    expect((await mesh.post(body, '?zone=west'))[1]).toMatchObject({ zone: 'west', outcome: 'refused', status: 404 });
    expect((await mesh.post(body, '?zone=north'))[0]).toBe(404);
  });
});

describe('GET /meshes/{mesh}/_routes', () => {
  let mesh: EchoMesh;
  afterEach(() => mesh.close());
  const get = async (search: string): Promise<[number, ParsedJson]> => {
    const answer = await mesh.rest.server.inject({ url: `/meshes/default/_routes?namespace=mesh&${search}` });
    return [answer.statusCode, answer.json()];
  };

  it('shows the merged table by port and group, the stronger match first (T002-27, T002-41)', async () => {
    mesh = await EchoMesh.start();
    await mesh.route('HTTPRoute', 'old', { parentRefs: ECHO_80, rules: [{ matches: [prefix('/a')], ...to(1) }] });
    await mesh.route('HTTPRoute', 'new', { parentRefs: ECHO_80, rules: [{ matches: [exact('/a')], ...weighted(80) }] });
    const parentRefs = [{ kind: 'Service', namespace: 'mesh', name: 'echo', port: 9090 }];
    await mesh.route('TCPRoute', 'tcp', { parentRefs, rules: [{ backendRefs: [{ name: 'gone', port: 1 }] }] }, 'shop');
    const [, all] = await get('service=echo');
    expect(all.tables.map(({ port, group, kind, total }: ParsedJson) => [port, group, kind, total])).toEqual([
      [80, 'producer', 'HTTPRoute', 2],
      [9090, 'consumer:shop', 'TCPRoute', 1],
    ]);
    expect(all.tables[0].rules.map(({ route, match }: ParsedJson) => [route.name, match])).toEqual([
      ['new', 'Exact /a'],
      ['old', 'PathPrefix /a'],
    ]);
    expect(all.tables[0].rules[0].backends).toEqual([
      { weight: 70, total: 100, to: 'MeshService east/mesh/echo-v1:80' },
      { weight: 30, total: 100, to: 'MeshService east/mesh/echo-v2:80' },
    ]);
    expect(all.tables[1].rules[0].backends[0].to).toContain('BackendNotFound');
    const portsOf = ([, { tables }]: [number, ParsedJson]) => tables.map(({ port }: ParsedJson) => port);
    expect(portsOf(await get('service=echo&port=80'))).toEqual([80]);
    expect(portsOf(await get('service=echo&client=mesh'))).toEqual([80]);
    expect(portsOf(await get('service=echo&client=shop'))).toEqual([80, 9090]);
    expect(portsOf(await get('service=echo-v1'))).toEqual([]);
  });

  it.each([
    ['', 400, 'service'],
    ['service=echo&port=0', 400, 'port'],
    ['service=echo&kind=Pod', 400, 'kind'],
    ['service=echo&clients=a', 400, 'clients'],
    ['service=none', 404, undefined],
    ['service=echo&zone=west', 422, 'zone'],
  ])('refuses %s with %i', async (search, status, field) => {
    mesh = await EchoMesh.start();
    const [answered, problem] = await get(search);
    expect([answered, problem.invalid_parameters?.[0]?.field]).toEqual([status, field]);
  });
});
