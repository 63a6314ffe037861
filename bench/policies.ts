import { performance } from 'node:perf_hooks';
import {
  CircuitBreakerPolicy,
  policyDefinition,
  PolicyTable,
  RetryPolicy,
  SHIPPED_GROUP,
  TimeoutPolicy,
  type PolicyChangeSet,
  type ShippedPolicy,
} from '@causeway/policies';
import type { Identity, JsonObject, ResourceKey } from '@causeway/resources';
import { BindingTable, type FrontendGroup } from '@causeway/routing';
import { numberSetting, report } from './support/report';

/**
 * Measures the cost of policies: a table of 10,000 services in 100 namespaces with 10,000 routes and 1,000 policies of three kinds from nothing, the
 * longest step of it, and the effective spec of each rule and each port read once. Then one change at a time, each with what it
 * touches read again: a policy on a service, a route, a service; a policy that comes and goes; and a policy on the whole mesh. Goals:
 * ≤ 3 s from nothing, ≤ 5 ms a change, ≤ 50 ms for the whole mesh's (ADR 25). Prints one JSON line. BENCH_SERVICES,
 * BENCH_ROUTES (10000), BENCH_POLICIES (1000), BENCH_CHANGES (500).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const ROUTES = numberSetting('BENCH_ROUTES', 10_000);
const POLICIES = numberSetting('BENCH_POLICIES', 1_000);
const CHANGES = numberSetting('BENCH_CHANGES', 500);
const NAMESPACES = 100;

const KINDS: readonly ShippedPolicy[] = [TimeoutPolicy, RetryPolicy, CircuitBreakerPolicy];
const id = (kind: string, name: string, namespace: string): Identity => ({
  kind,
  mesh: 'default',
  zone: '',
  namespace,
  name,
});
const namespaceOf = (i: number): string => `n${i % NAMESPACES}`;
const serviceOf = (i: number): Identity => id('MeshService', `s${i % SERVICES}`, namespaceOf(i % SERVICES));
const routeOf = (i: number): Identity => id('HTTPRoute', `r${i}`, namespaceOf(i % SERVICES));

/** The routes and policies of one zone; changes of routes are passed to the policies. */
class World {
  readonly routes = new BindingTable({ zone: '' });
  readonly table = new PolicyTable(this.routes);

  putService(i: number, version = 0): PolicyChangeSet {
    const service = serviceOf(i);
    const ports = [
      { port: 80, name: 'http' },
      { port: 81 + (version % 2), name: 'admin' },
    ];
    const affected = this.routes.putService({ id: service, displayName: service.name, ports, headless: false });
    return this.table.batch(() => {
      this.table.routesChanged(affected);
      this.table.putObject({ id: service, labels: {} });
    });
  }

  putRoute(i: number, version = 0): PolicyChangeSet {
    const rules = ['/a', '/'].map((value, n) => ({
      name: `${n === 0 ? 'some' : 'all'}${version}`,
      matches: [{ path: { type: 'PathPrefix', value } }],
      backendRefs: [{ kind: 'MeshService', name: serviceOf(i).name, port: 80 }],
    }));
    const spec = { parentRefs: [{ kind: 'MeshService', name: serviceOf(i).name }], rules };
    const affected = this.routes.putRoute({ id: routeOf(i), creationOrder: i + 1, generation: version, spec });
    return this.table.batch(() => {
      this.table.routesChanged(affected);
      this.table.putObject({ id: routeOf(i), labels: {} });
    });
  }

  /** One in 100 policies is for a Namespace, every second of the others for a service, the rest for a route where its kind has them. */
  putPolicy(i: number, version = 0): PolicyChangeSet {
    const kind = KINDS[i % KINDS.length]?.kind ?? '';
    const on = (i * 7919) % SERVICES;
    const isBackend = kind === CircuitBreakerPolicy.kind;
    const target =
      i % 100 === 0
        ? { kind: 'Namespace', name: namespaceOf(on) }
        : isBackend || i % 2 === 0
          ? { kind: 'MeshService', name: serviceOf(on).name }
          : { kind: 'HTTPRoute', name: routeOf(on % ROUTES).name };
    const policy = id(kind, `p${i}`, namespaceOf(on));
    return this.put(policy, { targetRefs: [target], ...specOf(kind, version) }, i + 2);
  }

  putMeshWide(version: number): PolicyChangeSet {
    const spec = specOf(TimeoutPolicy.kind, version);
    return this.put(
      id(TimeoutPolicy.kind, 'all', 'n0'),
      { targetRefs: [{ kind: 'Mesh', name: 'default' }], defaults: { ...spec, strategy: 'patch' } },
      1,
    );
  }

  put(policy: Identity, spec: JsonObject, creationOrder: number): PolicyChangeSet {
    return this.table.putPolicy({ id: policy, creationOrder, generation: 1, spec });
  }

  /** Reads the effective specs that a change may have changed, as proxies do; returns how many there are. */
  read({ rules, backends, meshes }: PolicyChangeSet): number {
    let found = 0;
    for (const { kind, mesh } of meshes) found += this.read(below(this, kind, mesh));
    for (const { kind, frontend: key, group } of rules) found += this.readRules(kind, key, group);
    for (const { kind, service: key } of backends) {
      const service = identityOf(key);
      for (const { port } of this.routes.frontend(service)?.ports ?? []) {
        if (this.table.effectiveOfBackend(kind, { service, port })) found += 1;
      }
    }
    return found;
  }

