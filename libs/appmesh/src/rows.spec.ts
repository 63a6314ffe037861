import { Label, type JsonObject } from '@causeway/resources';
import { AppMesh } from '../../../test/support/app-mesh';

const http = (port = 9080): JsonObject => ({ portMapping: { port, protocol: 'http' } });
const app = (value: string): JsonObject => ({ podSelector: { matchLabels: { app: value } } });
const target = (name: string, weight = 1): JsonObject => ({ virtualNodeRef: { name }, weight });
const route = (match: JsonObject, targets: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  name: 'main',
  http: { match, action: { weightedTargets: targets }, ...more },
});
const byRouter = (name: string): JsonObject => ({ provider: { virtualRouter: { virtualRouterRef: { name } } } });
const byNode = (name: string): JsonObject => ({ provider: { virtualNode: { virtualNodeRef: { name } } } });

describe('membership of Dataplanes (the cases of the upstream controller)', () => {
  const labels = { 'aws/sudo': 'on', app: 'my-app' };
  const cases: readonly {
    readonly text: string;
    readonly nodes: Readonly<Record<string, JsonObject>>;
    readonly expected: string | readonly string[] | undefined;
  }[] = [
    { text: 'T003-32 no node: plain', nodes: {}, expected: undefined },
    { text: 'T003-31 a node without a selector selects none', nodes: { 'a/v1': {} }, expected: undefined },
    { text: 'T003-31 an empty selector selects all', nodes: { 'a/v1': { podSelector: {} } }, expected: 'a/v1' },
    { text: 'T003-32 one that selects it', nodes: { 'a/v1': app('my-app'), 'a/v2': app('other') }, expected: 'a/v1' },
    { text: 'T003-30 in another namespace', nodes: { 'b/v1': app('my-app') }, expected: undefined },
    {
      text: 'T003-30 all pairs must be there',
      nodes: { 'a/v1': { podSelector: { matchLabels: { app: 'my-app', tier: 'web' } } } },
      expected: undefined,
    },
    {
      text: 'T003-32 several that select it',
      nodes: { 'a/v2': app('my-app'), 'a/v1': { podSelector: { matchLabels: { 'aws/sudo': 'on' } } } },
      expected: ['a/v1', 'a/v2'],
    },
    {
      text: 'T003-22 by expressions',
      nodes: {
        'a/v1': { podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['my-app'] }] } },
        'a/v2': { podSelector: { matchExpressions: [{ key: 'app', operator: 'DoesNotExist' }] } },
      },
      expected: 'a/v1',
    },
    {
      text: 'T003-30 by the label that says its namespace',
      nodes: { 'a/v1': { podSelector: { matchLabels: { [Label.namespace]: 'a' } } } },
      expected: 'a/v1',
    },
  ];
  it.each(cases)('$text', ({ nodes, expected }) => {
    const mesh = new AppMesh();
    for (const [name, spec] of Object.entries(nodes)) mesh.put('VirtualNode', name, spec);
    const { nodes: found, refusal } = mesh.selecting('a/pod', labels);
    expect(found).toEqual(expected === undefined ? [] : typeof expected === 'string' ? [expected] : expected);
    expect(refusal).toBe(
      typeof expected === 'object'
        ? `found multiple matching VirtualNodes for Dataplane a/pod: ${expected.join(',')}`
        : undefined,
    );
  });

  it('T003-34 labels and annotations of the older API bind no Dataplane', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'a/v1', app('my-app'));
    const older = { 'appmesh.k8s.aws/mesh': 'default', 'appmesh.k8s.aws/virtualNode': 'v1' };
    expect(mesh.selecting('a/pod', older).nodes).toEqual([]);
    expect(mesh.selecting('a/pod', { ...older, app: 'my-app' }).nodes).toEqual(['a/v1']);
  });

  it('T003-33 an overlap that arises later leaves the Dataplane where it is, and both nodes say so', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'a/v1', app('my-app')).put('VirtualNode', 'a/v2', app('other'));
    mesh.member('a/pod', labels, { boundTo: 'a/v1' });
    expect(mesh.nodeOf('a/pod')).toBe('a/v1');
    mesh.put('VirtualNode', 'a/v2', { podSelector: {} });
    expect(mesh.nodeOf('a/pod')).toBe('a/v1');
    for (const node of ['a/v1', 'a/v2']) {
      expect(mesh.condition('VirtualNode', node, 'causeway.io/MembershipConflict')).toMatchObject({
        status: 'True',
        message: 'other VirtualNodes select these Dataplanes too: pod',
      });
    }
    mesh.remove('VirtualNode', 'a/v2');
    expect(mesh.condition('VirtualNode', 'a/v1', 'causeway.io/MembershipConflict')).toBeUndefined();
  });

  it('T003-33 a Dataplane stays with a younger node that it was bound to before the older began to select it', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'a/v1', app('other')).put('VirtualNode', 'a/v2', app('my-app'));
    mesh.member('a/pod', labels, { boundTo: 'a/v2' }).put('VirtualNode', 'a/v1', { podSelector: {} });
    expect(mesh.nodeOf('a/pod')).toBe('a/v2');
  });

  it('T003-35 a bound Dataplane may call the backends of its node only; a plain one everything', () => {
    const mesh = new AppMesh();
    const backends = [
      { virtualService: { virtualServiceRef: { name: 's' } } },
      { virtualService: { virtualServiceRef: { name: 't', namespace: 'b' } } },
    ];
    mesh.put('VirtualNode', 'a/v1', { ...app('my-app'), backends });
    expect(mesh.member('a/pod', labels).reachable('a/pod')).toEqual([
      { namespace: 'a', name: 'vs-s' },
      { namespace: 'b', name: 'vs-t' },
    ]);
    expect(mesh.member('a/plain', {}).reachable('a/plain')).toBeUndefined();
  });
});

