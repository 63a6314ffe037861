import { FieldPath, type Kind } from '@causeway/resources';
import { VirtualNode } from '../virtual-node';
import { VirtualRouter } from '../virtual-router';
import { VirtualService } from '../virtual-service';

const SPEC = FieldPath.at('spec');
const id = (kind: string) => ({ kind, mesh: 'm', zone: '', namespace: 'my-app-ns', name: 'x' });

function violations(kind: Kind, spec: unknown): string[] {
  return kind.checkAt(id(kind.name), spec, SPEC).first.map(({ field, rule }) => `${field} ${rule}`);
}
const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const listener = (port = 80, more: object = {}) => ({ portMapping: { port, protocol: 'http' }, ...more });
const listeners = [listener()];
const target = (name: string, weight = 1) => ({ virtualNodeRef: { name }, weight });
const action = { weightedTargets: [target('v1')] };
const http = { match: { prefix: '/' }, action };
const router = (...routes: object[]) => ({ listeners, routes });
const matching = (match: object) => router({ name: 'a', httpRoute: { match, action } });
const backend = (virtualServiceRef: object, more: object = {}) => ({ virtualService: { virtualServiceRef, ...more } });
const second = (value: number) => ({ unit: 's', value });
const R0 = 'spec.routes[0]';
const MATCH = `${R0}.httpRoute.match`;

/** A node with every field of the public API that is held, and a router with every form of route. */
const NODE = {
  awsName: 'node-v1_my-app-ns',
  podSelector: { matchLabels: { app: 'a' } },
  listeners: [
    listener(80, {
      outlierDetection: {
        maxServerErrors: 5,
        maxEjectionPercent: 50,
        interval: second(10),
        baseEjectionDuration: second(30),
      },
    }),
    listener(81),
  ],
  serviceDiscovery: { dns: { hostname: 'a.my-app-ns.svc.cluster.local', responseType: 'ENDPOINTS' } },
  backends: [backend({ name: 'svc-b' }), backend({ name: 'svc-b', namespace: 'other' })],
};
const ROUTER = router(
  {
    name: 'colors',
    priority: 10,
    httpRoute: {
      match: {
        prefix: '/color',
        method: 'GET',
        port: 80,
        headers: [{ name: 'tint', match: { exact: 'red' } }, { name: 'there' }],
        queryParameters: [{ name: 'q', match: { exact: 'a' } }],
      },
      action: { weightedTargets: many(10, (i) => target(`v${i}`, i === 0 ? 0 : 100)) },
      retryPolicy: {
        httpRetryEvents: ['server-error'],
        tcpRetryEvents: ['connection-error'],
        maxRetries: 2,
        perRetryTimeout: second(2),
      },
      timeout: { perRequest: second(1) },
    },
  },
  { name: 'http2', http2Route: { match: { path: { regex: '/a[0-9]+' } }, action } },
  {
    name: 'grpc',
    grpcRoute: {
      match: { serviceName: 'a.B', methodName: 'C', metadata: [{ name: 'm', match: { prefix: 'a' } }] },
      action,
      retryPolicy: { grpcRetryEvents: ['unavailable'], maxRetries: 1, perRetryTimeout: second(1) },
    },
  },
  { name: 'tcp', tcpRoute: { action } },
);

describe('kinds of App Mesh take', () => {
  it.each<[string, Kind, object]>([
    ['T003-01 a node with every field that is held', VirtualNode, NODE],
    ['T003-18 a router with every form of route', VirtualRouter, ROUTER],
    ['T003-18 the words of the seed', VirtualRouter, router(...['http', 'http2'].map((w) => ({ name: w, [w]: http })))],
    ['T003-10 an empty namespace', VirtualNode, { backends: [backend({ name: 'a', namespace: '' })] }],
    ['T003-11 a dot in a referenced name', VirtualRouter, router({ name: 'a', tcp: { action: dotted() } })],
    ['T003-15 a service with a node', VirtualService, { provider: { virtualNode: { virtualNodeRef: { name: 'a' } } } }],
    ['T003-15 a service without provider', VirtualService, {}],
    ['T003-15 a service with an empty provider', VirtualService, { provider: {} }],
    ['T003-30 the selector by our word', VirtualNode, { dataplaneSelector: {} }],
    ['T003-36 references to another namespace', VirtualService, routerOf({ name: 'a', namespace: 'other' })],
  ])('%s', (_, kind, spec) => {
    expect(violations(kind, spec)).toEqual([]);
  });
});

function dotted() {
  return { weightedTargets: [target('colorteller.appmesh-demo')] };
}
function routerOf(virtualRouterRef: object, more: object = {}) {
  return { provider: { virtualRouter: { virtualRouterRef, ...more } } };
}

