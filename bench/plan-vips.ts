import { performance } from 'node:perf_hooks';
import { createZoneReconcilers } from '@causeway/controllers';
import { LoopRunner, type ControlLoop } from '@causeway/loops';
import { poolMetrics } from '@causeway/controllers/testing';
import { isJsonObject, type Identity } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change, type ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase } from '../test/support/postgres';
import { benchServices } from './support/services';

/**
 * 100,000 services without address in one zone: planned in memory, then allocated and stored in a real Postgres by the
 * runner of a leader (docs/design.md §8: ≤ 10 s), then one more service, then a new leader that only reads. Prints one JSON line.
 */
const SERVICES = Number(process.env['BENCH_SERVICES'] ?? 100_000);
const CP = { role: 'zone', zone: 'east', federated: true } as const;

function service(i: number): Change {
  const id: Identity = {
    kind: 'MeshService',
    mesh: 'default',
    zone: `zone-${i % 10}`,
    namespace: 'default',
    name: `s${i}`,
  };
  const labels = {
    'kuma.io/display-name': id.name,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': id.zone,
    'kuma.io/origin': 'global',
  };
  return {
    type: 'put',
    id,
    expect: 'absent',
    labels,
    spec: { ports: [{ port: 80, targetPort: 8080, appProtocol: 'http' }] },
  };
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) * 10) / 10;
}

function megabytes(): { readonly heap: number; readonly rss: number } {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: Math.round(heapUsed / 1e6), rss: Math.round(rss / 1e6) };
}

function vipLoop(): ControlLoop {
  const loop = createZoneReconcilers({ cp: CP, ranges: { MeshService: '241.0.0.0/8' } }).find(
    ({ name }) => name === 'vip',
  );
  if (!loop) throw new Error('a zone has no vip loop');
  return loop;
}

/** All plans, none of them written: as the loop sees it, every one is lost on the way. */
function planAll(index: ResourceIndex): void {
  const loop = vipLoop();
  loop.reset(index);
  while (loop.plan(Date.now(), performance.now())?.more === true);
}

function distinctVips(index: ResourceIndex): number {
  const ips = new Set<unknown>();
  for (const { status } of index.ofKind('MeshService')) if (isJsonObject(status?.['vip'])) ips.add(status['vip']['ip']);
  return ips.size;
}

async function settle(runner: LoopRunner): Promise<void> {
  while (await runner.step());
}

async function fill(store: ResourceStore): Promise<void> {
  for (let from = 0; from < SERVICES; from += 5_000) {
    const changes = Array.from({ length: Math.min(5_000, SERVICES - from) }, (_, i) => service(from + i));
    await store.write({ changes, onRefusal: 'skip' });
  }
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const ended = new AbortController();
  const backend = await createPostgresBackend({ url: database.url });
  const { store, lease } = backend;
  await fill(store);
  const index = new ResourceIndex();
  const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal });
  await index.reached((await store.head()).revision);
  const before = megabytes();
  const plan = await timed(() => planAll(index));

  const epoch = (await lease.takeOver(0, 'bench', 600_000)) ?? 0;
  const term = { epoch, holder: 'bench', signal: ended.signal };
  const options = { store, index, clock: systemClock, logger: silentLogger, term };
  const loop = vipLoop();
  const runner = new LoopRunner([loop], options);
  const stored = await timed(() => settle(runner));
  const after = megabytes();

  await store.write({ changes: [service(SERVICES)], onRefusal: 'abort' });
  await index.reached((await store.head()).revision);
  const oneMore = await timed(() => settle(runner));
  const next = new LoopRunner([vipLoop()], options);
  const takeOver = await timed(() => settle(next));

  const figures = {
    bench: 'plan-vips',
    services: SERVICES,
    plan_ms: plan,
    stored_ms: stored,
    target_ms: 10_000,
    one_more_ms: oneMore,
    take_over_ms: takeOver,
    distinct: distinctVips(index),
    used: poolMetrics([loop], Date.now())['MeshService']?.used,
    heap_mb: { before: before.heap, after: after.heap },
    rss_mb: after.rss,
  };
  console.log(JSON.stringify(figures));
  ended.abort();
  await following;
  await backend.close();
  await database.drop();
  await stopServices();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