describe('names at App Mesh', () => {
  it('T003-05 T003-06 T003-07 derived', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualService', 'my-app-ns/svc-a', {}).put('VirtualNode', 'my-app-ns/node-v1', {});
    mesh.put('VirtualRouter', 'my-app-ns/svc-a', { listeners: [http()] });
    expect(mesh.compiled('VirtualService', 'my-app-ns/svc-a').awsName).toBe('svc-a.my-app-ns');
    expect(mesh.compiled('VirtualNode', 'my-app-ns/node-v1').awsName).toBe('node-v1_my-app-ns');
    expect(mesh.compiled('VirtualRouter', 'my-app-ns/svc-a').awsName).toBe('svc-a_my-app-ns');
  });

  it('T003-08 the older keeps the name, the other says who has it and is not compiled; it gets the name when the holder goes', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'b/n', { listeners: [http()] });
    mesh.put('VirtualService', 'b/a', byNode('n')).put('VirtualService', 'z/other', { awsName: 'a.b' });
    expect(mesh.condition('VirtualService', 'z/other', 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'AwsNameConflict',
      message: 'awsName "a.b" is held by VirtualService b/a',
    });
    expect(mesh.compiled('VirtualService', 'z/other').service).toBeUndefined();
    mesh.remove('VirtualService', 'b/a');
    expect(mesh.condition('VirtualService', 'z/other', 'Accepted')).toMatchObject({ status: 'True' });
    mesh.table.setSuffixes('m', new Set(['a.b']));
    expect(mesh.compiled('VirtualService', 'z/other').service?.labels).toMatchObject({
      'appmesh.k8s.aws/aws-name': 'a.b',
      'causeway.io/managed-by': 'VirtualService',
    });
  });

  it('T003-08 what the global made keeps the name against what a zone made before; zones do not meet', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualService', 'a/s', { awsName: 'n' }, { zone: 'east' });
    mesh.put('VirtualService', 'a/t', { awsName: 'n' }, { zone: 'west' });
    const accepted = (name: string, zone: string) =>
      mesh.condition('VirtualService', name, 'Accepted', { zone })?.status;
    expect([accepted('a/s', 'east'), accepted('a/t', 'west')]).toEqual(['True', 'True']);
    mesh.put('VirtualService', 'a/u', { awsName: 'n' });
    expect([accepted('a/s', 'east'), accepted('a/t', 'west'), accepted('a/u', '')]).toEqual(['False', 'False', 'True']);
    expect(mesh.condition('VirtualService', 'a/s', 'Accepted', { zone: 'east' })?.message).toBe(
      'awsName "n" is held by VirtualService a/u of the global',
    );
  });

  it('names of one mesh and kind only meet', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'a/n', { awsName: 'x' }).put('VirtualRouter', 'a/n', { awsName: 'x', listeners: [http()] });
    mesh.put('VirtualNode', 'b/n', { awsName: 'x' }, { mesh: 'other' });
    for (const [kind, name, at] of [
      ['VirtualRouter', 'a/n', 'm'],
      ['VirtualNode', 'b/n', 'other'],
    ] as const)
      expect(mesh.condition(kind, name, 'Accepted', { mesh: at })).toMatchObject({ status: 'True' });
  });
});