describe('kinds of App Mesh refuse', () => {
  const tls = { mode: 'STRICT', certificate: { file: { certificateChain: '/a', privateKey: '/b' } } };
  const clientPolicy = { tls: { enforce: true, validation: { trust: { file: { certificateChain: '/a' } } } } };

  it.each<[string, Kind, object, string[]]>([
    [
      'what no policy of ours does exactly, in a node',
      VirtualNode,
      {
        podSelector: { matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }] },
        listeners: [
          listener(80, {
            healthCheck: {
              healthyThreshold: 2,
              unhealthyThreshold: 10,
              intervalMillis: 5_000,
              timeoutMillis: 2_000,
              path: '/ping',
              port: 80,
              protocol: 'http',
            },
            connectionPool: { http: { maxConnections: 100, maxPendingRequests: 10 } },
            timeout: { http: { perRequest: second(15), idle: { unit: 'ms', value: 500 } } },
          }),
        ],
      },
      [
        'spec.podSelector.matchExpressions not-allowed',
        ...['healthCheck', 'connectionPool', 'timeout'].map((field) => `spec.listeners[0].${field} not-allowed`),
      ],
    ],
    [
      'the same in a router',
      VirtualRouter,
      matching({
        prefix: '/',
        scheme: 'http',
        headers: [{ name: 'a', match: { range: { start: 1, end: 9 } }, invert: true }],
      }),
      ['scheme', 'headers[0].invert', 'headers[0].match.range'].map((field) => `${MATCH}.${field} not-allowed`),
    ],
    [
      'a time-out of connections',
      VirtualRouter,
      router({ name: 'a', tcpRoute: { action, timeout: { idle: second(1) } } }),
      [`${R0}.tcpRoute.timeout not-allowed`],
    ],
    ['T003-16 hosts', VirtualService, { hosts: ['a'] }, ['spec.hosts unknown-field']],
    ['T003-25 meshRef', VirtualService, { meshRef: { name: 'm', uid: 'u' } }, ['spec.meshRef not-allowed']],
    ['T003-25 meshRef of a node', VirtualNode, { meshRef: { name: 'm' } }, ['spec.meshRef not-allowed']],
    [
      'T003-14 a reference by awsName, which no reference by name stands beside',
      VirtualService,
      routerOf({ awsName: 'ecs' }),
      [
        'spec.provider.virtualRouter.virtualRouterRef.name required',
        'spec.provider.virtualRouter.virtualRouterRef.awsName not-allowed',
      ],
    ],
    [
      'T003-14 the same in a node',
      VirtualNode,
      { backends: [backend({ name: 'a', awsName: 'ecs' })] },
      ['spec.backends[0].virtualService.virtualServiceRef.awsName not-allowed'],
    ],
    [
      'T003-14 an ARN',
      VirtualRouter,
      router({
        name: 'a',
        httpRoute: { ...http, action: { weightedTargets: [{ ...target('a'), virtualNodeARN: 'arn' }] } },
      }),
      [`${R0}.httpRoute.action.weightedTargets[0].virtualNodeARN not-allowed`],
    ],
    [
      'T003-15 two providers',
      VirtualService,
      { provider: { ...routerOf({ name: 'a' }).provider, virtualNode: { virtualNodeRef: { name: 'a' } } } },
      ['spec.provider invalid'],
    ],
    ['T003-18 no listener', VirtualRouter, { listeners: [] }, ['spec.listeners too-few']],
    [
      'T003-18 a port twice',
      VirtualRouter,
      { listeners: [listener(), listener()] },
      ['spec.listeners[1].portMapping.port not-unique'],
    ],
    [
      'T003-18 a name twice',
      VirtualRouter,
      router({ name: 'a', http }, { name: 'a', http }),
      ['spec.routes[1].name not-unique'],
    ],
    ['T003-18 two protocols', VirtualRouter, router({ name: 'a', http, tcpRoute: { action } }), [`${R0} invalid`]],
    [
      'T003-18 one protocol by both words',
      VirtualRouter,
      router({ name: 'a', http, httpRoute: http }),
      [`${R0} invalid`],
    ],
    ['T003-18 no protocol', VirtualRouter, router({ name: 'a' }), [`${R0} required`]],
    [
      'T003-18 no target',
      VirtualRouter,
      router({ name: 'a', tcp: { action: { weightedTargets: [] } } }),
      [`${R0}.tcp.action.weightedTargets too-few`],
    ],
    [
      'T003-18 11 targets',
      VirtualRouter,
      router({ name: 'a', tcp: { action: { weightedTargets: many(11, () => target('a')) } } }),
      [`${R0}.tcp.action.weightedTargets too-many`],
    ],
    [
      'T003-18 a weight of 101',
      VirtualRouter,
      router({ name: 'a', tcp: { action: { weightedTargets: [target('a', 101)] } } }),
      [`${R0}.tcp.action.weightedTargets[0].weight out-of-range`],
    ],
    ['prefix beside path', VirtualRouter, matching({ prefix: '/', path: { exact: '/a' } }), [`${MATCH} invalid`]],
    ['neither of them', VirtualRouter, matching({ method: 'GET' }), [`${MATCH} required`]],
    ['a prefix without slash', VirtualRouter, matching({ prefix: 'a' }), [`${MATCH}.prefix wrong-form`]],
    ['lookaround', VirtualRouter, matching({ path: { regex: '(?=a)' } }), [`${MATCH}.path.regex wrong-form`]],
    [
      'two forms of a header',
      VirtualRouter,
      matching({ prefix: '/', headers: [{ name: 'a', match: { exact: 'a', prefix: 'a' } }] }),
      [`${MATCH}.headers[0].match invalid`],
    ],
    [
      'a method without service',
      VirtualRouter,
      router({ name: 'a', grpc: { match: { methodName: 'a' }, action } }),
      [`${R0}.grpc.match.serviceName required`],
    ],
    ['T003-30 both selectors', VirtualNode, { podSelector: {}, dataplaneSelector: {} }, ['spec invalid']],
    [
      'T003-35 a backend twice, once with its namespace',
      VirtualNode,
      { backends: [backend({ name: 'a' }), backend({ name: 'a', namespace: 'my-app-ns' })] },
      ['spec.backends[1].virtualService.virtualServiceRef not-unique'],
    ],
    [
      'T003-38 tls of a listener',
      VirtualNode,
      { listeners: [listener(80, { tls })] },
      ['spec.listeners[0].tls not-allowed'],
    ],
    [
      'T003-38 tls of a backend',
      VirtualNode,
      { backends: [backend({ name: 'a' }, { clientPolicy })] },
      ['spec.backends[0].virtualService.clientPolicy.tls not-allowed'],
    ],
    [
      'T003-38 tls of all backends',
      VirtualNode,
      { backendDefaults: { clientPolicy } },
      ['spec.backendDefaults.clientPolicy.tls not-allowed'],
    ],
    ['T003-38 groups of backends', VirtualNode, { backendGroups: [{ name: 'a' }] }, ['spec.backendGroups not-allowed']],
    [
      'T003-38 access logs',
      VirtualNode,
      { logging: { accessLog: { file: { path: '/a' } } } },
      ['spec.logging not-allowed'],
    ],
    [
      'two connection pools',
      VirtualNode,
      { listeners: [listener(80, { connectionPool: { http2: { maxRequests: 1 }, grpc: { maxRequests: 1 } } })] },
      ['spec.listeners[0].connectionPool invalid'],
    ],
    [
      'a protocol of Kuma',
      VirtualNode,
      { listeners: [{ portMapping: { port: 80, protocol: 'kafka' } }] },
      ['spec.listeners[0].portMapping.protocol not-one-of'],
    ],
  ])('%s', (_, kind, spec, want) => {
    expect(violations(kind, spec)).toEqual(want);
  });
});

