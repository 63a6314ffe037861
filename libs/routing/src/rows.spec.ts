import { RoutingMesh } from '../../../test/support/routing-mesh';
import type { ParentRef, RouteKind, RouteRule, RouteSpec } from './model';

const ECHO: ParentRef = { kind: 'Service', name: 'echo' };
const to = (name: string, more: object = {}) => ({ backendRefs: [{ name, ...more }] });
const exact = (value: string) => ({ matches: [{ path: { type: 'Exact', value } }] });
const bind = (mesh: RoutingMesh, spec: Partial<RouteSpec> = {}, kind: RouteKind = 'HTTPRoute') =>
  mesh.route(kind, `${kind.toLowerCase()}-route`, { parentRefs: [ECHO], rules: [to('echo-v1')], ...spec });
const HTTP_ID = { kind: 'HTTPRoute', mesh: 'default', zone: '', namespace: 'mesh', name: 'httproute-route' };
const BOUND = ['Accepted=True/Accepted', 'ResolvedRefs=True/ResolvedRefs'];
const GRPC = { port: 7070, method: 'POST', url: '/a.B/C', headers: { 'content-type': 'application/grpc' } };

describe('who may bind', () => {
  it('T002-02: the namespaces and kinds of allowedRoutes; NotAllowedByMesh, and True again after relabelling', () => {
    const mesh = RoutingMesh.echo();
    const id = bind(mesh);
    mesh.table.setAllowedRoutes('default', {
      namespaces: { from: 'Selector', selector: { matchLabels: { team: 'a' } } },
    });
    mesh.table.setNamespace('mesh', { team: 'b' });
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NotAllowedByMesh');
    expect(mesh.answer()).toBe('implicit echo');
    expect(mesh.table.setNamespace('mesh', { team: 'a' }).routes).toEqual(['HTTPRoute/default//mesh/httproute-route']);
    expect(mesh.conditions(id)).toEqual([BOUND]);
    mesh.table.setAllowedRoutes('default', { kinds: [{ kind: 'GRPCRoute' }] });
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NotAllowedByMesh');
    mesh.table.setAllowedRoutes('default', undefined);
    expect(mesh.answer()).toBe('echo-v1');
  });

  it('T002-02: from: Same lets no consumer route bind', () => {
    const mesh = RoutingMesh.echo();
    mesh.table.setAllowedRoutes('default', { namespaces: { from: 'Same' } });
    const spec = { parentRefs: [{ ...ECHO, namespace: 'mesh' }], rules: [to('echo-v1', { namespace: 'mesh' })] };
    const id = mesh.route('HTTPRoute', 'route', spec, { namespace: 'consumer' });
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NotAllowedByMesh');
    expect(mesh.answer({ from: 'consumer' })).toBe('implicit echo');
  });

  it('T002-01, T002-05, T002-06, T002-30, T002-31, T002-32: producer routes are for all, consumer routes for their own namespace', () => {
    const mesh = RoutingMesh.echo();
    const consumer = { parentRefs: [{ ...ECHO, namespace: 'mesh' }], rules: [to('echo-v2', { namespace: 'mesh' })] };
    mesh.route('HTTPRoute', 'consumer', consumer, { namespace: 'a' });
    expect(['a', 'b', 'mesh'].map((from) => mesh.answer({ from }))).toEqual([
      'echo-v2',
      'implicit echo',
      'implicit echo',
    ]);
    bind(mesh);
    expect(['a', 'b', 'mesh'].map((from) => mesh.answer({ from }))).toEqual(['echo-v2', 'echo-v1', 'echo-v1']);
  });

  it.each([
    { kind: 'Service' },
    { group: '', kind: 'Service' },
    { group: 'core', kind: 'Service' },
    { group: 'gateway.networking.k8s.io', kind: 'Service' },
    { kind: 'MeshService' },
    { group: '', kind: 'MeshService' },
    { group: 'kuma.io', kind: 'MeshService' },
    { group: 'kuma.io/v1alpha1', kind: 'MeshService' },
  ])('T002-09, T002-19: %o is a parent', (ref) => {
    const mesh = RoutingMesh.echo();
    expect(mesh.conditions(bind(mesh, { parentRefs: [{ ...ref, name: 'echo' }] }))).toEqual([BOUND]);
    expect(mesh.answer()).toBe('echo-v1');
  });

  it.each([
    { group: 'multicluster.x-k8s.io', kind: 'ServiceImport' },
    { group: 'networking.k8s.io', kind: 'IPAddress' },
    { group: 'kuma.io', kind: 'MeshExternalService' },
    { group: 'kuma.io', kind: 'Service' },
    { group: 'apps', kind: 'MeshService' },
  ])(
    'T002-16, T002-20, T002-21: %o is no parent and has no status entry; as a backend it is of an invalid kind',
    (ref) => {
      const mesh = RoutingMesh.echo();
      const id = bind(mesh, {
        parentRefs: [
          { ...ref, name: 'echo' },
          { ...ECHO, port: 80 },
        ],
        rules: [to('echo-v1', ref)],
      });
      expect(mesh.conditions(id)).toEqual([['Accepted=True/Accepted', 'ResolvedRefs=False/InvalidKind']]);
      expect(mesh.answer()).toBe('500');
      expect(mesh.answer({ port: 8080 })).toBe('implicit echo');
    },
  );

  it('T002-14: a headless service is no parent', () => {
    const mesh = RoutingMesh.echo();
    mesh.service('echo', { headless: true });
    const id = bind(mesh);
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NoMatchingParent');
    expect(mesh.messages(id)).toContain('headless');
    expect(mesh.answer()).toBe('implicit echo');
  });

  it('T002-22: sectionName is the name of a port, or its number; with a port both must match', () => {
    const mesh = RoutingMesh.echo();
    const id = (ref: object) => bind(mesh, { parentRefs: [{ ...ECHO, ...ref }] });
    expect(mesh.conditions(id({ port: 80, sectionName: 'grpc' }))[0]?.[0]).toBe('Accepted=False/NoMatchingParent');
    id({ sectionName: 'http' });
    expect([80, 8080].map((port) => mesh.answer({ port }))).toEqual(['echo-v1', 'implicit echo']);
    mesh.service('echo', { ports: [{ port: 80 }, { port: 81 }] });
    id({ sectionName: '81' });
    expect([80, 81].map((port) => mesh.answer({ port }))).toEqual(['implicit echo', '500']);
  });

  it('T002-28: without port a route holds at all ports, one that is added later too', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, { rules: [to('echo-v1', { port: 80 })] });
    mesh.service('echo', { ports: [{ port: 80 }, { port: 9999 }] });
    expect([80, 9999].map((port) => mesh.answer({ port }))).toEqual(['echo-v1', 'echo-v1']);
  });

  it('T002-46: a missing parent is named, and the route is bound when it appears', () => {
    const mesh = new RoutingMesh();
    const id = bind(mesh);
    expect(mesh.conditions(id)).toEqual([['Accepted=False/NoMatchingParent', 'ResolvedRefs=False/BackendNotFound']]);
    expect(mesh.messages(id)).toContain('MeshService mesh/echo');
    mesh.service('echo-v1');
    mesh.service('echo');
    expect(mesh.conditions(id)).toEqual([BOUND]);
  });

  it('T002-47: several parents are judged one by one, each in its group', () => {
    const mesh = RoutingMesh.echo();
    mesh.service('other', { namespace: 'b' });
    const parentRefs = [ECHO, { ...ECHO, name: 'other', namespace: 'b' }, { ...ECHO, name: 'gone' }];
    const id = bind(mesh, { parentRefs });
    expect(mesh.conditions(id).map(([accepted]) => accepted)).toEqual([
      'Accepted=True/Accepted',
      'Accepted=True/Accepted',
      'Accepted=False/NoMatchingParent',
    ]);
    expect(mesh.answer({ to: 'other', namespace: 'b', from: 'mesh' })).toBe('echo-v1');
    expect(mesh.answer({ to: 'other', namespace: 'b', from: 'b' })).toBe('implicit other');
  });
});

