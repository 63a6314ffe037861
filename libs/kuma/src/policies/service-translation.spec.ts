import { type Identity, type JsonObject, globalIdentity, identityKey, type ResourceKey } from '@causeway/resources';
import type { Frontend, RouteRule } from '@causeway/routing';
import { RoutingMesh } from '../../../../test/support/routing-mesh';
import type { EffectiveKumaPolicies, KumaRuleTarget } from './request-policies';
import { translateService, type KumaServers, type ServiceSources } from './service-translation';

const LABELS = { 'kuma.io/display-name': 'echo', 'kuma.io/zone': 'east' };
const PARENT = { kind: 'Service', name: 'echo', port: 80 };
const SERVERS: KumaServers = { ok: true, targetRef: { kind: 'Dataplane', labels: { 'kuma.io/workload': 'echo' } } };

type Said = readonly [policy: string, spec: JsonObject] | undefined;
interface Effective {
  /** By kind, at a rule `group/route/rule` or at the service `group`; falls back to the kind alone. */
  readonly rules?: (kind: string, at: string, port: number) => Said;
  readonly backends?: (port: number) => Said;
  readonly consumers?: readonly string[];
}

const keyOf = (policy: string): ResourceKey => identityKey(globalIdentity('Policy', policy));

const effectiveOf = (said: Said) =>
  said && {
    spec: said[1],
    sources: new Map(Object.keys(said[1]).map((field) => [`/${field}`, { policy: keyOf(said[0]) }])),
  };

function policiesOf({ rules, backends, consumers = [] }: Effective): EffectiveKumaPolicies {
  const place = ({ group, route, rule }: KumaRuleTarget) => (route ? `${group}/${route.name}/${rule}` : group);
  return {
    effectiveOfRule: (kind, at) => effectiveOf(rules?.(kind, place(at), at.port)),
    effectiveOfBackend: (_, { port }) => effectiveOf(backends?.(port)),
    listConsumers: () => consumers,
  };
}

function frontend(mesh: RoutingMesh, id: Identity): Frontend {
  const found = mesh.table.frontend(id);
  if (!found) throw new Error('no service');
  return found;
}

interface Given extends Effective {
  readonly mesh?: RoutingMesh;
  readonly protocols?: Readonly<Record<number, string>>;
  readonly more?: Partial<ServiceSources>;
}

/** Service echo of zone east: port 80 is http, all others bytes. */
function echo(routes: readonly RouteRule[] = [], at: Partial<Identity> = {}): RoutingMesh {
  const mesh = new RoutingMesh();
  mesh.service('echo', { zone: 'east' });
  if (routes.length > 0)
    mesh.route('HTTPRoute', 'r', { parentRefs: [{ ...PARENT, namespace: 'mesh' }], rules: routes }, at);
  return mesh;
}

function translate(kind: Parameters<typeof translateService>[0], given: Given) {
  const { mesh = echo(), protocols = { 80: 'http' }, more } = given;
  return translateService(
    kind,
    frontend(mesh, { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'mesh', name: 'echo' }),
    {
      table: mesh.table,
      policies: policiesOf(given),
      findProtocol: (port) => protocols[port],
      service: () => ({ ok: true, labels: LABELS }),
      servers: () => SERVERS,
      defaultAccess: 'Allow',
      changing: () => [],
      ...more,
    },
  );
}

const timeout = (request: string): Said => ['top', { request }];
const all: Effective = { rules: (kind) => (kind === 'TimeoutPolicy' ? timeout('10s') : undefined) };
const entry = (sectionName: string, http: JsonObject) => ({
  targetRef: { kind: 'MeshService', labels: LABELS, sectionName },
  default: { http },
});
const TEN = { requestTimeout: '10s', streamIdleTimeout: '1800s' };
const V1 = { backendRefs: [{ name: 'echo' }] };

