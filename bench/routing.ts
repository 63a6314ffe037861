import { performance } from 'node:perf_hooks';
import { BindingTable, type ChangeSet, type Route, PRODUCER } from '@causeway/routing';
import { evaluate } from '@causeway/routing/testing';
import { identityKey, type Identity } from '@causeway/resources';
import { numberSetting, report } from './support/report';

/**
 * Measures the cost of binding routes: a table of 10,000 HTTPRoutes on 10,000 services from nothing, all of it read, then one changed weight at a
 * time (its group bound and sorted again, one request evaluated), then a route of 16 × 64 matches on 1,000 services. Goals:
 * ≤ 2 s from nothing, ≤ 1 ms a change (ADR 27). Prints one JSON line. BENCH_ROUTES (10000), BENCH_SERVICES (10000).
 */
const ROUTES = numberSetting('BENCH_ROUTES', 10_000);
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const CHANGES = numberSetting('BENCH_CHANGES', 1_000);
const MATCHES = 64;
const RULES = 16;
const WIDE = Math.min(1_000, SERVICES);

const id = (kind: string, name: string): Identity => ({ kind, mesh: 'default', zone: '', namespace: 'n', name });

function putServices(table: BindingTable): void {
  for (let i = 0; i < SERVICES; i += 1) {
    const ports = [{ port: 80 }, { port: 81 }];
    table.putService({ id: id('MeshService', `s${i}`), displayName: `s${i}`, ports, headless: false });
  }
}

function route(i: number, weight: number): Route {
  const backendRefs = [0, 1].map((n) => ({ name: `s${(i + n) % SERVICES}`, port: 80, weight: n === 0 ? weight : 10 }));
  const rules = ['/a', '/b', '/'].map((value) => ({
    matches: [
      { path: { type: 'PathPrefix', value }, headers: [{ name: 'version', value: 'one' }] },
      { path: { value } },
    ],
    backendRefs,
  }));
  const parentRefs = [{ kind: 'Service', name: `s${i % SERVICES}` }];
  return { id: id('HTTPRoute', `r${i}`), creationOrder: i + 1, generation: 1, spec: { parentRefs, rules } };
}

/** Reads what a change made stale, as its users do; returns how many matches there were. */
function read(table: BindingTable, { groups }: ChangeSet, known: ReadonlyMap<string, Identity>): number {
  let matches = 0;
  for (const { frontend: key, group } of groups) {
    const service = known.get(key);
    const frontend = service && table.frontend(service);
    if (!frontend) continue;
    for (const { entries } of table.group(frontend, group).bindings.values()) matches += entries.length;
  }
  return matches;
}

function quantile(times: readonly number[], q: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0);
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

function changeWeights(table: BindingTable, ids: readonly Identity[], known: ReadonlyMap<string, Identity>): number[] {
  const times: number[] = [];
  for (let n = 0; n < CHANGES; n += 1) {
    const i = (n * 7919) % ROUTES;
    const begun = performance.now();
    read(table, table.putRoute(route(i, n + 1)), known);
    const frontend = table.frontend(ids[i % SERVICES] ?? id('MeshService', 's0'));
    if (!frontend) throw new Error('a service is missing');
    const request = {
      protocol: 'http',
      scheme: 'http',
      host: 'h',
      method: 'GET',
      path: '/a',
      query: [],
      headers: [],
    } as const;
    const { outcome } = evaluate(table, { client: { namespace: 'n' }, frontend, port: 80, request }, () => true);
    if (outcome.type !== 'routed' || outcome.shares[0]?.weight !== n + 1) throw new Error('the change is not in force');
    times.push(performance.now() - begun);
  }
  return times;
}

function putWideRoutes(table: BindingTable, known: ReadonlyMap<string, Identity>): number[] {
  const wide: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    const rules = Array.from({ length: RULES }, (_, r) => ({
      matches: Array.from({ length: MATCHES }, (_, m) => ({ path: { type: 'Exact', value: `/${r}/${m}/${n}` } })),
      backendRefs: [{ name: 's0', port: 80 }],
    }));
    const parentRefs = Array.from({ length: WIDE }, (_, i) => ({ kind: 'Service', name: `s${i}`, port: 80 }));
    const begun = performance.now();
    read(
      table,
      table.putRoute({ id: id('HTTPRoute', 'wide'), creationOrder: 1, generation: 1, spec: { parentRefs, rules } }),
      known,
    );
    wide.push(performance.now() - begun);
  }
  return wide;
}

function main(): void {
  const ids = Array.from({ length: SERVICES }, (_, i) => id('MeshService', `s${i}`));
  const known = new Map(ids.map((one) => [identityKey(one), one]));
  const started = performance.now();
  const table = new BindingTable({ zone: '' });
  putServices(table);
  for (let i = 0; i < ROUTES; i += 1) table.putRoute(route(i, 90));
  const all = {
    routes: [],
    frontends: [],
    groups: [...known.keys()].map((frontend) => ({ frontend, group: PRODUCER })),
  };
  const matches = read(table, all, known);
  const fromNothing = performance.now() - started;

  const times = changeWeights(table, ids, known);
  const wide = putWideRoutes(table, known);
  globalThis.gc?.();
  report('routing', {
    routes: ROUTES,
    services: SERVICES,
    matches,
    from_nothing_ms: rounded(fromNothing),
    from_nothing_goal_ms: 2_000,
    one_change_ms: { p50: quantile(times, 0.5), p99: quantile(times, 0.99), max: quantile(times, 1) },
    one_change_goal_ms: 1,
    wide_route: { matches: RULES * MATCHES, services: WIDE, ms: quantile(wide, 0.5) },
    heap_mb: Math.round(process.memoryUsage().heapUsed / 1e6),
  });
}

main();