describe('which routes decide', () => {
  it('T002-03, T002-10: without a route the implicit one holds', () => {
    const mesh = RoutingMesh.echo();
    expect(mesh.answer()).toBe('implicit echo');
    const id = bind(mesh);
    expect(mesh.answer()).toBe('echo-v1');
    mesh.table.removeRoute(id);
    expect(mesh.answer()).toBe('implicit echo');
  });

  it('T002-11: a request that no rule matches goes nowhere: 404, a gRPC call UNIMPLEMENTED', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, { rules: [{ ...exact('/v1'), ...to('echo-v1') }] });
    expect(mesh.answer({ url: '/v3' })).toBe('404');
    expect(mesh.answer({ ...GRPC, port: 80 })).toBe('grpc 12');
  });

  it('T002-23, T002-24, T002-25: one kind a port, GRPC before HTTP before TLS before TCP, whatever their age', () => {
    const mesh = RoutingMesh.echo();
    const kinds: RouteKind[] = ['TCPRoute', 'TLSRoute', 'HTTPRoute', 'GRPCRoute'];
    const ids = kinds.map((kind) => bind(mesh, { parentRefs: [{ ...ECHO, port: 80 }] }, kind));
    const accepted = () => ids.map((id) => mesh.conditions(id)[0]?.[0]);
    const lost = 'Accepted=False/Conflicted';
    expect(accepted()).toEqual([lost, lost, lost, 'Accepted=True/Accepted']);
    const [, , http, grpc] = ids;
    expect(http && mesh.messages(http)).toContain('RouteReasonConflicted: port 80 is taken by a GRPCRoute');
    expect(grpc && mesh.table.removeRoute(grpc).routes).toContain('HTTPRoute/default//mesh/httproute-route');
    expect(accepted().slice(0, 3)).toEqual([lost, lost, 'Accepted=True/Accepted']);
    if (http) mesh.table.removeRoute(http);
    expect(accepted().slice(0, 2)).toEqual([lost, 'Accepted=True/Accepted']);
    expect(mesh.answer({ protocol: 'tls' })).toBe('echo-v1');
  });

  it('T002-26: UDPRoute competes with none', () => {
    const mesh = RoutingMesh.echo();
    const ids = [bind(mesh, {}, 'TCPRoute'), bind(mesh, { rules: [to('echo-v2')] }, 'UDPRoute')];
    expect(ids.map((id) => mesh.conditions(id))).toEqual([[BOUND], [BOUND]]);
    expect([mesh.answer({ protocol: 'tcp' }), mesh.answer({ protocol: 'udp' })]).toEqual(['echo-v1', 'echo-v2']);
  });

  it('T002-27: TCPRoutes of one port are all accepted, the oldest carries the traffic and the others say so', () => {
    const mesh = RoutingMesh.echo();
    const spec = (name: string) => ({ parentRefs: [ECHO], rules: [to(name)] });
    const younger = mesh.route('TCPRoute', 'a', spec('echo-v1'), { order: 20 });
    mesh.route('TCPRoute', 'b', spec('echo-v2'), { order: 10 });
    mesh.route('TCPRoute', 'c', spec('echo'), { order: 0 });
    expect(mesh.answer({ protocol: 'tcp' })).toBe('echo-v2');
    expect(mesh.conditions(younger)).toEqual([BOUND]);
    expect(mesh.messages(younger)).toContain('an older route of this kind carries the traffic');
  });

  it('T002-27: equal matches go to the older route, at the same instant to the first by name', () => {
    const mesh = RoutingMesh.echo();
    const spec = (name: string) => ({ parentRefs: [ECHO], rules: [to(name)] });
    mesh.route('HTTPRoute', 'b', spec('echo-v1'), { order: 5 });
    mesh.route('HTTPRoute', 'a', spec('echo-v2'), { order: 6 });
    expect(mesh.answer()).toBe('echo-v1');
    mesh.route('HTTPRoute', 'a', spec('echo-v2'), { order: 5 });
    expect(mesh.answer()).toBe('echo-v2');
  });

  it('T002-29: a route that loses some of its ports is accepted and says which', () => {
    const mesh = RoutingMesh.echo();
    const http = bind(mesh);
    bind(mesh, { parentRefs: [{ ...ECHO, port: 7070 }] }, 'GRPCRoute');
    expect(mesh.conditions(http)).toEqual([[...BOUND, 'causeway.io/PortConflicted=True/Conflicted']]);
    expect(mesh.messages(http)).toContain('port 7070 is taken by a GRPCRoute');
    expect([80, 8080, 443, 9090].map((port) => mesh.answer({ port }))).toEqual(Array(4).fill('echo-v1'));
    expect(mesh.answer({ port: 7070, url: '/' })).toBe('404');
  });

  it('T002-39, T002-45: routes of a backend are not followed, so a cycle of backends ends', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, { rules: [to('echo-v1')] });
    mesh.route('HTTPRoute', 'back', { parentRefs: [{ ...ECHO, name: 'echo-v1' }], rules: [to('echo')] });
    expect([mesh.answer(), mesh.answer({ to: 'echo-v1' })]).toEqual(['echo-v1', 'echo']);
  });

  it('T002-40: one group decides, without fall-through to another', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh);
    const rules = [{ ...exact('/only'), ...to('echo-v2', { namespace: 'mesh' }) }];
    const consumer = { parentRefs: [{ ...ECHO, namespace: 'mesh', port: 80 }], rules };
    mesh.route('HTTPRoute', 'consumer', consumer, { namespace: 'a' });
    expect(mesh.answer({ from: 'a', url: '/only' })).toBe('echo-v2');
    expect(mesh.answer({ from: 'a', url: '/other' })).toBe('404');
    expect(mesh.answer({ from: 'a', url: '/other', port: 8080 })).toBe('echo-v1');
  });

  it('T002-41: kinds compete within a group only', () => {
    const mesh = RoutingMesh.echo();
    const producer = bind(mesh);
    const consumer = { parentRefs: [{ ...ECHO, namespace: 'mesh' }], rules: [to('echo-v2', { namespace: 'mesh' })] };
    const other = mesh.route('GRPCRoute', 'consumer', consumer, { namespace: 'a' });
    expect([mesh.conditions(producer), mesh.conditions(other)]).toEqual([[BOUND], [BOUND]]);
    expect(mesh.answer()).toBe('echo-v1');
    expect(mesh.answer({ ...GRPC, from: 'a' })).toBe('echo-v2');
  });

  it('T002-42: routes that are not accepted make no group', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh);
    const consumer = { parentRefs: [{ ...ECHO, namespace: 'mesh', port: 81 }], rules: [to('echo-v2')] };
    mesh.route('HTTPRoute', 'consumer', consumer, { namespace: 'a' });
    expect(mesh.answer({ from: 'a' })).toBe('echo-v1');
  });

  it('T002-07: the address that was dialled decides, not the name that the request has', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh);
    const hosts = ['241.0.0.1', '241.0.0.1:80', 'echo.mesh.svc.mesh.local', 'echo-v2.mesh.svc.mesh.local'];
    expect(hosts.map((host) => mesh.answer({ host }))).toEqual(hosts.map(() => 'echo-v1'));
    expect(mesh.answer({ to: 'echo-v2', host: 'echo.mesh.svc.mesh.local' })).toBe('implicit echo-v2');
  });

  it('T002-12: a parent that waits for its address is bound; only one that will never have one is none', () => {
    const mesh = new RoutingMesh();
    const id = bind(mesh);
    mesh.service('echo-v1');
    mesh.service('echo', { headless: true });
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NoMatchingParent');
    // A service has no address here: routes are bound by identity to services that have or await an address.
    mesh.service('echo');
    expect(mesh.conditions(id)).toEqual([BOUND]);
    expect(mesh.answer()).toBe('echo-v1');
  });

  it('T002-33: hostnames mean nothing in the mesh, and the explanation says so', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, { hostnames: ['other.example'] });
    expect(mesh.answer({ host: 'echo' })).toBe('echo-v1');
    expect(mesh.explain().notes).toEqual([
      'hostnames of HTTPRoute mesh/httproute-route have no effect here: its parent is a service',
    ]);
  });

  it('T002-34: a Host header match instead', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, { rules: [{ matches: [{ headers: [{ name: 'Host', value: 'a.example' }] }], ...to('echo-v2') }] });
    expect([mesh.answer({ host: 'a.example' }), mesh.answer({ host: 'b.example' })]).toEqual(['echo-v2', '404']);
  });
});

