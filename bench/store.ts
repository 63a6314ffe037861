import { performance } from 'node:perf_hooks';
import { silentLogger, systemClock } from '@causeway/runtime';
import type { Identity } from '@causeway/resources';
import { auditSource, followStore, ResourceIndex, type PutChange, type ResourceStore } from '@causeway/store';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase } from '../test/support/postgres';
import { benchServices } from './support/services';

/**
 * A store in Postgres: single writes one after the other and side by side, batches of 10,000, reads, the way of a
 * change to 100 watchers, and the index of 100,000 resources (docs/design.md §8). Prints one JSON line.
 */
const RESOURCES = Number(process.env['BENCH_RESOURCES'] ?? 100_000);
const TRIES = Number(process.env['BENCH_TRIES'] ?? 500);
const WATCHERS = 100;
const AUDIT_TURNS = Number(process.env['BENCH_AUDIT_TURNS'] ?? 10);
const BATCH = 10_000;

function id(n: number, kind = 'MeshService'): Identity {
  return { kind, mesh: 'default', zone: `zone-${n % 10}`, namespace: 'default', name: `service-${n}` };
}

function put(n: number, turn: number, kind?: string): PutChange {
  const own = id(n, kind);
  const labels = {
    'kuma.io/display-name': own.name,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': own.zone,
    'kuma.io/origin': 'zone',
    team: `team-${n % 50}`,
  };
  const ports = [{ port: 80, targetPort: 8080, appProtocol: 'http' }];
  const selector = { dataplaneTags: { 'kuma.io/service': own.name } };
  return { type: 'put', id: own, expect: 'any', labels, spec: { ports, selector, turn } };
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function spread(times: number[]): { readonly p50: number; readonly p99: number } {
  times.sort((a, b) => a - b);
  const at = (share: number): number => round(times[Math.floor((times.length - 1) * share)] ?? 0);
  return { p50: at(0.5), p99: at(0.99) };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function oneByOne(
  work: (n: number) => Promise<unknown>,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const times: number[] = [];
  for (let n = 0; n < TRIES; n++) times.push(await timed(() => work(n)));
  return spread(times);
}

/** Single writes a second of 16 writers. */
async function sideBySide(store: ResourceStore, change: (n: number) => PutChange): Promise<number> {
  const ms = await timed(() =>
    Promise.all(
      Array.from({ length: 16 }, async (_, writer) => {
        for (let n = writer; n < TRIES; n += 16) await store.write({ changes: [change(n)], onRefusal: 'abort' });
      }),
    ),
  );
  return Math.round((TRIES / ms) * 1_000);
}

const SOURCE = auditSource({
  user: 'anna',
  groups: ['payments'],
  recognizedBy: 'user-token',
  tokenId: '7b1ce6d2-51c5-4f39-8d0e-7f1c6ab1b3b0',
  address: '192.0.2.1',
  via: 'REST',
  userAgent: 'causeway/0.1.0 (linux; x64) node/20',
});

/** Single writes without and with an entry of the audit log, in turns; the medians. */
async function auditCost(store: ResourceStore): Promise<Record<string, number>> {
  const ways = [{}, { audit: SOURCE }];
  const [one, many]: [number[][], number[][]] = [
    [[], []],
    [[], []],
  ];
  for (let turn = 0; turn < AUDIT_TURNS; turn++) {
    // The way that begins changes with each turn.
    for (const way of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const change = (n: number): PutChange => ({ ...put(n, 10 + turn * 2 + way, 'Audited'), ...ways[way] });
      one[way]?.push((await oneByOne((n) => store.write({ changes: [change(n)], onRefusal: 'abort' }))).p50);
      many[way]?.push(await sideBySide(store, (n) => ({ ...change(n), labels: { turn: String(turn * 2 + way) } })));
    }
  }
  const median = (values: number[] = []): number => spread(values).p50;
  return {
    turns: AUDIT_TURNS,
    without_p50_ms: median(one[0]),
    with_p50_ms: median(one[1]),
    without_per_second: median(many[0]),
    with_per_second: median(many[1]),
  };
}

/** From the answer of a write to the last of the watchers that has seen it. */
async function fanOut(store: ResourceStore): Promise<{ readonly p50: number; readonly p99: number }> {
  const ended = new AbortController();
  const head = await store.head();
  let [wanted, missing] = [Infinity, 0];
  let allSeen = (): void => undefined;
  const watchers = Array.from({ length: WATCHERS }, async () => {
    for await (const { revision } of store.watch(head, ended.signal))
      if (revision >= wanted && --missing === 0) allSeen();
  });
  const times: number[] = [];
  for (let n = 0; n < 100; n++) {
    [wanted, missing] = [(await store.head()).revision + 1, WATCHERS];
    const seen = new Promise<void>((resolve) => (allSeen = resolve));
    await store.write({ changes: [put(n, 3, 'Fan')], onRefusal: 'abort' });
    times.push(await timed(() => seen));
  }
  ended.abort();
  await Promise.all(watchers);
  return spread(times);
}

/** Loads everything; memory is what index and resources take together. */
async function loadIndex(store: ResourceStore): Promise<Record<string, number>> {
  const before = heap();
  const index = new ResourceIndex();
  const ended = new AbortController();
  let following: Promise<void> = Promise.resolve();
  const load = await timed(async () => {
    following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: ended.signal });
    await index.reached(await store.head());
  });
  const bytes = heap() - before;
  const firstLabel = await timed(() => [...index.withLabel('MeshService', 'team', 'team-7')]);
  const nextLabel = await timed(() => [...index.withLabel('MeshService', 'team', 'team-8')]);
  const labelBytes = heap() - before - bytes;
  ended.abort();
  await following;
  const size = index.size;
  return {
    resources: size,
    load_ms: Math.round(load),
    target_ms: 5_000,
    bytes_a_resource: Math.round(bytes / size),
    label_bytes_a_resource: Math.round(labelBytes / size),
    first_label_ms: round(firstLabel),
    next_label_ms: round(nextLabel),
  };
}

