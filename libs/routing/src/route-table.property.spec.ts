import fc from 'fast-check';
import { identityKey, type Identity } from '@causeway/resources';
import { httpRequest } from '../../../test/support/routing-mesh';
import { parentStatuses } from './binding/route-status';
import { BindingTable } from './binding/binding-table';
import { routeKinds, type Route, type RouteKind, type RouteMatch, type RouteRule, type Service } from './model';
import { evaluate } from './requests/evaluate';
import type { HttpRequest } from './rules/request';

const NAMESPACES = ['a', 'b', 'c'];
const NAMES = ['x', 'y'];
const PORT_NUMBERS = [80, 81];
const PATHS = ['/', '/p', '/p/', '/p/q', '/pq', '/p/q/r'];

const id = (kind: string, namespace: string, name: string): Identity => ({
  kind,
  mesh: 'default',
  zone: '',
  namespace,
  name,
});

const value = fc.constantFrom('1', '2');
const path = fc.record({
  type: fc.constantFrom('Exact', 'PathPrefix', 'RegularExpression'),
  value: fc.constantFrom(...PATHS),
});
const entries = fc.array(fc.record({ name: fc.constantFrom('h', 'H', 'k'), value }), { maxLength: 2 });
const match: fc.Arbitrary<RouteMatch> = fc.record(
  { path, headers: entries, queryParams: entries, method: fc.constantFrom('GET', 'PUT') },
  { requiredKeys: [] },
);
const grpcMatch: fc.Arbitrary<RouteMatch> = fc.record(
  { method: fc.record({ service: fc.constantFrom('p', 'q') }), headers: entries },
  { requiredKeys: [] },
);
const backend = fc.record({ name: fc.constantFrom(...NAMES, 'none'), namespace: fc.constantFrom('a', 'b') });
const rule = (of: fc.Arbitrary<RouteMatch>): fc.Arbitrary<RouteRule> =>
  fc.record(
    { matches: fc.array(of, { maxLength: 3 }), backendRefs: fc.tuple(backend) },
    { requiredKeys: ['backendRefs'] },
  );
const parent = fc.record(
  {
    kind: fc.constantFrom('Service', 'MeshService'),
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom('a', 'b'),
    port: fc.constantFrom(...PORT_NUMBERS, 99),
  },
  { requiredKeys: ['kind', 'name', 'namespace'] },
);
const route: fc.Arbitrary<Route> = fc
  .record({
    kind: fc.constantFrom<RouteKind>('HTTPRoute', 'HTTPRoute', 'HTTPRoute', 'GRPCRoute', 'TCPRoute', 'UDPRoute'),
    namespace: fc.constantFrom(...NAMESPACES),
    name: fc.constantFrom('r', 's', 't'),
    creationOrder: fc.integer({ min: 0, max: 3 }),
    parentRefs: fc.array(parent, { minLength: 1, maxLength: 2 }),
    implicit: fc.boolean(),
  })
  .chain(({ kind, namespace, name, creationOrder, parentRefs, implicit }) =>
    fc.array(rule(kind === 'GRPCRoute' ? grpcMatch : match), { minLength: 1, maxLength: 3 }).map((rules) => ({
      id: id(kind, namespace, name),
      creationOrder,
      generation: 1,
      implicit,
      spec: { parentRefs, rules },
    })),
  );
const service: fc.Arbitrary<Service> = fc.record({
  id: fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom(...NAMES)).map(([ns, name]) => id('MeshService', ns, name)),
  displayName: fc.constant(''),
  ports: fc.subarray(PORT_NUMBERS).map((ports) => ports.map((port) => ({ port }))),
  headless: fc.boolean(),
});
const asked = fc.record({
  from: fc.constantFrom(...NAMESPACES),
  namespace: fc.constantFrom('a', 'b'),
  name: fc.constantFrom(...NAMES),
  port: fc.constantFrom(...PORT_NUMBERS),
  path: fc.constantFrom(...PATHS),
  method: fc.constantFrom('GET', 'PUT', 'POST'),
  query: fc.constantFrom('', '?h=1', '?k=2&h=1'),
  headers: fc.constantFrom({}, { h: '1' }, { H: '2', k: '1' }, { 'content-type': 'application/grpc', h: '1' }),
});
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

const requestOf = (one: Asked): HttpRequest =>
  httpRequest({ ...one, url: one.path + one.query, headers: { ...one.headers } });