describe('where a rule sends to', () => {
  it('T002-08: the 90/10 of the seed', () => {
    const mesh = RoutingMesh.echo();
    bind(mesh, {
      rules: [
        {
          backendRefs: [
            { name: 'echo', weight: 90 },
            { name: 'echo-v2', weight: 10 },
          ],
        },
      ],
    });
    expect(mesh.answer()).toBe('echo 0.9, echo-v2 0.1');
  });

  it('T002-13, T002-17, T002-18: 404 without a match, 500 for an invalid backend, 503 without ready endpoints', () => {
    const mesh = RoutingMesh.echo();
    const rules = [
      { ...exact('/none'), ...to('echo-v2') },
      { ...exact('/invalid'), ...to('nowhere') },
      {
        ...exact('/split'),
        backendRefs: ['echo-v1', 'nowhere', 'echo-v2'].map((name, i) => ({ name, weight: [50, 30, 20][i] ?? 0 })),
      },
    ];
    const id = bind(mesh, { rules });
    mesh.notReady.add('mesh/echo-v2');
    expect(['/x', '/invalid', '/none', '/split'].map((url) => mesh.answer({ url }))).toEqual([
      '404',
      '500',
      '503',
      'echo-v1 0.5, 500 0.3, 503 0.2',
    ]);
    expect(mesh.conditions(id)[0]?.[1]).toBe('ResolvedRefs=False/BackendNotFound');
  });

  it('T002-17: a backend without ready endpoints resolves', () => {
    const mesh = RoutingMesh.echo();
    mesh.notReady.add('mesh/echo-v1');
    expect(mesh.conditions(bind(mesh))).toEqual([BOUND]);
    expect(mesh.answer()).toBe('503');
  });

  it('T002-35: a backend of another namespace needs no grant in the mesh', () => {
    const mesh = RoutingMesh.echo();
    mesh.service('far', { namespace: 'b' });
    expect(mesh.conditions(bind(mesh, { rules: [to('far', { namespace: 'b' })] }))).toEqual([BOUND]);
    expect(mesh.answer()).toBe('far');
  });

  it('T002-36: bound to a Gateway it needs one; it is accepted by listeners that allow it', () => {
    const mesh = RoutingMesh.echo();
    mesh.service('far', { namespace: 'b' });
    const gateway = (allowedRoutes: object) =>
      mesh.table.putGateway({
        id: { kind: 'Gateway', mesh: 'default', zone: '', namespace: 'infra', name: 'edge' },
        listeners: [{ name: 'web', port: 80, protocol: 'HTTP', hostname: '*.example', ...allowedRoutes }],
      });
    const parentRefs = [{ name: 'edge', namespace: 'infra' }];
    const id = bind(mesh, { parentRefs, rules: [to('far', { namespace: 'b', port: 80 })] });
    gateway({});
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/NotAllowedByListeners');
    gateway({ allowedRoutes: { namespaces: { from: 'All' } } });
    expect(mesh.conditions(id)).toEqual([['Accepted=True/Accepted', 'ResolvedRefs=False/RefNotPermitted']]);
    const grant = { kind: 'ReferenceGrant', mesh: 'default', zone: '', namespace: 'b', name: 'grant' };
    const from = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'mesh' }];
    const affected = mesh.table.setGrant(grant, { id: grant, from, to: [{ group: '', kind: 'Service' }] });
    expect(affected.routes).toEqual(['HTTPRoute/default//mesh/httproute-route']);
    expect(mesh.conditions(id)).toEqual([BOUND]);
    expect(bind(mesh, { parentRefs, hostnames: ['a.other'] }) && mesh.conditions(id)[0]?.[0]).toBe(
      'Accepted=False/NoMatchingListenerHostname',
    );
  });

  it('T002-43: a rule without backendRefs answers 500, with weights of 0 alone too', () => {
    const mesh = RoutingMesh.echo();
    const rules: RouteRule[] = [exact('/omitted'), { ...exact('/empty'), backendRefs: [] }];
    bind(mesh, { rules: [...rules, { ...exact('/zero'), ...to('echo-v1', { weight: 0 }) }] });
    expect(['/omitted', '/empty', '/zero'].map((url) => mesh.answer({ url }))).toEqual(['500', '500', '500']);
  });

  it("T002-44: without a port: the request's, else the backend's only one, else BackendNotFound", () => {
    const mesh = RoutingMesh.echo();
    mesh.service('one', { ports: [{ port: 9000 }] });
    mesh.service('two', { ports: [{ port: 9000 }, { port: 9001 }] });
    const destinationOf = (name: string) => {
      const id = bind(mesh, { parentRefs: [{ ...ECHO, port: 80 }], rules: [to(name)] });
      const { outcome } = mesh.decide();
      const result = 'shares' in outcome ? outcome.shares[0]?.result : undefined;
      return [result?.type === 'forwarded' ? result.destination.port : undefined, mesh.conditions(id)[0]?.[1]];
    };
    expect(['echo-v1', 'one', 'two'].map(destinationOf)).toEqual([
      [80, 'ResolvedRefs=True/ResolvedRefs'],
      [9000, 'ResolvedRefs=True/ResolvedRefs'],
      [undefined, 'ResolvedRefs=False/BackendNotFound'],
    ]);
    expect(mesh.answer()).toBe('500');
  });

  it('names are resolved in the zone: a local service shadows synced ones, without it all synced ones are one destination', () => {
    const mesh = new RoutingMesh({ zone: 'east' });
    mesh.service('echo', { zone: 'east' });
    const synced = ['west', 'north'].map((zone) => mesh.service('redis', { zone, displayName: 'redis' }));
    mesh.route('HTTPRoute', 'route', { parentRefs: [ECHO], rules: [to('redis')] });
    const frontend = mesh.table.listFrontends('MeshService/default/mesh/echo')[0];
    const binding = frontend && mesh.table.bindingFor({ namespace: 'mesh' }, frontend, 80, 'tcp');
    const zones = () => {
      const route = binding?.routes[0];
      const resolved = route && mesh.table.backend(route, { name: 'redis' }, 80, 'producer');
      return resolved?.ok ? resolved.destination.services.map(({ zone }) => zone) : [];
    };
    expect(zones()).toEqual(['north', 'west']);
    const affected = mesh.table.putService({ ...mesh.service('redis', { zone: 'east' }) });
    expect(affected.groups).toContainEqual({ frontend: frontend?.key, group: 'producer' });
    expect(zones()).toEqual(['east']);
    for (const { id } of synced) mesh.table.removeTarget(id);
    expect(zones()).toEqual(['east']);
  });
});