describe('references', () => {
  it('T003-10 T003-11 T003-36 an omitted or empty namespace is the own one; a dot is part of the name', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'b/n', { listeners: [http()] });
    const ref = (name: string, namespace?: string): JsonObject => ({
      provider: { virtualNode: { virtualNodeRef: { name, ...(namespace === undefined ? {} : { namespace }) } } },
    });
    const resolved = (spec: JsonObject): string | undefined =>
      mesh.put('VirtualService', 'b/s', spec).condition('VirtualService', 'b/s', 'ResolvedRefs')?.message;
    expect(resolved(ref('n'))).toBe('all references resolve');
    expect(resolved(ref('n', ''))).toBe('all references resolve');
    expect(resolved(ref('n', 'a'))).toBe('there is no VirtualNode a/n');
    expect(resolved(ref('n.b'))).toBe('there is no VirtualNode b/n.b');
    mesh.put('VirtualService', 'a/s', ref('n', 'b'));
    expect(mesh.condition('VirtualService', 'a/s', 'ResolvedRefs')?.status).toBe('True');
  });

  it('T003-12 what refers to another mesh is not compiled', () => {
    const mesh = new AppMesh();
    mesh
      .put('VirtualNode', 'a/b', { listeners: [http()] }, { mesh: 'other' })
      .put('VirtualService', 'a/s', byNode('b'));
    expect(mesh.condition('VirtualService', 'a/s', 'Accepted')).toMatchObject({
      status: 'False',
      reason: 'ReferenceNotInMesh',
      message: "virtualNode a/b didn't belong to mesh m",
    });
    expect(mesh.compiled('VirtualService', 'a/s')).toMatchObject({ rules: [] });
    expect(mesh.compiled('VirtualService', 'a/s').service).toBeUndefined();
  });

  it('T003-13 a target that is not there keeps its share, and resolves when it is made', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualRouter', 'a/r', { listeners: [http()], routes: [route({ prefix: '/' }, [target('n')])] });
    mesh.put('VirtualService', 'a/s', byRouter('r'));
    expect(mesh.condition('VirtualRouter', 'a/r', 'ResolvedRefs')).toMatchObject({
      status: 'False',
      reason: 'BackendNotFound',
    });
    expect(mesh.rules('a/s', 'HTTPRoute')[0]?.spec).toMatchObject({
      rules: [{ backendRefs: [{ name: 'vn-n', weight: 1 }] }],
    });
    mesh.put('VirtualNode', 'a/n', { listeners: [http()] });
    expect(mesh.condition('VirtualRouter', 'a/r', 'ResolvedRefs')?.status).toBe('True');
  });

  it('T003-15 a service without provider is accepted, and nothing is said of its ports and routes', () => {
    const mesh = new AppMesh().put('VirtualService', 'a/s', {});
    expect(mesh.condition('VirtualService', 'a/s', 'Accepted')?.status).toBe('True');
    expect(mesh.compiled('VirtualService', 'a/s')).toMatchObject({
      rules: [],
      service: { spec: { export: { mode: 'None' } } },
    });
    expect(mesh.compiled('VirtualService', 'a/s').service?.spec).not.toHaveProperty('ports');
  });
});