/** Returns the deciding rule by the text of the specification, with nothing prepared and nothing kept. */
function naive(routes: readonly Route[], frontend: Service, one: Asked): string {
  if (frontend.headless || !frontend.ports.some(({ port }) => port === one.port)) return 'implicit';
  const names = (r: Route): boolean =>
    (r.spec.parentRefs ?? []).some(
      (ref) =>
        ref.name === frontend.id.name &&
        ref.namespace === frontend.id.namespace &&
        (ref.port === undefined || ref.port === one.port),
    );
  const bound = routes.filter((r) => names(r) && r.id.kind !== 'UDPRoute');
  const of = (namespace: string): Route[] => bound.filter((r) => r.id.namespace === namespace);
  const all = of(one.from).length > 0 ? of(one.from) : of(frontend.id.namespace);
  const written = all.filter((r) => r.implicit !== true);
  const group = written.length > 0 ? written : all;
  const kind = routeKinds.find((known) => group.some((r) => r.id.kind === known));
  if (!kind) return 'implicit';
  const candidates = group.filter((r) => r.id.kind === kind);
  const age = (r: Route): number => r.creationOrder || Infinity;
  const older = (r: Route, s: Route): boolean =>
    age(r) < age(s) || (age(r) === age(s) && `${r.id.namespace}/${r.id.name}` < `${s.id.namespace}/${s.id.name}`);
  if (kind === 'TCPRoute') {
    const [first] = candidates.filter((r) => !candidates.some((s) => older(s, r)));
    return `${first?.id.name ?? ''} rule 0`;
  }
  const request = requestOf(one);
  let best: { r: Route; rule: number; rank: number[] } | undefined;
  for (const r of candidates) {
    (r.spec.rules ?? []).forEach(({ matches = [] }, i) => {
      for (const m of matches.length > 0 ? matches : [{}]) {
        const rank = naiveRank(kind, m, request);
        if (!rank) continue;
        const order = best ? compare(rank, best.rank) : 1;
        if (!best || order > 0 || (order === 0 && older(r, best.r))) best = { r, rule: i, rank };
      }
    });
  }
  return best ? `${best.r.id.name} rule ${best.rule}` : '404';
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((n, i) => n - (b[i] ?? 0)).find((difference) => difference !== 0) ?? 0;

function naiveRank(kind: RouteKind, m: RouteMatch, request: HttpRequest): number[] | undefined {
  const values = (pairs: readonly (readonly [string, string])[], name: string): string[] =>
    pairs.filter(([key]) => key === name).map(([, v]) => v);
  const headers = request.headers.map(([name, v]) => [name.toLowerCase(), v] as const);
  const wanted = new Map([...(m.headers ?? [])].reverse().map((h) => [h.name.toLowerCase(), h.value]));
  if (![...wanted].every(([name, v]) => values(headers, name)[0] === v)) return undefined;
  if (kind === 'GRPCRoute') {
    const { service: called } = typeof m.method === 'object' ? m.method : {};
    const grpc = request.method === 'POST' && values(headers, 'content-type').length > 0;
    const parts = request.path.split('/');
    if (!grpc || (called !== undefined && (parts.length !== 3 || parts[2] === '' || parts[1] !== called)))
      return undefined;
    return [called?.length ?? 0, 0, wanted.size];
  }
  const parameters = new Map([...(m.queryParams ?? [])].reverse().map((q) => [q.name, q.value]));
  if (![...parameters].every(([name, v]) => values(request.query, name)[0] === v)) return undefined;
  if (m.method !== undefined && m.method !== request.method) return undefined;
  const { type = 'PathPrefix', value: want = '/' } = m.path ?? {};
  const elements = (text: string): string => (text.endsWith('/') ? text : `${text}/`);
  const holds = type === 'PathPrefix' ? elements(request.path).startsWith(elements(want)) : request.path === want;
  if (!holds) return undefined;
  const rank = { Exact: 2, RegularExpression: 1, PathPrefix: 0 }[type] ?? 0;
  const length = type === 'PathPrefix' ? elements(want).length - 1 : 0;
  return [rank, length, m.method === undefined ? 0 : 1, wanted.size, parameters.size];
}

const named = (services: readonly Service[]): Service[] => [
  ...new Map(services.map((one) => [identityKey(one.id), { ...one, displayName: one.id.name }])).values(),
];
const latest = (routes: readonly Route[]): Route[] => [
  ...new Map(routes.map((one) => [identityKey(one.id), one])).values(),
];

function answerOf(table: BindingTable, frontend: Service, one: Asked): string {
  const known = table.frontend(frontend.id);
  if (!known) return 'implicit';
  const question = { client: { namespace: one.from }, frontend: known, port: one.port, request: requestOf(one) };
  const { binding, entry } = evaluate(table, question, () => true);
  if (!binding) return 'implicit';
  if (entry) return `${entry.route.id.name} rule ${entry.rule.index}`;
  return binding.kind === 'TCPRoute' ? `${binding.routes[0]?.id.name ?? ''} rule 0` : '404';
}

it('random routes and requests: the table decides as the specification read from above does', () => {
  fc.assert(
    fc.property(
      fc.array(service, { minLength: 1, maxLength: 4 }),
      fc.array(route, { maxLength: 8 }),
      fc.array(asked, { minLength: 1, maxLength: 10 }),
      (services, given, questions) => {
        const table = new BindingTable({ zone: '' });
        const routes = latest(given);
        for (const one of named(services)) table.putService(one);
        for (const one of routes) table.putRoute(one);
        for (const one of questions) {
          const frontend = named(services).find(
            ({ id: { namespace, name } }) => namespace === one.namespace && name === one.name,
          );
          if (frontend) expect(answerOf(table, frontend, one)).toBe(naive(routes, frontend, one));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

type Step = { put: Route } | { drop: Route } | { service: Service } | { gone: Service };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: route.map((put) => ({ put })) },
  { weight: 2, arbitrary: route.map((drop) => ({ drop })) },
  { weight: 2, arbitrary: service.map((one) => ({ service: one })) },
  { weight: 1, arbitrary: service.map((gone) => ({ gone })) },
);

/** Returns the contents of a table: each binding in words, and each status. */
function whole(table: BindingTable, services: readonly Service[], routes: readonly Route[]): Map<string, string> {
  const said = new Map<string, string>();
  for (const one of services) {
    const frontend = table.frontend(one.id);
    for (const group of frontend ? table.listGroups(frontend) : []) {
      const bindings = frontend ? [...table.group(frontend, group).bindings] : [];
      const words = bindings
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([port, { kind, entries: all, routes: bound }]) => [
          port,
          kind,
          bound.map(({ spec }) => spec),
          all.length,
        ]);
      said.set(`${frontend?.key ?? ''} ${group}`, JSON.stringify([frontend?.ports, words]));
    }
  }
  for (const one of routes) {
    const known = table.route(identityKey(one.id));
    said.set(identityKey(one.id), JSON.stringify(known ? [known.spec, parentStatuses(table, known)] : []));
  }
  return said;
}

it('after random changes a table is as one built from nothing, and what changed had been announced', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
      const table = new BindingTable({ zone: '' });
      const services = new Map<string, Service>();
      const routes = new Map<string, Route>();
      let before = new Map<string, string>();
      for (const one of steps) {
        const affected =
          'put' in one
            ? (routes.set(identityKey(one.put.id), one.put), table.putRoute(one.put))
            : 'drop' in one
              ? (routes.delete(identityKey(one.drop.id)), table.removeRoute(one.drop.id))
              : 'gone' in one
                ? (services.delete(identityKey(one.gone.id)), table.removeTarget(one.gone.id))
                : keep(one.service);
        const announced = new Set([
          ...affected.routes,
          ...affected.groups.map(({ frontend, group }) => `${frontend} ${group}`),
        ]);
        const after = whole(table, [...services.values()], [...routes.values()]);
        const changed = [...after].filter(([key, text]) => before.get(key) !== text).map(([key]) => key);
        expect(changed.filter((key) => !announced.has(key))).toEqual([]);
        before = after;
      }
      const fresh = new BindingTable({ zone: '' });
      for (const one of [...routes.values()].reverse()) fresh.putRoute(one);
      for (const one of [...services.values()].reverse()) fresh.putService(one);
      expect(whole(fresh, [...services.values()], [...routes.values()])).toEqual(before);

      function keep(given: Service) {
        const named = { ...given, displayName: given.id.name };
        services.set(identityKey(named.id), named);
        return table.putService(named);
      }
    }),
    { numRuns: 500 },
  );
});
