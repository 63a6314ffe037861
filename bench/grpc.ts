import { Agent, get as httpGet } from 'node:http';
import { performance } from 'node:perf_hooks';
import { connectApi, type ApiClient } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import { createTestDatabase } from '../test/support/postgres';
import { ProcessPlane } from '../test/support/process-plane';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';

/**
 * One zone as a process: `get` and `apply` of one MeshService by gRPC beside REST, by one client and by 16 side by side, and
 * 1,000 watchers (half over gRPC, half over REST from another address) and one change: from sending it to the moment the last of
 * them has it. Prints one JSON line. BENCH_CALLS (2000), BENCH_WATCHERS (1000), BENCH_TRIES (50).
 */
const CALLS = numberSetting('BENCH_CALLS', 2_000);
const WATCHERS = numberSetting('BENCH_WATCHERS', 1_000);
const TRIES = numberSetting('BENCH_TRIES', 50);
const CLIENTS = 16;
/** Watches of one gRPC connection. */
const STREAMS = 50;
const LIST = '/meshes/default/meshservices';

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

/** Counts who has seen the version that is waited for. */
class Audience {
  private wanted = '';
  private missing = 0;
  private done: () => void = () => undefined;

  expect(mark: string, watchers: number): Promise<void> {
    this.wanted = mark;
    this.missing = watchers;
    return new Promise((resolve) => (this.done = resolve));
  }

  saw(text: string): void {
    if (this.wanted !== '' && text.includes(this.wanted) && --this.missing === 0) this.done();
  }
}

/** Resolves when a watch over REST is open; from 127.0.0.2, since the watches of one address are bounded. */
function watchRest(base: string, audience: Audience, signal: AbortSignal): Promise<void> {
  const url = new URL(`${base}${LIST}?watch=true&name=watched`);
  const agent = new Agent({ localAddress: '127.0.0.2' });
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { agent, signal }, (answer) => {
      answer.setEncoding('utf8').on('data', (text: string) => audience.saw(text));
      answer.on('error', () => undefined);
      resolve();
    });
    request.on('error', (error) => (signal.aborted ? undefined : reject(error)));
  });
}

async function watchGrpc(api: ApiClient, audience: Audience, signal: AbortSignal): Promise<void> {
  for await (const event of api.watch({ kind: 'MeshService', nameContains: 'watched' }, { signal }))
    if (event.type === 'put') audience.saw(JSON.stringify(event.document));
}

async function fanOut(zone: ProcessPlane, writer: ApiClient): Promise<object> {
  const stop = new AbortController();
  const audience = new Audience();
  await write(writer, service('watched', 1_000));
  for (let opened = 0; opened < WATCHERS / 2; opened += STREAMS) {
    const api = await connectApi({ server: new URL(zone.grpcUrl) });
    for (let n = 0; n < Math.min(STREAMS, WATCHERS / 2 - opened); n++) {
      watchGrpc(api, audience, stop.signal).catch(() => undefined);
      await watchRest(zone.restUrl, audience, stop.signal);
    }
  }
  await until('all watches are open', async () => {
    const metrics = await (await fetch(`${zone.diagnosticsUrl}/metrics`)).text();
    return Number(/^\S*watches_open\S* (\d+)/m.exec(metrics)?.[1] ?? 0) >= WATCHERS;
  });
  const times: number[] = [];
  for (let n = 1; n <= TRIES; n++) {
    const seen = audience.expect(`"port":${1_000 + n}`, WATCHERS);
    const began = performance.now();
    await write(writer, service('watched', 1_000 + n));
    await seen;
    times.push(performance.now() - began);
  }
  stop.abort();
  return { watchers: WATCHERS, ...summary(times) };
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const database = await createTestDatabase();
  const zone = await ProcessPlane.start('zone', 'east', { DATABASE_URL: database.url });
  try {
    await until('the default mesh is there', () => zone.get('/meshes/default'));
    const [grpc, rest] = await Promise.all(
      [zone.grpcUrl, zone.restUrl].map((address) => connectApi({ server: new URL(address) })),
    );
    if (!grpc || !rest) throw new Error('no client');
    await write(grpc, service('first'));
    const figures = { grpc: await calls(grpc, 'g'), rest: await calls(rest, 'r') };
    report('grpc', { calls: CALLS, ...figures, write_to_last_watcher: await fanOut(zone, grpc) });
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