describe('what cannot be obeyed', () => {
  it('drops a rule with a value that nothing here knows, and says which', () => {
    const mesh = RoutingMesh.echo();
    const odd = { matches: [{ path: { type: 'Glob', value: '/*' } }], ...to('echo-v1') };
    const id = bind(mesh, { rules: [odd, { ...exact('/v2'), ...to('echo-v2') }] });
    expect(mesh.conditions(id)).toEqual([[...BOUND, 'PartiallyInvalid=True/UnsupportedValue']]);
    expect(mesh.messages(id)).toContain('Dropped Rule rule-1: spec.rules[0].matches[0].path.type must be one of');
    expect(['/v2', '/'].map((url) => mesh.answer({ url }))).toEqual(['echo-v2', '404']);
    bind(mesh, { rules: [odd] });
    expect(mesh.conditions(id)[0]?.[0]).toBe('Accepted=False/UnsupportedValue');
    expect(mesh.answer()).toBe('implicit echo');
  });

  it('drops a rule whose filters exclude each other', () => {
    const mesh = RoutingMesh.echo();
    const filters = [
      { type: 'RequestRedirect', requestRedirect: {} },
      { type: 'URLRewrite', urlRewrite: { hostname: 'a' } },
    ];
    expect(mesh.conditions(bind(mesh, { rules: [{ filters }] }))[0]?.[0]).toBe('Accepted=False/IncompatibleFilters');
  });

  it('answers 500 where a filter is an unknown extension', () => {
    const mesh = RoutingMesh.echo();
    const filters = [{ type: 'ExtensionRef', extensionRef: { group: 'a.b', kind: 'C', name: 'd' } }];
    bind(mesh, { rules: [{ filters, ...to('echo-v1') }] });
    expect(mesh.answer()).toBe('500');
  });
});