describe('the name at App Mesh', () => {
  const nameOf = (kind: Kind, spec: object) => kind.derive({ ...id(kind.name), name: 'svc-a', spec: { ...spec } });

  it.each<[string, Kind, string]>([
    ['T003-05', VirtualService, 'svc-a.my-app-ns'],
    ['T003-06', VirtualNode, 'svc-a_my-app-ns'],
    ['T003-07', VirtualRouter, 'svc-a_my-app-ns'],
  ])('%s T003-03 is derived unless it is given; an empty one is none', (_, kind, want) => {
    const meshRef = { name: 'm' };
    expect(nameOf(kind, {})).toEqual({ awsName: want, meshRef });
    expect(nameOf(kind, { awsName: '' })).toEqual({ awsName: want, meshRef });
    expect(nameOf(kind, { awsName: 'own' })).toEqual({ awsName: 'own', meshRef });
  });
});

it('what most likely is not meant is said: no selector, no listener, no provider, a route that no listener can use', () => {
  const said = (kind: Kind, spec: object) => kind.warnings('x', spec).map((text) => text.split(':')[0]);
  expect(said(VirtualNode, {})).toEqual(['spec.podSelector', 'spec.listeners']);
  expect(said(VirtualNode, NODE)).toEqual(['spec.serviceDiscovery.dns']);
  expect(said(VirtualService, { awsName: 'a'.repeat(64) })).toEqual(['spec.provider', 'spec.awsName']);
  expect(said(VirtualRouter, router({ name: 'a', grpc: { match: {}, action } }))).toEqual(['spec.routes[0]']);
  expect(said(VirtualRouter, matching({ prefix: '/', port: 81 }))).toEqual(['spec.routes[0]']);
  expect(said(VirtualRouter, matching({ prefix: '/', port: 80 }))).toEqual([]);
});
