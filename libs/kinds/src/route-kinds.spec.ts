import { FieldPath, type Kind } from '@causeway/resources';
import { Gateway } from './gateway';
import { GRPCRoute } from './grpc-route';
import { HTTPRoute } from './http-route';
import { ReferenceGrant } from './reference-grant';
import { TCPRoute } from './tcp-route';
import { TLSRoute } from './tls-route';
import { UDPRoute } from './udp-route';

const SPEC = FieldPath.at('spec');
const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const text = (length: number): string => 'a'.repeat(length);

function violations(kind: Kind, spec: unknown): string[] {
  return kind.check(spec, SPEC).first.map(({ field, rule }) => `${field} ${rule}`);
}
const http = (rule: object) => ({ rules: [rule] });
const match = (one: object) => http({ matches: [one] });
const path = (value: string, type?: string) => match({ path: { value, ...(type === undefined ? {} : { type }) } });
const filter = (one: object, more: object = {}) => http({ filters: [one], ...more });
const redirect = (requestRedirect: object) => ({ type: 'RequestRedirect', requestRedirect });
const rewrite = (urlRewrite: object) => ({ type: 'URLRewrite', urlRewrite });
const mirror = (requestMirror: object) => ({ type: 'RequestMirror', requestMirror });
const headers = (requestHeaderModifier: object) => ({ type: 'RequestHeaderModifier', requestHeaderModifier });
const prefixPath = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/b' };
const parents = (...parentRefs: object[]) => ({ parentRefs });
const R0 = 'spec.rules[0]';

describe('HTTPRoute takes', () => {
  it.each<[string, object]>([
    [
      'all its bounds',
      { parentRefs: many(32, (i) => ({ name: `p${i}` })), hostnames: many(16, (i) => `h${i}.example`) },
    ],
    ['16 rules of 8 matches', { rules: many(16, () => ({ matches: many(8, (i) => ({ path: { value: `/${i}` } })) })) }],
    ['64 matches of a rule', http({ matches: many(64, (i) => ({ path: { value: `/${i}` } })) })],
    [
      '16 headers, parameters, filters and backends',
      http({
        matches: [
          {
            headers: many(16, (i) => ({ name: `h${i}`, value: 'a' })),
            queryParams: many(16, (i) => ({ name: `q${i}`, value: 'a' })),
          },
        ],
        filters: many(16, () => mirror({ backendRef: { name: 'a' } })),
        backendRefs: many(16, () => ({ name: 'a', weight: 1_000_000 })),
      }),
    ],
    [
      'every method',
      {
        rules: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'].map((method) => ({
          matches: [{ method }],
        })),
      },
    ],
    [
      'every type of match',
      {
        rules: ['Exact', 'PathPrefix', 'RegularExpression'].map((type) => ({
          matches: [{ path: { type, value: '/a' } }],
        })),
      },
    ],
    [
      'every code and scheme of a redirect',
      {
        rules: [301, 302, 303, 307, 308].map((statusCode) => ({
          filters: [redirect({ statusCode, scheme: 'https' })],
        })),
      },
    ],
    ['a group with a version (T002-09)', parents({ group: 'kuma.io/v1alpha1', kind: 'MeshService', name: 'a' })],
    ['backends without a port (T002-44)', http({ backendRefs: [{ name: 'a' }] })],
    ['one object twice at two ports (T002-47)', parents({ name: 'a', port: 80 }, { name: 'a', port: 81 })],
    [
      'ReplacePrefixMatch with one prefix',
      filter(rewrite({ path: prefixPath }), { matches: [{ path: { value: '/a' } }] }),
    ],
    [
      'a mirror of a fraction',
      filter(mirror({ backendRef: { name: 'a' }, fraction: { numerator: 1, denominator: 3 } })),
    ],
    ['time-outs', http({ timeouts: { request: '0s', backendRequest: '1h30m' } })],
    ['a path of 1,024 characters', path(`/${text(1_023)}`)],
  ])('%s', (_, spec) => {
    expect(violations(HTTPRoute, spec)).toEqual([]);
  });
});