describe('the policies on requests to a service, translated for zones of Kuma', () => {
  it('is for all proxies, each port by its name; ports of bytes are left out', () => {
    expect(translate('MeshTimeout', all)).toEqual({
      translated: [{ port: 80, policies: [keyOf('top')] }],
      spec: { targetRef: { kind: 'Mesh' }, to: [entry('http', TEN)] },
      notTranslated: [],
    });
    const protocols = { 80: 'http', 7070: 'grpc', 8080: 'http2', 443: 'tcp' };
    const { spec } = translate('MeshTimeout', { ...all, protocols });
    expect(spec?.['to']).toEqual([entry('http', TEN), entry('http-alt', TEN), entry('grpc', TEN)]);
  });

  it('is for the service where all its ports have the same, whatever outbounds call them', () => {
    const mesh = new RoutingMesh();
    const ports = [
      { port: 80, name: 'http' },
      { port: 8080, name: 'http-alt' },
    ];
    mesh.service('echo', { zone: 'east', ports });
    const given = { ...all, mesh, protocols: { 80: 'http', 8080: 'http2' } };
    const { spec, translated } = translate('MeshTimeout', given);
    const targetRef = { kind: 'MeshService', labels: LABELS };
    expect(spec?.['to']).toEqual([{ targetRef, default: { http: TEN } }]);
    expect(translated.map(({ port }) => port)).toEqual([80, 8080]);
    const rules = (kind: string, _: string, port: number): Said =>
      kind === 'TimeoutPolicy' ? timeout(port === 80 ? '10s' : '1s') : undefined;
    const one = { ...TEN, requestTimeout: '1s' };
    expect(translate('MeshTimeout', { ...given, rules }).spec?.['to']).toEqual([
      entry('http', TEN),
      entry('http-alt', one),
    ]);
    expect(translate('MeshTimeout', { ...given, protocols: { 80: 'http' } }).spec?.['to']).toEqual([
      entry('http', TEN),
    ]);
  });

  it('is nothing where no policy holds, or one says nothing', () => {
    expect(translate('MeshTimeout', {})).toEqual({ translated: [], notTranslated: [] });
    expect(translate('MeshRetry', all)).toEqual({ translated: [], notTranslated: [] });
    expect(translate('MeshTimeout', { rules: () => ['top', {}] })).toEqual({ translated: [], notTranslated: [] });
  });

  it('is what the rules of a route agree on', () => {
    const mesh = echo([
      { ...V1, name: 'a' },
      { ...V1, name: 'b' },
    ]);
    expect(translate('MeshTimeout', { ...all, mesh }).spec?.['to']).toEqual([entry('http', TEN)]);
  });

  it.each<[string, Given, string]>([
    [
      'rules differ',
      {
        mesh: echo([
          { ...V1, name: 'a' },
          { ...V1, name: 'b' },
        ]),
        rules: (kind, at) => (kind === 'TimeoutPolicy' ? timeout(at === 'producer/r/a' ? '1s' : '2s') : undefined),
      },
      'Kuma has one value for all',
    ],
    [
      'one rule alone has a policy',
      {
        mesh: echo([
          { ...V1, name: 'a' },
          { ...V1, name: 'b' },
        ]),
        rules: (kind, at) => (kind === 'TimeoutPolicy' && at === 'producer/r/a' ? timeout('1s') : undefined),
      },
      'Kuma has one value for all',
    ],
    [
      'callers of a namespace have others by a policy of theirs',
      {
        consumers: ['shop'],
        rules: (kind, at) => (kind === 'TimeoutPolicy' ? timeout(at === 'producer' ? '1s' : '2s') : undefined),
      },
      'callers of some namespaces',
    ],
    [
      'callers of a namespace have others by their routes',
      {
        mesh: echo([{ ...V1, name: 'a' }], { namespace: 'shop' }),
        rules: (kind, at) => (kind === 'TimeoutPolicy' && at === 'producer' ? timeout('1s') : undefined),
      },
      'callers of some namespaces',
    ],
    [
      'a rule has timeouts of its own',
      { ...all, mesh: echo([{ ...V1, name: 'a', timeouts: { request: '1s' } }]) },
      'rule a has timeouts of its own',
    ],
    ['a policy has no form in Kuma', { rules: () => ['top', { backendRequest: '1s' }] }, 'backendRequest'],
    [
      'zones of Kuma do not find the service',
      { ...all, more: { service: () => ({ ok: false, reason: 'not alone' }) } },
      'not alone',
    ],
  ])('is not translated where %s; the port and the policies are named', (_, given, why) => {
    const { spec, notTranslated } = translate('MeshTimeout', given);
    expect(spec).toBeUndefined();
    expect(notTranslated).toEqual([
      { port: 80, policies: [keyOf('top')], reason: expect.stringContaining(why) as unknown },
    ]);
  });

  it('is sent for a consumer that borrows the routes of the producer and has the same', () => {
    const mesh = echo([{ ...V1, name: 'a' }]);
    expect(translate('MeshTimeout', { ...all, mesh, consumers: ['shop'] }).notTranslated).toEqual([]);
  });

  it('is nothing where the port is taken by a TCPRoute: policies on requests do nothing to bytes', () => {
    const mesh = echo();
    mesh.route('TCPRoute', 't', { parentRefs: [PARENT], rules: [V1] });
    expect(
      translate('MeshTimeout', { mesh, rules: (_, at) => (at === 'producer' ? timeout('1s') : undefined) }),
    ).toEqual({
      translated: [],
      notTranslated: [],
    });
  });

  it('does not read routes of other zones, which hold there alone', () => {
    const mesh = echo([{ ...V1, name: 'a', timeouts: { request: '1s' } }], { zone: 'east' });
    expect(translate('MeshTimeout', { ...all, mesh }).spec).toBeDefined();
  });

  it('limits an attempt where a MeshRetry is sent, of both policies', () => {
    const rules: Effective['rules'] = (kind) =>
      kind === 'TimeoutPolicy' ? ['top', { request: '5s', backendRequest: '1s' }] : ['rtp', { on: ['5xx'] }];
    expect(translate('MeshTimeout', { rules }).spec?.['to']).toEqual([entry('http', { ...TEN, requestTimeout: '5s' })]);
    expect(JSON.stringify(translate('MeshRetry', { rules }).spec)).toContain('"perTryTimeout":"1s"');
  });

  it('has 64 ports at most', () => {
    const mesh = new RoutingMesh();
    const ports = Array.from({ length: 65 }, (_, i) => ({ port: i + 1 }));
    mesh.service('echo', { zone: 'east', ports });
    const protocols = Object.fromEntries(ports.map(({ port }) => [port, 'http']));
    const { spec, notTranslated } = translate('MeshTimeout', { ...all, mesh, protocols });
    expect((spec?.['to'] as JsonObject[]).length).toBe(64);
    expect(notTranslated).toEqual([{ port: 65, policies: [keyOf('top')], reason: 'it has more than 64 ports' }]);
  });
});