describe('what is generated', () => {
  it('T003-37 a node: a MeshService with its ports, which serves the Dataplanes that it selects', () => {
    const mesh = new AppMesh();
    mesh.put('VirtualNode', 'a/n', {
      ...app('x'),
      listeners: [http(), { portMapping: { port: 5432, protocol: 'tcp' } }],
    });
    expect(mesh.compiled('VirtualNode', 'a/n').service).toEqual({
      id: { kind: 'MeshService', mesh: 'm', zone: '', namespace: 'a', name: 'vn-n' },
      labels: { 'causeway.io/managed-by': 'VirtualNode', 'causeway.io/managed-by-name': 'n' },
      spec: {
        selector: { dataplaneLabels: { matchLabels: { app: 'x' } } },
        ports: [
          { name: '9080', port: 9080, targetPort: 9080, appProtocol: 'http' },
          { name: '5432', port: 5432, targetPort: 5432, appProtocol: 'tcp' },
        ],
      },
    });
  });

  it('T003-17 a service of a node sends all to it, by a route of what its listener speaks', () => {
    const mesh = new AppMesh();
    const listeners = (['http', 'http2', 'grpc', 'tcp'] as const).map((protocol, i) => ({
      portMapping: { port: 80 + i, protocol },
    }));
    mesh.put('VirtualNode', 'a/n', { listeners }).put('VirtualService', 'a/s', byNode('n'));
    const { rules, service } = mesh.compiled('VirtualService', 'a/s');
    expect(rules.map(({ id }) => `${id.kind} ${id.name}`)).toEqual([
      'HTTPRoute vs-s-80',
      'HTTPRoute vs-s-81',
      'GRPCRoute vs-s-82',
      'TCPRoute vs-s-83',
    ]);
    expect(rules[3]?.spec).toEqual({
      parentRefs: [{ group: 'kuma.io', kind: 'MeshService', name: 'vs-s', port: 83 }],
      rules: [
        {
          name: 'node',
          backendRefs: [{ group: 'kuma.io', kind: 'MeshService', namespace: 'a', name: 'vn-n', weight: 1, port: 83 }],
        },
      ],
    });
    expect(service?.spec).toMatchObject({ export: { mode: 'None' } });
  });

  it('T003-19 T003-20 a router: prefixes of whole elements, weights, headers, methods, time-outs', () => {
    const mesh = new AppMesh();
    const headers = [
      { name: 'h', match: { exact: 'v' } },
      { name: 'p', match: { prefix: 'a.b' } },
      { name: 's', match: { suffix: '+' } },
      { name: 'e' },
    ];
    const timeout = { perRequest: { unit: 's', value: 100_000 }, idle: { unit: 'ms', value: 1_500 } };
    const one = route({ prefix: '/auth', method: 'GET', headers }, [target('n', 1), target('o', 2)], { timeout });
    mesh
      .put('VirtualRouter', 'a/r', { listeners: [http()], routes: [one] })
      .put('VirtualService', 'a/s', byRouter('r'));
    expect(mesh.rules('a/s', 'HTTPRoute')[0]?.spec).toMatchObject({
      rules: [
        {
          matches: [
            {
              path: { type: 'PathPrefix', value: '/auth' },
              method: 'GET',
              headers: [
                { type: 'Exact', name: 'h', value: 'v' },
                { type: 'RegularExpression', name: 'p', value: 'a\\.b.*' },
                { type: 'RegularExpression', name: 's', value: '.*\\+' },
                { type: 'RegularExpression', name: 'e', value: '.*' },
              ],
            },
          ],
          timeouts: { request: '27h2800s' },
          backendRefs: [
            { name: 'vn-n', weight: 1 },
            { name: 'vn-o', weight: 2 },
          ],
        },
      ],
    });
    expect(mesh.rules('a/s', 'TimeoutPolicy')[0]?.spec).toEqual({
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'vs-s-9080', sectionName: 'main' }],
      idle: '1s500ms',
    });
  });

  it('retries and ejections become policies of the shipped kinds', () => {
    const mesh = new AppMesh();
    const retryPolicy = {
      maxRetries: 3,
      perRetryTimeout: { unit: 'ms', value: 200 },
      httpRetryEvents: ['gateway-error', 'client-error', 'stream-error'],
      tcpRetryEvents: ['connection-error'],
    };
    const one = route({ prefix: '/' }, [target('n')], { retryPolicy });
    mesh
      .put('VirtualRouter', 'a/r', { listeners: [http()], routes: [one] })
      .put('VirtualService', 'a/s', byRouter('r'));
    expect(mesh.rules('a/s', 'RetryPolicy')[0]?.spec).toMatchObject({
      attempts: 3,
      perTryTimeout: '200ms',
      on: ['refused-stream', 'connect-failure'],
      statuses: [409, 502, 503, 504],
    });
    const outlierDetection = {
      maxServerErrors: 5,
      maxEjectionPercent: 40,
      interval: { unit: 's', value: 30 },
      baseEjectionDuration: { unit: 's', value: 100 },
    };
    mesh.put('VirtualNode', 'a/n', { listeners: [{ ...http(), outlierDetection }] });
    expect(mesh.compiled('VirtualNode', 'a/n').rules[0]).toMatchObject({
      id: { kind: 'CircuitBreakerPolicy', name: 'vn-n-9080' },
      spec: {
        targetRefs: [{ kind: 'MeshService', name: 'vn-n', sectionName: '9080' }],
        ejection: { consecutiveErrors: 5, interval: '30s', time: '100s', maxPercent: 40 },
      },
    });
  });

  it.each([
    ['VirtualNode', { listeners: [{ ...http(), healthCheck: {} }] }, 'spec.listeners[0].healthCheck is not supported'],
    ['VirtualNode', { listeners: [{ ...http(), connectionPool: {} }] }, 'spec.listeners[0].connectionPool is not'],
    ['VirtualNode', { logging: {} }, 'spec.logging is not supported'],
    ['VirtualNode', { backendDefaults: { clientPolicy: { tls: {} } } }, 'spec.backendDefaults.clientPolicy.tls is not'],
    [
      'VirtualRouter',
      { routes: [route({ prefix: '/', scheme: 'https' }, [])] },
      'spec.routes[0].http.match.scheme is not',
    ],
    ['VirtualRouter', { routes: [{ name: 'x' }] }, 'spec.routes[0] must have one of http, http2, grpc, tcp'],
    ['VirtualRouter', { routes: [{ name: 'x', tcp: { timeout: { idle: {} } } }] }, 'spec.routes[0].tcp.timeout is not'],
  ] as const)('what is not exact is refused by name: %s %j', (kind, spec, message) => {
    const mesh = new AppMesh().put(kind, 'a/x', spec);
    expect(mesh.condition(kind, 'a/x', 'Accepted')).toMatchObject({ status: 'False', reason: 'UnsupportedValue' });
    expect(mesh.condition(kind, 'a/x', 'Accepted')?.message).toContain(message);
    expect(mesh.compiled(kind, 'a/x').service).toBeUndefined();
  });

  it.each([
    ['as close matches order them', '/a/b', '/a', 'True'],
    ['of two paths that are apart', '/a', '/b/c', 'True'],
    ['against close matches', '/a', '/a/b', 'False'],
  ])('priorities %s', (_, first, second, status) => {
    const routes = [
      { ...route({ prefix: first }, [target('n')]), name: 'one', priority: 1 },
      { ...route({ prefix: second }, [target('n')]), name: 'two', priority: 2 },
    ];
    const mesh = new AppMesh().put('VirtualRouter', 'a/r', { listeners: [http()], routes });
    expect(mesh.condition('VirtualRouter', 'a/r', 'Accepted')?.status).toBe(status);
  });
});