async function batches(store: ResourceStore): Promise<Record<string, number>> {
  const changes = (turn: number): PutChange[] => Array.from({ length: BATCH }, (_, n) => put(n, turn));
  const create = await timed(() => store.write({ changes: changes(1), onRefusal: 'abort' }));
  const update = await timed(() => store.write({ changes: changes(2), onRefusal: 'abort' }));
  const pieces = await timed(() => store.write({ changes: changes(3), onRefusal: 'skip' }));
  const same = await timed(() => store.write({ changes: changes(3), onRefusal: 'skip' }));
  const [create_ms, update_ms, pieces_ms, unchanged_ms] = [create, update, pieces, same].map(Math.round);
  return {
    rows: BATCH,
    target_ms: 1_000,
    create_ms: create_ms ?? 0,
    update_ms: update_ms ?? 0,
    pieces_ms: pieces_ms ?? 0,
    unchanged_ms: unchanged_ms ?? 0,
  };
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const backend = await createPostgresBackend({ url: database.url });
  const { store } = backend;
  const batch = await batches(store);
  const single = await oneByOne((n) => store.write({ changes: [put(n, 1, 'Single')], onRefusal: 'abort' }));
  const writes_per_second = await sideBySide(store, (n) => put(n, 2, 'Side'));
  const audit = await auditCost(store);
  const read = await oneByOne((n) => store.get(id(n)));
  const fan_out = await fanOut(store);
  for (let from = BATCH; from < RESOURCES; from += 5_000) {
    const changes = Array.from({ length: Math.min(5_000, RESOURCES - from) }, (_, n) => put(from + n, 1));
    await store.write({ changes, onRefusal: 'skip' });
  }
  const index = await loadIndex(store);
  const figures = {
    bench: 'store',
    batch,
    single_write_ms: single,
    writes_per_second,
    audit,
    read_ms: read,
    watchers: WATCHERS,
    fan_out_ms: fan_out,
    index,
  };
  console.log(JSON.stringify(figures));
  await backend.close();
  await database.drop();
  await stopServices();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