it('explains why every other rule lost', () => {
  const mesh = RoutingMesh.echo();
  const prefix = (value: string) => ({ path: { type: 'PathPrefix', value } });
  const parentRefs = [ECHO];
  mesh.route('HTTPRoute', 'a', {
    parentRefs,
    rules: [
      { name: 'all', matches: [prefix('/')], ...to('echo-v1') },
      { name: 'posts', matches: [{ ...prefix('/a'), method: 'POST' }], ...to('echo-v1') },
      { name: 'second', matches: [prefix('/a/b')], ...to('echo-v1') },
      { name: 'third', matches: [prefix('/a/b')], ...to('echo-v1') },
    ],
  });
  mesh.route('HTTPRoute', 'b', {
    parentRefs,
    rules: [{ name: 'younger', matches: [prefix('/a/b/')], ...to('echo-v2') }],
  });
  const { entry, lost, lostTotal, steps } = mesh.explain({ url: '/a/b' });
  expect(entry?.rule.name).toBe('second');
  expect(lost.map(({ rule, reason }) => `${rule}: ${reason}`)).toEqual([
    'third: matches, but second stands before it in the list',
    'younger: matches as well, but HTTPRoute mesh/a is older',
    'posts: does not match: needs method POST',
    'all: matches, but HTTPRoute mesh/a second has a longer prefix',
  ]);
  expect(lostTotal).toBe(4);
  expect(steps).toEqual([
    'from namespace mesh to port 80 of MeshService mesh/echo',
    'group producer decides, with 2 HTTPRoutes',
  ]);
});

it('names lost ports in their order, whichever route came first', () => {
  const said = [true, false].map((httpFirst) => {
    const mesh = new RoutingMesh();
    mesh.service('echo', { ports: [{ port: 80 }, { port: 81 }] });
    const bindHttp = () => bind(mesh, { parentRefs: [{ ...ECHO, port: 81 }, ECHO] });
    if (httpFirst) bindHttp();
    bind(mesh, {}, 'GRPCRoute');
    return mesh.messages(httpFirst ? HTTP_ID : bindHttp());
  });
  expect(said[0]).toContain('port 81 is taken by a GRPCRoute');
  expect(said[0]).toBe(said[1]);
});