  private readRules(kind: string, key: ResourceKey, group: FrontendGroup): number {
    const frontend = this.routes.frontend(identityOf(key));
    if (!frontend) return 0;
    let found = 0;
    const { bindings } = this.routes.group(frontend, group);
    for (const { port } of frontend.ports) {
      const binding = bindings.get(`tcp/${port}`);
      const rules = binding?.routes.flatMap((route) =>
        route.rules.map(({ name }) => ({ route: route.id, rule: name })),
      );
      for (const rule of rules ?? [{}]) {
        const at = { frontend: frontend.id, port, group, ...rule };
        if (this.table.effectiveOfRule(kind, at)) found += 1;
      }
    }
    return found;
  }
}

function identityOf(key: string): Identity {
  const [kind = '', mesh = '', zone = '', namespace = '', name = ''] = key.split('/');
  return { kind, mesh, zone, namespace, name };
}

function specOf(kind: string, version: number): JsonObject {
  if (kind === TimeoutPolicy.kind) return { request: `${5 + (version % 50)}s` };
  if (kind === RetryPolicy.kind) return { attempts: 1 + (version % 9), on: ['5xx'] };
  return { limits: { connections: 100 + version } };
}

/** Fills the tables as a process does at its start; returns the longest step in ms. */
function fill(world: World): number {
  const { table } = world;
  table.fill(() => {
    for (const kind of KINDS) table.setDefinition(policyDefinition({ group: SHIPPED_GROUP, ...kind }));
  });
  for (let i = 0; i < SERVICES; i += 1) table.fill(() => void world.putService(i));
  for (let i = 0; i < ROUTES; i += 1) table.fill(() => void world.putRoute(i));
  table.fill(() => void world.putMeshWide(0));
  for (let i = 1; i < POLICIES; i += 1) table.fill(() => void world.putPolicy(i));
  let longest = 0;
  let begun = performance.now();
  for (const _ of table.derive()) {
    longest = Math.max(longest, performance.now() - begun);
    begun = performance.now();
  }
  return longest;
}

/** Returns the changes of a kind of policy below a mesh. */
function below({ routes }: World, kind: string, mesh: string): PolicyChangeSet {
  const frontends = [...routes.frontends()].filter(({ id: { mesh: of } }) => of === mesh).map(({ key }) => key);
  const isBackend = kind === CircuitBreakerPolicy.kind;
  return {
    rules: isBackend ? [] : frontends.map((frontend) => ({ kind, frontend, group: 'producer' })),
    backends: isBackend ? frontends.map((service) => ({ kind, service })) : [],
    meshes: [],
    policies: [],
  };
}

function all(): PolicyChangeSet {
  return { rules: [], backends: [], meshes: KINDS.map(({ kind }) => ({ kind, mesh: 'default' })), policies: [] };
}

function timed(changes: number, change: (n: number) => void): Record<'p50' | 'p99' | 'max', number> {
  const times = Array.from({ length: changes }, (_, n) => {
    const begun = performance.now();
    change(n);
    return performance.now() - begun;
  }).sort((a, b) => a - b);
  const at = (q: number): number => rounded(times[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

function main(): void {
  const world = new World();
  const started = performance.now();
  const used = process.cpuUsage();
  const longest = fill(world);
  const filled = performance.now() - started;
  const effective = world.read(all());
  const fromNothing = performance.now() - started;
  const cpu = process.cpuUsage(used);
  globalThis.gc?.();
  const heap = Math.round(process.memoryUsage().heapUsed / 1e6);
  const pick = (n: number): number => (n * 7919) % SERVICES;
  const policy = timed(CHANGES, (n) => world.read(world.putPolicy(1 + (n % (POLICIES - 1)), n)));
  const comesAndGoes = timed(CHANGES, (n) => {
    const one = POLICIES + 1 + (n % 97);
    world.read(world.putPolicy(one, n));
    const kind = KINDS[one % KINDS.length]?.kind ?? '';
    world.read(world.table.removePolicy(id(kind, `p${one}`, namespaceOf((one * 7919) % SERVICES))));
  });
  const route = timed(CHANGES, (n) => world.read(world.putRoute(pick(n) % ROUTES, n + 1)));
  const service = timed(CHANGES, (n) => world.read(world.putService(pick(n), n + 1)));
  const wideOnly = timed(20, (n) => world.putMeshWide(n + 1));
  const wideRead = timed(20, (n) => world.read(world.putMeshWide(n + 100)));
  report('policies', {
    services: SERVICES,
    routes: ROUTES,
    policies: POLICIES,
    effective,
    from_nothing_ms: rounded(fromNothing),
    from_nothing_goal_ms: 3_000,
    filled_ms: rounded(filled),
    from_nothing_cpu_ms: Math.round((cpu.user + cpu.system) / 1000),
    longest_step_ms: rounded(longest),
    one_change_ms: { policy, policy_comes_and_goes: comesAndGoes, route, service },
    one_change_goal_ms: 5,
    mesh_wide_ms: { change: wideOnly, change_and_read: wideRead },
    mesh_wide_goal_ms: 50,
    heap_mb: heap,
  });
}

main();
