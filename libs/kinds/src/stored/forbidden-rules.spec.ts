import { FieldPath, type JsonObject, type Kind, type Resource } from '@causeway/resources';
import { sketch } from '../../../../test/support/traffic-zone';
import { RoutingMesh } from '../../../../test/support/routing-mesh';
import { GRPCRoute } from '../grpc-route';
import { HTTPRoute } from '../http-route';
import { storedRoute } from './stored-routing';

const parentRefs = [{ kind: 'Service', name: 'echo', port: 80 }];
const toV1 = { backendRefs: [{ name: 'echo-v1', port: 80 }] };
const exact = (value: string) => ({ matches: [{ path: { type: 'Exact', value } }] });
const changes = (requestHeaderModifier: JsonObject): JsonObject => ({
  type: 'RequestHeaderModifier',
  requestHeaderModifier,
});
const set = (name: string, value = '1'): JsonObject => changes({ set: [{ name, value }] });
const rewrite = (replaceFullPath: string): JsonObject => ({
  type: 'URLRewrite',
  urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath } },
});

/** Filters that no resource may have; they may be stored, for other zones, backups and older versions bring them. */
const forbidden: readonly (readonly [string, JsonObject, field: string])[] = [
  ['content-length', set('Content-Length', '3'), 'requestHeaderModifier.set[0].name'],
  ['an added header', changes({ add: [{ name: 'te', value: 'a' }] }), 'requestHeaderModifier.add[0].name'],
  ['a removed header', changes({ remove: ['Transfer-Encoding'] }), 'requestHeaderModifier.remove[0]'],
  [
    'a header of the answer',
    { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['Connection'] } },
    'responseHeaderModifier.remove[0]',
  ],
  ['a header of Envoy', set('x-envoy-upstream-rq-timeout-ms'), 'requestHeaderModifier.set[0].name'],
  ['two lines', set('x-note', 'a\r\nx-more: b'), 'requestHeaderModifier.set[0].value'],
  ['a path of two lines', rewrite('/a HTTP/1.1\r\nx-more: b'), 'urlRewrite.path.replaceFullPath'],
  ['an overlong path', rewrite('/%c0%ae%c0%ae/b'), 'urlRewrite.path.replaceFullPath'],
];

const wholly = (kind: Kind, spec: unknown) => kind.check(spec, FieldPath.at('spec')).first;
const stored = (rules: readonly JsonObject[], kind = 'HTTPRoute'): Resource =>
  sketch(kind, 'route', { parentRefs, rules }, { namespace: 'mesh', creationOrder: 1 });

function mesh(rules: readonly JsonObject[], kind?: string) {
  const made = RoutingMesh.echo();
  const resource = stored(rules, kind);
  const route = storedRoute({ ...resource, id: { ...resource.id, zone: '' } });
  if (!route) throw new Error('is no route');
  made.table.putRoute(route);
  return { made, id: route.id };
}

describe.each(forbidden)('a route whose filter has %s', (_, filter, field) => {
  const rule = { ...exact('/cl'), filters: [filter], ...toV1 };

  it('is refused at the write, by field', () => {
    const found = wholly(HTTPRoute, stored([rule]).spec);
    expect(found.map((one) => one.field)).toEqual([`spec.rules[0].filters[0].${field}`]);
  });

  it('answers 500 where it is stored: what its rule takes goes to no other rule', () => {
    const { made, id } = mesh([rule, toV1]);
    expect(made.decide({ url: '/cl' }).outcome).toMatchObject({ type: 'refused', status: 500 });
    expect(made.answer({ url: '/other' })).toBe('echo-v1');
    expect(made.conditions(id)).toEqual([
      ['Accepted=True/Accepted', 'ResolvedRefs=True/ResolvedRefs', 'PartiallyInvalid=True/UnsupportedValue'],
    ]);
    expect(made.messages(id)).toContain(`Rule rule-1 answers 500: spec.rules[0].filters[0].${field} must`);
  });

  it('is not accepted where no other rule is left, and still nothing gets through', () => {
    const { made, id } = mesh([{ filters: [filter], ...toV1 }]);
    expect(made.decide({ url: '/any' }).outcome).toMatchObject({ type: 'refused', status: 500 });
    expect(made.conditions(id)).toEqual([['Accepted=False/UnsupportedValue', 'ResolvedRefs=True/ResolvedRefs']]);
  });

  it('of one backend is the same', () => {
    if (filter['type'] === 'URLRewrite') return;
    const { made } = mesh([{ backendRefs: [{ name: 'echo-v1', port: 80, filters: [filter] }] }]);
    expect(made.decide({ url: '/any' }).outcome).toMatchObject({ type: 'refused', status: 500 });
  });
});

it('a GRPCRoute is judged alike', () => {
  const rules = [{ filters: [set('content-length')], ...toV1 }];
  expect(wholly(GRPCRoute, { parentRefs, rules })).toHaveLength(1);
  const { made } = mesh(rules, 'GRPCRoute');
  const headers = { 'content-type': 'application/grpc' };
  expect(made.decide({ method: 'POST', url: '/a.B/C', headers }).outcome).toMatchObject({
    status: 500,
    grpcStatus: 14,
  });
});

it('a change of Host is refused at the write; stored, no proxy makes it and the rule goes on', () => {
  const rules = [{ filters: [set('Host', 'a.example')], ...toV1 }];
  expect(wholly(HTTPRoute, { parentRefs, rules })).toHaveLength(1);
  const { made } = mesh(rules);
  expect([made.answer(), made.forwarded({})?.host, made.forwarded({})?.headers]).toEqual(['echo-v1', 'echo', []]);
});

it('what is matched may have any name, and values that no request has match nothing', () => {
  const names = ['Content-Length', 'transfer-encoding', 'x-envoy-a', 'Host', 'connection'];
  const headers = names.map((name) => ({ name, value: '3' }));
  expect(wholly(HTTPRoute, { parentRefs, rules: [{ matches: [{ headers }], ...toV1 }] })).toEqual([]);
  const rules = [{ matches: [{ headers: [{ name: 'x-a', value: 'a\r\nb' }] }], ...toV1 }];
  expect(wholly(HTTPRoute, { parentRefs, rules }).map(({ rule }) => rule)).toEqual(['not-allowed']);
  expect(mesh(rules).made.answer()).toBe('404');
});

it.each([
  ['/a%c0%afb', ['spec.rules[0].matches[0].path.value']],
  ['/a%C3%A9', []],
])('a match of the path %s breaks %j', (value, fields) => {
  const found = wholly(HTTPRoute, { parentRefs, rules: [{ ...exact(value), ...toV1 }] });
  expect(found.map(({ field }) => field)).toEqual(fields);
});