describe('who may call a service, translated for zones of Kuma', () => {
  const exact = (id: string): JsonObject => ({
    allow: { a: { from: [{ spiffeId: { type: 'Exact', value: `spiffe://td/${id}` } }] } },
  });
  const access = (backends: Effective['backends'], more: Partial<ServiceSources> = {}) =>
    translate('MeshTrafficPermission', { ...(backends && { backends }), more });

  it('holds for the proxies of its servers', () => {
    expect(access(() => ['acp', exact('web')])).toEqual({
      translated: [80, 8080, 443, 9090, 7070].map((port) => ({ port, policies: [keyOf('acp')] })),
      spec: {
        targetRef: SERVERS.ok ? SERVERS.targetRef : {},
        rules: [{ default: { allow: [{ spiffeID: { type: 'Exact', value: 'spiffe://td/web' } }] } }],
      },
      notTranslated: [],
    });
  });

  it('is nothing where no policy holds, no server has a proxy of Kuma, or nobody may call', () => {
    expect(access(undefined)).toEqual({ translated: [], notTranslated: [] });
    expect(access(() => ['acp', exact('web')], { servers: () => undefined })).toEqual({
      translated: [],
      notTranslated: [],
    });
    expect(access(() => ['acp', { allow: {} }])).toEqual({ translated: [], notTranslated: [] });
    expect(access(() => ['acp', { allow: 7 }])).toEqual({ translated: [], notTranslated: [] });
  });

  it.each<[string, Effective['backends'], Partial<ServiceSources>, string]>([
    ['ports differ', (port) => ['acp', exact(port === 80 ? 'web' : 'api')], {}, 'its ports have other values'],
    ['a port has none', (port) => (port === 80 ? ['acp', exact('web')] : undefined), {}, 'its ports have other values'],
    [
      'a port has none, and nobody may call another',
      (port) => (port === 80 ? ['acp', { allow: {} }] : undefined),
      {},
      'its ports have other values',
    ],
    [
      'it has no form in Kuma',
      () => ['acp', { deny: exact('web')['allow'] ?? {} }],
      {},
      'defaultAccess of MeshParameters allows',
    ],
    [
      'the servers are not found',
      () => ['acp', exact('web')],
      { servers: () => ({ ok: false, reason: 'shared' }) },
      'shared',
    ],
  ])('is not translated where %s', (_, backends, more, why) => {
    const { spec, notTranslated } = access(backends, more);
    expect(spec).toBeUndefined();
    expect(notTranslated[0]).toMatchObject({
      port: 80,
      policies: [keyOf('acp')],
      reason: expect.stringContaining(why) as unknown,
    });
  });
});
