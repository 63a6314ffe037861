import { performance } from 'node:perf_hooks';
import { AppMeshTable, type VirtualSource } from '@causeway/appmesh';
import { identityKey, type Identity } from '@causeway/resources';
import { numberSetting, report } from './support/report';

/**
 * Measures the cost of compiling App Mesh: 1,000 nodes with two Dataplanes each, 1,000 services, 500 routers from nothing, all of it read;
 * then one changed weight, one changed node and one new Dataplane at a time, each read. Goals: ≤ 1 s from nothing, ≤ 2 ms a change
 * (ADR 22). Prints one JSON line. BENCH_NODES (1000), BENCH_SERVICES (1000), BENCH_ROUTERS (500).
 */
const NODES = numberSetting('BENCH_NODES', 1_000);
const SERVICES = numberSetting('BENCH_SERVICES', 1_000);
const ROUTERS = numberSetting('BENCH_ROUTERS', 500);
const CHANGES = numberSetting('BENCH_CHANGES', 1_000);

const id = (kind: string, name: string): Identity => ({ kind, mesh: 'default', zone: '', namespace: 'n', name });
const portMapping = { port: 8080, protocol: 'http' } as const;

function node(i: number, limit = 5): VirtualSource {
  const backends = [0, 1, 2].map((n) => ({
    virtualService: { virtualServiceRef: { name: `s${(i + n) % SERVICES}` } },
  }));
  const listeners = [{ portMapping, outlierDetection: { maxServerErrors: limit } }];
  const spec = { podSelector: { matchLabels: { team: 't', app: `a${i}` } }, listeners, backends };
  return { kind: 'VirtualNode', id: id('VirtualNode', `v${i}`), creationOrder: i + 1, generation: 1, spec };
}

function router(i: number, weight = 90): VirtualSource {
  const routes = ['/a', '/b', '/'].map((prefix, r) => ({
    name: `r${r}`,
    http: {
      match: { prefix, headers: [{ name: 'version', match: { exact: 'one' } }] },
      action: {
        weightedTargets: [0, 1].map((n) => ({
          virtualNodeRef: { name: `v${(2 * i + n) % NODES}` },
          weight: n === 0 ? weight : 10,
        })),
      },
      timeout: { perRequest: { unit: 's' as const, value: 15 }, idle: { unit: 's' as const, value: 60 } },
      retryPolicy: { maxRetries: 2, httpRetryEvents: ['gateway-error'] },
    },
  }));
  const spec = { listeners: [{ portMapping }], routes };
  return { kind: 'VirtualRouter', id: id('VirtualRouter', `r${i}`), creationOrder: i + 1, generation: 1, spec };
}

function service(i: number): VirtualSource {
  const provider =
    i % 2 === 0
      ? { virtualRouter: { virtualRouterRef: { name: `r${(i / 2) % ROUTERS}` } } }
      : { virtualNode: { virtualNodeRef: { name: `v${i % NODES}` } } };
  return {
    kind: 'VirtualService',
    id: id('VirtualService', `s${i}`),
    creationOrder: i + 1,
    generation: 1,
    spec: { provider },
  };
}

const member = (i: number, n: number) => ({
  id: { ...id('Dataplane', `d${i}-${n}`), zone: 'east' },
  labels: { team: 't', app: `a${i}`, instance: `${n}` },
});

/** Reads the objects that a change affects, as a proxy's user does; returns how many objects were generated. */
function read(table: AppMeshTable, keys: Iterable<string>): number {
  let objects = 0;
  for (const key of keys) {
    const compiled = table.compile(key);
    objects += (compiled?.rules.length ?? 0) + (compiled?.service ? 1 : 0);
  }
  return objects;
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

function quantiles(times: readonly number[]): { readonly p50: number; readonly p99: number; readonly max: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q: number): number => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** `cpu`: ms of CPU a change on average, garbage collection included; what else runs on the machine does not count. */
function changes(
  table: AppMeshTable,
  change: (n: number) => ReadonlySet<string>,
): ReturnType<typeof quantiles> & { readonly cpu: number } {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (let n = 0; n < CHANGES; n += 1) {
    const begun = performance.now();
    if (read(table, change(n)) === 0) throw new Error('a change touched nothing');
    times.push(performance.now() - begun);
  }
  const { user, system } = process.cpuUsage(before);
  return { ...quantiles(times), cpu: rounded((user + system) / 1_000 / CHANGES) };
}

function main(): void {
  const sources = [
    ...Array.from({ length: NODES }, (_, i) => node(i)),
    ...Array.from({ length: ROUTERS }, (_, i) => router(i)),
    ...Array.from({ length: SERVICES }, (_, i) => service(i)),
  ];
  const members = Array.from({ length: 2 * NODES }, (_, i) => member(i >> 1, i % 2));
  const started = performance.now();
  const table = new AppMeshTable();
  table.batch(() => {
    for (const one of sources) table.put(one);
    for (const one of members) table.putMember(one);
  });
  const objects = read(table, table.keys());
  const fromNothing = performance.now() - started;
  const place = (n: number, of: number): number => (n * 7919) % of;
  const oneWeight = changes(table, (n) => table.put(router(place(n, ROUTERS), n + 1)).sources);
  const oneNode = changes(table, (n) => table.put(node(place(n, NODES), n + 1)).sources);
  const oneMember = changes(table, (n) => table.putMember(member(place(n, NODES), n + 2)).sources);
  const last = table.compile(identityKey(id('VirtualNode', `v${place(CHANGES - 1, NODES)}`)));
  if (last === undefined || last.members < 3) throw new Error('the last Dataplane is not selected');
  globalThis.gc?.();
  report('app-mesh', {
    nodes: NODES,
    services: SERVICES,
    routers: ROUTERS,
    dataplanes: members.length,
    objects,
    from_nothing_ms: rounded(fromNothing),
    from_nothing_goal_ms: 1_000,
    one_change_ms: { weight: oneWeight, node: oneNode, dataplane: oneMember },
    one_change_goal_ms: 2,
    heap_mb: Math.round(process.memoryUsage().heapUsed / 1e6),
  });
}

main();
