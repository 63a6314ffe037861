import { type RouteRule, type RouteSpec } from '@causeway/routing';
import { identityKey, type JsonObject } from '@causeway/resources';
import { RoutingMesh } from '../../../../test/support/routing-mesh';
import { meshHttpRoute, type KumaServices } from './mesh-http-route';

const ECHO = { kind: 'Service', name: 'echo', port: 80 };
const V1 = { backendRefs: [{ name: 'echo-v1' }] };
const ALL: RouteRule = { ...V1, name: 'all' };
const labelsOf = (name: string) => ({ 'kuma.io/display-name': name, 'kuma.io/zone': 'east' });
const found: KumaServices = ({ name }) => ({ ok: true, labels: labelsOf(name) });
const sendsTo = (name: string, weight = 1) => ({ kind: 'MeshService', labels: labelsOf(name), port: 80, weight });
const prefix = (value: string) => ({ path: { type: 'PathPrefix', value } });

/** The services of the conformance fixture, in zone east. */
function echo(): RoutingMesh {
  const mesh = new RoutingMesh();
  for (const name of ['echo', 'echo-v1', 'echo-v2']) mesh.service(name, { zone: 'east' });
  return mesh;
}

function translated(
  spec: Partial<RouteSpec>,
  { mesh = echo(), services = found, at = {}, kind = 'HTTPRoute' as const } = {},
) {
  const id = mesh.route(kind, 'r', { parentRefs: [ECHO], ...spec }, at);
  const route = mesh.table.route(identityKey(id));
  if (!route) throw new Error('no route');
  return meshHttpRoute(mesh.table, route, services);
}

function reasonFor(...given: Parameters<typeof translated>): string {
  const result = translated(...given);
  return result === undefined ? 'bound nowhere' : result.ok ? 'exact' : result.reason;
}

function rulesFor(rules: readonly RouteRule[]): unknown {
  const result = translated({ rules });
  if (!result?.ok) throw new Error(JSON.stringify(result));
  const [to] = result.spec['to'] as JsonObject[];
  return to?.['rules'];
}

