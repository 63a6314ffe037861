import { fork } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connectApi, type ApiClient } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import { ADMIN_TOKEN } from '../test/support/admin-credential';
import { createTestDatabase } from '../test/support/postgres';
import { ProcessPlane } from '../test/support/process-plane';
import { until } from '../test/support/until';
import { cpuSeconds } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import type { ReadersAnswer, ReadersOrder, WatchersOf } from './support/watch-readers';

/**
 * One zone as a process: `get` and `apply` of one MeshService by gRPC beside REST, by one client and by 16 side by side, and
 * 1,000 watchers (half over gRPC and half over REST, then all over one of them) and one change: from sending it to the moment the
 * last of them has it. Prints one JSON line. BENCH_CALLS (2000), BENCH_WATCHERS (1000), BENCH_TRIES (50).
 */
const CALLS = numberSetting('BENCH_CALLS', 2_000);
const WATCHERS = numberSetting('BENCH_WATCHERS', 1_000);
const TRIES = numberSetting('BENCH_TRIES', 50);
const CLIENTS = 16;
const WATCHED = 'watched';

function service(name: string, port = 80): JsonObject {
  return { type: 'MeshService', mesh: 'default', name, spec: { ports: [{ port }] } };
}

async function write(api: ApiClient, document: JsonObject): Promise<void> {
  const { results } = await api.apply([document]);
  if (results[0]?.outcome !== 'created' && results[0]?.outcome !== 'updated') throw new Error(JSON.stringify(results));
}

/** Calls a second, and how long one takes. */
async function timed(clients: number, call: (n: number) => Promise<unknown>): Promise<object> {
  let next = 0;
  const times: number[] = [];
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (next < CALLS) {
      const start = performance.now();
      await call(next++);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  return { per_second: Math.round((CALLS * 1_000) / (performance.now() - began)), ...summary(times) };
}

async function calls(api: ApiClient, series: string): Promise<object> {
  const read = (): Promise<unknown> => api.get({ kind: 'MeshService', name: 'first' });
  return {
    get: await timed(1, read),
    get_of_16: await timed(CLIENTS, read),
    apply: await timed(1, (n) => write(api, service(`${series}-${n}`))),
    apply_of_16: await timed(CLIENTS, (n) => write(api, service(`${series}-side-${n}`))),
  };
}

/** The process of the readers. */
class Readers {
  private readonly child = fork(join(__dirname, 'support', 'watch-readers.ts'), [], {
    execArgv: ['-r', join(__dirname, 'register.cjs')],
  });

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Sends an order and resolves when it is confirmed. */
  async order(order: ReadersOrder, confirmed: ReadersAnswer['type']): Promise<void> {
    const done = this.answered(confirmed);
    this.child.send(order);
    await done;
  }

  answered(type: ReadersAnswer['type']): Promise<void> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the readers have ended'));
      const hear = (answer: ReadersAnswer): void => {
        if (answer.type !== type) return;
        this.child.off('exit', ended).off('message', hear);
        resolve();
      };
      this.child.on('message', hear).once('exit', ended);
    });
  }

  close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.child.once('exit', () => resolve()));
    this.child.disconnect();
    return ended;
  }
}

/** From sending a change to the moment the last watcher has it; CPU of one change, ms, of the server and of the readers apart. */
async function fanOut(zone: ProcessPlane, writer: ApiClient, watchers: WatchersOf): Promise<object> {
  await write(writer, service(WATCHED, 1_000));
  await until('no watch is open', async () => (await openWatches(zone)) === 0);
  const readers = new Readers();
  await readers.order({ type: 'open', grpc: zone.grpcUrl, rest: zone.restUrl, watched: WATCHED, watchers }, 'opened');
  const all = watchers.grpc + watchers.rest;
  await until('all watches are open', async () => (await openWatches(zone)) >= all);
  const times: number[] = [];
  const cpu = (): number[] => [zone.pid, readers.pid].map(cpuSeconds);
  const before = cpu();
  for (let n = 1; n <= TRIES; n++) {
    await readers.order({ type: 'expect', mark: `"port":${1_000 + n}` }, 'expecting');
    const seen = readers.answered('seen');
    const began = performance.now();
    await write(writer, service(WATCHED, 1_000 + n));
    await seen;
    times.push(performance.now() - began);
  }
  const [server_cpu_ms, readers_cpu_ms] = cpu().map(
    (seconds, of) => Math.round(((seconds - (before[of] ?? 0)) * 10_000) / TRIES) / 10,
  );
  await readers.close();
  return { ...watchers, ...summary(times), server_cpu_ms, readers_cpu_ms };
}

async function openWatches(zone: ProcessPlane): Promise<number> {
  const metrics = await (await fetch(`${zone.diagnosticsUrl}/metrics`)).text();
  return Number(/^\S*watches_open\S* (\d+)/m.exec(metrics)?.[1] ?? 0);
}

/** The same number of watchers over both interfaces, over gRPC alone and over REST alone. */
async function fanOuts(zone: ProcessPlane, writer: ApiClient): Promise<object> {
  const half = Math.round(WATCHERS / 2);
  return {
    both: await fanOut(zone, writer, { grpc: half, rest: WATCHERS - half }),
    grpc: await fanOut(zone, writer, { grpc: WATCHERS, rest: 0 }),
    rest: await fanOut(zone, writer, { grpc: 0, rest: WATCHERS }),
  };
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const zone = await ProcessPlane.start('zone', 'east', { DATABASE_URL: database.url });
  try {
    await until('the default mesh is there', () => zone.get('/meshes/default'));
    const [grpc, rest] = await Promise.all(
      [zone.grpcUrl, zone.restUrl].map((address) => connectApi({ server: new URL(address), token: ADMIN_TOKEN })),
    );
    if (!grpc || !rest) throw new Error('no client');
    await write(grpc, service('first'));
    const figures = { grpc: await calls(grpc, 'g'), rest: await calls(rest, 'r') };
    report('grpc', { calls: CALLS, ...figures, write_to_last_watcher: await fanOuts(zone, grpc) });
  } finally {
    await zone.stop();
    await database.drop();
    await stopServices();
  }
  process.exit();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