describe('HTTPRoute refuses', () => {
  it.each<[string, object, string]>([
    ['a map as rules (T002-08)', { rules: { backendRefs: [{ name: 'a' }] } }, 'spec.rules wrong-type'],
    ['no rule', { rules: [] }, 'spec.rules too-few'],
    ['17 rules', { rules: many(17, () => ({})) }, 'spec.rules too-many'],
    ['65 matches', http({ matches: many(65, () => ({})) }), `${R0}.matches too-many`],
    ['129 matches in all', { rules: many(3, () => ({ matches: many(43, () => ({})) })) }, 'spec.rules too-many'],
    ['33 parents', parents(...many(33, (i) => ({ name: `p${i}` }))), 'spec.parentRefs too-many'],
    ['17 hostnames', { hostnames: many(17, (i) => `h${i}`) }, 'spec.hostnames too-many'],
    ['an odd hostname', { hostnames: ['a.*.b'] }, 'spec.hostnames[0] wrong-form'],
    ['17 backends', http({ backendRefs: many(17, () => ({ name: 'a' })) }), `${R0}.backendRefs too-many`],
    ['17 filters', http({ filters: many(17, () => mirror({ backendRef: { name: 'a' } })) }), `${R0}.filters too-many`],
    [
      '17 headers',
      match({ headers: many(17, (i) => ({ name: `h${i}`, value: 'a' })) }),
      `${R0}.matches[0].headers too-many`,
    ],
    [
      '17 parameters',
      match({ queryParams: many(17, (i) => ({ name: `q${i}`, value: 'a' })) }),
      `${R0}.matches[0].queryParams too-many`,
    ],
    ['a weight of -1', http({ backendRefs: [{ name: 'a', weight: -1 }] }), `${R0}.backendRefs[0].weight out-of-range`],
    [
      'a weight above 1,000,000',
      http({ backendRefs: [{ name: 'a', weight: 1_000_001 }] }),
      `${R0}.backendRefs[0].weight out-of-range`,
    ],
    ['port 0', parents({ name: 'a', port: 0 }), 'spec.parentRefs[0].port out-of-range'],
    ['port 65536', http({ backendRefs: [{ name: 'a', port: 65_536 }] }), `${R0}.backendRefs[0].port out-of-range`],
    ['a parent without name', parents({ kind: 'Service' }), 'spec.parentRefs[0].name required'],
    ['an odd group', parents({ group: 'A B', name: 'a' }), 'spec.parentRefs[0].group wrong-form'],
    ['a long kind', parents({ kind: text(64), name: 'a' }), 'spec.parentRefs[0].kind too-long'],
    ['an odd namespace', parents({ namespace: 'A', name: 'a' }), 'spec.parentRefs[0].namespace wrong-form'],
    ['an unknown method', match({ method: 'get' }), `${R0}.matches[0].method not-one-of`],
    ['an unknown type of path', path('/a', 'Glob'), `${R0}.matches[0].path.type not-one-of`],
    [
      'an unknown type of header match',
      match({ headers: [{ name: 'a', value: 'b', type: 'Prefix' }] }),
      `${R0}.matches[0].headers[0].type not-one-of`,
    ],
    [
      'a header name with a colon',
      match({ headers: [{ name: ':path', value: 'b' }] }),
      `${R0}.matches[0].headers[0].name wrong-form`,
    ],
    [
      'an empty header value',
      match({ headers: [{ name: 'a', value: '' }] }),
      `${R0}.matches[0].headers[0].value required`,
    ],
    [
      'a header value of 4,097',
      match({ headers: [{ name: 'a', value: text(4_097) }] }),
      `${R0}.matches[0].headers[0].value too-long`,
    ],
    ['a path of 1,025', path(`/${text(1_024)}`), `${R0}.matches[0].path.value too-long`],
    ...['a', '', '/a//b', '/a/./b', '/a/../b', '/a%2fb', '/a%2Fb', '/a#b', '/a/.', '/a/..', '/a b', '/a%zz'].map(
      (value): [string, object, string] => [`path "${value}"`, path(value), `${R0}.matches[0].path.value wrong-form`],
    ),
    ['lookaround (RE2 has none)', path('/(?=a)b', 'RegularExpression'), `${R0}.matches[0].path.value wrong-form`],
    [
      'an expression that repeats too often',
      path('/(a{900}){900}', 'RegularExpression'),
      `${R0}.matches[0].path.value wrong-form`,
    ],
    [
      'expressions of 4,097 characters',
      http({ matches: many(5, () => ({ path: { type: 'RegularExpression', value: text(820) } })) }),
      `${R0}.matches too-large`,
    ],
    ['an unknown filter', filter({ type: 'CORS' }), `${R0}.filters[0].type not-one-of`],
    ['a filter without its field', filter({ type: 'URLRewrite' }), `${R0}.filters[0].urlRewrite required`],
    [
      "a filter with another's field",
      filter({ ...rewrite({}), requestMirror: { backendRef: { name: 'a' } } }),
      `${R0}.filters[0].requestMirror invalid`,
    ],
    ['a filter twice', http({ filters: [rewrite({}), rewrite({})] }), `${R0}.filters[1] not-allowed`],
    ['redirect beside rewrite', http({ filters: [redirect({}), rewrite({})] }), `${R0}.filters[1] not-allowed`],
    ['redirect with backends', filter(redirect({}), { backendRefs: [{ name: 'a' }] }), `${R0}.backendRefs not-allowed`],
    [
      'ReplacePrefixMatch with an exact path',
      filter(redirect({ path: prefixPath }), { matches: [{ path: { type: 'Exact', value: '/a' } }] }),
      `${R0}.filters[0].requestRedirect.path.type not-allowed`,
    ],
    [
      'ReplacePrefixMatch with two matches',
      filter(rewrite({ path: prefixPath }), { matches: [{}, {}] }),
      `${R0}.filters[0].urlRewrite.path.type not-allowed`,
    ],
    [
      'a new path without its field',
      filter(rewrite({ path: { type: 'ReplaceFullPath' } })),
      `${R0}.filters[0].urlRewrite.path.replaceFullPath required`,
    ],
    [
      'a mirror of one backend',
      http({ backendRefs: [{ name: 'a', filters: [mirror({ backendRef: { name: 'b' } })] }] }),
      `${R0}.backendRefs[0].filters[0].type invalid`,
    ],
    ['status 304', filter(redirect({ statusCode: 304 })), `${R0}.filters[0].requestRedirect.statusCode not-one-of`],
    ['scheme ftp', filter(redirect({ scheme: 'ftp' })), `${R0}.filters[0].requestRedirect.scheme not-one-of`],
    [
      'a wildcard to redirect to',
      filter(redirect({ hostname: '*.a' })),
      `${R0}.filters[0].requestRedirect.hostname wrong-form`,
    ],
    [
      'two actions on a header',
      filter(headers({ set: [{ name: 'A', value: '1' }], remove: ['a'] })),
      `${R0}.filters[0].requestHeaderModifier.remove[0] not-unique`,
    ],
    [
      'a mirror of 101 percent',
      filter(mirror({ backendRef: { name: 'a' }, percent: 101 })),
      `${R0}.filters[0].requestMirror.percent out-of-range`,
    ],
    [
      'percent and fraction',
      filter(mirror({ backendRef: { name: 'a' }, percent: 1, fraction: { numerator: 1 } })),
      `${R0}.filters[0].requestMirror.fraction invalid`,
    ],
    [
      'a fraction above one',
      filter(mirror({ backendRef: { name: 'a' }, fraction: { numerator: 101 } })),
      `${R0}.filters[0].requestMirror.fraction out-of-range`,
    ],
    ['an odd time-out', http({ timeouts: { request: '1d' } }), `${R0}.timeouts.request wrong-form`],
    [
      'a longer backend time-out',
      http({ timeouts: { request: '1s', backendRequest: '2s' } }),
      `${R0}.timeouts.backendRequest out-of-range`,
    ],
    ['two rules of a name', { rules: [{ name: 'a' }, { name: 'a' }] }, 'spec.rules[1].name not-unique'],
    ['one object twice (T002-47)', parents({ name: 'a' }, { name: 'a' }), 'spec.parentRefs[1] not-unique'],
    [
      'one object twice, once whole (T002-47)',
      parents({ name: 'a', port: 80 }, { name: 'a' }),
      'spec.parentRefs[1] not-unique',
    ],
  ])('%s', (_, spec, want) => {
    expect(violations(HTTPRoute, spec)).toEqual([want]);
  });
});