describe('a route as a MeshHTTPRoute of Kuma', () => {
  it('is for all proxies: services by labels, a port by its name, weights as they are, a weight of 0 left out', () => {
    const backendRefs = [
      { name: 'echo-v1', weight: 90 },
      { name: 'echo-v2', weight: 10 },
      { name: 'echo', weight: 0 },
    ];
    const rules = [
      { matches: [prefix('/')], default: { backendRefs: [sendsTo('echo-v1', 90), sendsTo('echo-v2', 10)] } },
    ];
    expect(translated({ rules: [{ backendRefs }] })).toEqual({
      ok: true,
      spec: {
        targetRef: { kind: 'Mesh' },
        to: [{ targetRef: { kind: 'MeshService', labels: labelsOf('echo'), sectionName: 'http' }, rules }],
      },
    });
  });

  it('has an entry for each port, whose backends are those of that port', () => {
    const result = translated({ parentRefs: [{ kind: 'Service', name: 'echo' }, ECHO], rules: [ALL] });
    const to = (result?.ok === true ? result.spec['to'] : []) as JsonObject[];
    const names = to.map(({ targetRef }) => (targetRef as JsonObject)['sectionName']);
    expect(names).toEqual(['http', 'https', 'grpc', 'http-alt', 'tcp']);
    expect(JSON.stringify(to[0])).toContain('"port":80');
    expect(JSON.stringify(to.at(-1))).toContain('"port":9090');
  });

  it('has each match of each rule in its order, with a path, header names in small letters', () => {
    const matches = [
      { path: { type: 'Exact', value: '/v1' }, method: 'GET' },
      { path: { value: '/v2/' }, headers: [{ name: 'X-A', value: '1' }], queryParams: [{ name: 'Q', value: 'v' }] },
      {
        headers: [
          { name: 'x-b', value: '1' },
          { name: 'X-B', value: '2' },
        ],
      },
    ];
    expect(rulesFor([{ ...V1, matches }, ALL])).toEqual([
      {
        matches: [
          { path: { type: 'Exact', value: '/v1' }, method: 'GET' },
          {
            path: { type: 'PathPrefix', value: '/v2' },
            headers: [{ type: 'Exact', name: 'x-a', value: '1' }],
            queryParams: [{ type: 'Exact', name: 'Q', value: 'v' }],
          },
          { path: { type: 'PathPrefix', value: '/' }, headers: [{ type: 'Exact', name: 'x-b', value: '1' }] },
        ],
        default: { backendRefs: [sendsTo('echo-v1')] },
      },
      { matches: [prefix('/')], default: { backendRefs: [sendsTo('echo-v1')] } },
    ]);
  });

  it('leaves out a rule that an earlier one of the same matches hides, and adds up shares of one backend', () => {
    const backendRefs = [{ name: 'echo-v1', weight: 2 }, { name: 'echo-v2' }, { name: 'echo-v1', port: 80 }];
    expect(rulesFor([{ backendRefs }, { ...V1, timeouts: { request: '1s' } }])).toEqual([
      { matches: [prefix('/')], default: { backendRefs: [sendsTo('echo-v1', 3), sendsTo('echo-v2')] } },
    ]);
  });

  it('changes headers and the host', () => {
    const changes = { set: [{ name: 'X-S', value: 's' }], add: [{ name: 'X-A', value: 'a' }], remove: ['X-R'] };
    const lower = { set: [{ name: 'x-s', value: 's' }], add: [{ name: 'x-a', value: 'a' }], remove: ['x-r'] };
    const filters = [
      { type: 'RequestHeaderModifier', requestHeaderModifier: changes },
      { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: changes.set } },
      { type: 'URLRewrite', urlRewrite: { hostname: 'a.example' } },
    ];
    expect(rulesFor([{ ...V1, filters }])).toMatchObject([
      {
        default: {
          filters: [
            { type: 'RequestHeaderModifier', requestHeaderModifier: lower },
            { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: lower.set } },
            { type: 'URLRewrite', urlRewrite: { hostname: 'a.example' } },
          ],
        },
      },
    ]);
  });

  const header = (value: string, name = 'x-a'): Partial<RouteRule> => ({
    filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name, value }] } }],
  });
  const path = { type: 'ReplaceFullPath', replaceFullPath: '/x' };
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'echo-v2' } } };
  it.each<[Partial<RouteRule>, string]>([
    [{ matches: [{ path: { type: 'RegularExpression', value: '/.*' } }] }, 'rule r has a regular expression'],
    [{ matches: [{ headers: [{ type: 'RegularExpression', name: 'a', value: 'b' }] }] }, 'a regular expression'],
    [{ matches: [{ queryParams: [{ type: 'RegularExpression', name: 'a', value: 'b' }] }] }, 'a regular expression'],
    [{ timeouts: { request: '1s' } }, 'rule r has timeouts'],
    [{ timeouts: { backendRequest: '1s' } }, 'rule r has timeouts'],
    [{ timeouts: { request: '0s' } }, 'exact'],
    [{ filters: [mirror] }, 'rule r has a filter RequestMirror'],
    [{ filters: [{ type: 'URLRewrite', urlRewrite: { path } }] }, 'rule r has a filter URLRewrite of the path'],
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: {} }], backendRefs: [] }, 'rule r redirects'],
    [{ filters: [{ type: 'ExtensionRef', extensionRef: { name: 'e' } }] }, 'rule r answers 500'],
    [header('50%'), 'a percent sign'],
    [header(''), 'an empty value'],
    [header('a', 'Host'), 'a change of the header Host'],
    [{ backendRefs: [{ name: 'echo-v1', ...header('a') }] }, 'rule r has filters of one backend'],
    [{ backendRefs: [{ name: 'echo-v1', weight: 0 }] }, 'rule r answers 500'],
    [{ backendRefs: [] }, 'rule r answers 500'],
    [{ backendRefs: [{ name: 'none' }, { name: 'echo-v1' }] }, 'a share of rule r answers 500: BackendNotFound'],
    [{ backendRefs: [{ kind: 'MeshExternalService', group: 'kuma.io', name: 'x' }] }, 'InvalidKind'],
  ])('is not made of a rule with %j: %s', (rule, reason) => {
    const other = { ...rule, name: 'r', matches: rule.matches ?? [prefix('/a')] };
    expect(reasonFor({ rules: [{ ...V1, ...other }, ALL] })).toContain(reason);
  });

  it('is not made where a request that no rule matches would be answered 404', () => {
    expect(reasonFor({ rules: [{ ...V1, matches: [prefix('/a')] }] })).toContain('404');
    expect(reasonFor({ rules: [{ ...V1, matches: [{ method: 'GET' }] }] })).toContain('404');
  });

  it('is not made of consumer routes, nor of a producer route beside them', () => {
    const parentRefs = [{ ...ECHO, namespace: 'mesh' }];
    const rules = [{ backendRefs: [{ name: 'echo-v1', namespace: 'mesh' }] }];
    expect(reasonFor({ parentRefs, rules }, { at: { namespace: 'shop' } })).toContain(
      'to consumer namespace shop only',
    );
    const mesh = echo();
    mesh.route(
      'HTTPRoute',
      'own',
      { parentRefs: [{ ...ECHO, port: 8080, namespace: 'mesh' }], rules },
      { namespace: 'shop' },
    );
    expect(reasonFor({ rules: [ALL] }, { mesh })).toBe('exact');
    mesh.route('HTTPRoute', 'own', { parentRefs, rules }, { namespace: 'shop' });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toContain('consumer namespace shop has other routes');
  });

  it('is not made beside another route of the global at the port, nor where another kind has it; routes of zones do not count', () => {
    const mesh = echo();
    mesh.route('HTTPRoute', 'of-zone', { parentRefs: [ECHO], rules: [ALL] }, { zone: 'west' });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toBe('exact');
    mesh.route('HTTPRoute', 'other', { parentRefs: [ECHO], rules: [ALL] });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toContain('other routes are bound to MeshService echo port 80');
    mesh.route('GRPCRoute', 'grpc', { parentRefs: [ECHO], rules: [ALL] });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toBe('bound nowhere');
    expect(reasonFor({ parentRefs: [ECHO, { ...ECHO, port: 8080 }], rules: [ALL] }, { mesh })).toContain('GRPCRoute');
  });

  it('is not made where several services have the name, nor of one of the global: zones take their own first', () => {
    const mesh = echo();
    mesh.service('echo-v1', { zone: 'west' });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toContain('sends to several services');
    mesh.service('echo', { zone: 'west' });
    expect(reasonFor({ rules: [ALL] }, { mesh })).toContain('several services may be called echo');
    expect(reasonFor({ rules: [ALL] }, { mesh: RoutingMesh.echo() })).toContain('several services may be called echo');
  });

  it('is not made where a zone of Kuma does not find a service', () => {
    const services: KumaServices = (id, _, role) =>
      id.name === 'echo-v1' && role === 'backend' ? { ok: false, reason: 'not sent' } : found(id, 80, role);
    expect(reasonFor({ rules: [ALL] }, { services })).toBe('not sent');
    expect(reasonFor({ rules: [ALL], parentRefs: [{ ...ECHO, name: 'none' }] }, { services })).toBe('bound nowhere');
  });

  it('has bounds: 64 ports, and 262,144 characters', () => {
    const mesh = echo();
    mesh.service('echo', { zone: 'east', ports: Array.from({ length: 65 }, (_, i) => ({ port: i + 80 })) });
    const parentRefs = [{ kind: 'Service', name: 'echo' }];
    const rules = [{ backendRefs: [{ name: 'echo-v1', port: 80 }] }];
    expect(reasonFor({ parentRefs, rules }, { mesh })).toContain('more than 64 ports');
    const matches = Array.from({ length: 64 }, (_, i) => ({ path: { value: `/${'x'.repeat(1_000)}${i}` } }));
    const many = Array.from({ length: 15 }, (_, i) => ({ ...V1, matches: [...matches, prefix(`/${i}`)] }));
    expect(reasonFor({ rules: [...many, ALL] })).toContain('characters, 262144 at most');
  });
});