describe('GRPCRoute refuses', () => {
  const call = (method: object) => match({ method });
  it.each<[string, object, string]>([
    ['an empty method', call({}), `${R0}.matches[0].method required`],
    ['an odd service', call({ service: 'a/b' }), `${R0}.matches[0].method.service wrong-form`],
    ['an odd method', call({ method: 'a.b' }), `${R0}.matches[0].method.method wrong-form`],
    ['an unknown type', call({ type: 'Prefix', service: 'a' }), `${R0}.matches[0].method.type not-one-of`],
    ['lookaround', call({ type: 'RegularExpression', service: '(?!a)' }), `${R0}.matches[0].method.service wrong-form`],
    ['a redirect', filter(redirect({})), `${R0}.filters[0].type not-one-of`],
    ['a path', path('/'), `${R0}.matches[0].path unknown-field`],
  ])('%s', (_, spec, want) => {
    expect(violations(GRPCRoute, spec)).toContain(want);
  });
});

describe.each([TLSRoute, TCPRoute, UDPRoute].map((kind): [string, Kind] => [kind.name, kind]))('%s', (_, kind) => {
  const backendRefs = [{ name: 'a', port: 80, weight: 0 }];
  it('takes one rule of 16 backends', () => {
    expect(violations(kind, { rules: [{ name: 'a', backendRefs: many(16, () => backendRefs[0]) }] })).toEqual([]);
  });

  it.each<[object, string]>([
    [{}, 'spec.rules required'],
    [{ rules: [] }, 'spec.rules too-few'],
    [{ rules: [{ backendRefs }, { backendRefs }] }, 'spec.rules too-many'],
    [{ rules: [{ backendRefs: [] }] }, `${R0}.backendRefs too-few`],
    [{ rules: [{ backendRefs: many(17, () => backendRefs[0]) }] }, `${R0}.backendRefs too-many`],
    [{ rules: [{ backendRefs, matches: [] }] }, `${R0}.matches unknown-field`],
    [{ ...parents({ name: 'a' }, { name: 'a' }), rules: [{ backendRefs }] }, 'spec.parentRefs[1] not-unique'],
  ])('refuses %j', (spec, want) => {
    expect(violations(kind, spec)).toEqual([want]);
  });
});

it('T002-33: TLSRoute may have no hostnames, and a route to a service is warned of them', () => {
  const rules = [{ backendRefs: [{ name: 'a' }] }];
  expect(violations(TLSRoute, { rules })).toEqual([]);
  const spec = { hostnames: ['a.example'], ...parents({ kind: 'Service', name: 'a' }), rules };
  expect([HTTPRoute, TLSRoute, GRPCRoute].map((kind) => kind.warnings('a', spec).length)).toEqual([1, 1, 1]);
  expect(HTTPRoute.warnings('a', { ...spec, ...parents({ name: 'a' }) })).toEqual([]);
});

describe('Gateway', () => {
  const listener = (more: object = {}) => ({ name: 'a', port: 80, protocol: 'HTTP', ...more });
  const gateway = (...listeners: object[]) => ({ gatewayClassName: 'edge', listeners });
  const L0 = 'spec.listeners[0]';
  const certificateRefs = [{ name: 'cert' }];

  it.each<[string, object]>([
    ['64 listeners', gateway(...many(64, (i) => listener({ name: `l${i}`, port: i + 1 })))],
    ['one port for two hosts', gateway(listener({ hostname: 'a.b' }), listener({ name: 'b', hostname: '*.c' }))],
    ['HTTPS', gateway(listener({ protocol: 'HTTPS', tls: { certificateRefs } }))],
    ['TLS passed through', gateway(listener({ protocol: 'TLS', tls: { mode: 'Passthrough' } }))],
    [
      'allowedRoutes',
      gateway(
        listener({ allowedRoutes: { namespaces: { from: 'Selector', selector: {} }, kinds: [{ kind: 'HTTPRoute' }] } }),
      ),
    ],
  ])('takes %s', (_, spec) => {
    expect(violations(Gateway, spec)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no listener', gateway(), 'spec.listeners too-few'],
    ['65 listeners', gateway(...many(65, (i) => listener({ name: `l${i}`, port: i + 1 }))), 'spec.listeners too-many'],
    ['an unknown protocol', gateway(listener({ protocol: 'SCTP' })), `${L0}.protocol not-one-of`],
    ['a name twice', gateway(listener(), listener({ port: 81 })), 'spec.listeners[1].name not-unique'],
    ['a place twice', gateway(listener(), listener({ name: 'b' })), 'spec.listeners[1] not-unique'],
    ['a hostname with TCP', gateway(listener({ protocol: 'TCP', hostname: 'a' })), `${L0}.hostname invalid`],
    ['tls with HTTP', gateway(listener({ tls: {} })), `${L0}.tls invalid`],
    ['TLS without tls', gateway(listener({ protocol: 'TLS' })), `${L0}.tls required`],
    ['TLS without mode', gateway(listener({ protocol: 'TLS', tls: { certificateRefs } })), `${L0}.tls.mode required`],
    [
      'HTTPS passed through',
      gateway(listener({ protocol: 'HTTPS', tls: { mode: 'Passthrough' } })),
      `${L0}.tls.mode invalid`,
    ],
    ['no certificate', gateway(listener({ protocol: 'HTTPS', tls: {} })), `${L0}.tls.certificateRefs too-few`],
    [
      'no selector',
      gateway(listener({ allowedRoutes: { namespaces: { from: 'Selector' } } })),
      `${L0}.allowedRoutes.namespaces.selector required`,
    ],
    [
      '9 kinds',
      gateway(listener({ allowedRoutes: { kinds: many(9, () => ({ kind: 'A' })) } })),
      `${L0}.allowedRoutes.kinds too-many`,
    ],
  ])('refuses %s', (_, spec, want) => {
    expect(violations(Gateway, spec)).toEqual([want]);
  });
});

describe('ReferenceGrant', () => {
  const from = [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'edge' }];
  const to = [{ group: '', kind: 'Service', name: 'foo' }];

  it.each<[object, string[]]>([
    [{ from, to }, []],
    [{ from: [], to }, ['spec.from too-few']],
    [{ from, to: [] }, ['spec.to too-few']],
    [{ from: many(17, () => from[0]), to }, ['spec.from too-many']],
    [{ from, to: many(17, () => to[0]) }, ['spec.to too-many']],
    [{ from: [{ kind: 'HTTPRoute', namespace: 'edge' }], to }, ['spec.from[0].group required']],
    [{ from, to: [{ group: '', kind: '1' }] }, ['spec.to[0].kind wrong-form']],
  ])('%j: %j', (spec, want) => {
    expect(violations(ReferenceGrant, spec)).toEqual(want);
  });
});

it('who applies a UDPRoute is warned that no proxy obeys it', () => {
  const spec = { rules: [{ backendRefs: [{ name: 'a', port: 53 }] }] };
  expect([UDPRoute, TCPRoute].map((kind) => kind.warnings('a', spec).length)).toEqual([1, 0]);
});
