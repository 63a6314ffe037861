import { performance } from 'node:perf_hooks';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import type { ProcessPlane } from '../test/support/process-plane';
import { withMesh } from './support/bench-mesh';
import { BindProxies } from './support/bind-proxies';
import { KeptConnection } from './support/kept-connection';
import { cpuOf, cpuSince, memoryOf } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { WRITES, type ServiceWrite } from './support/rest-writer';
import { isComplete } from './support/service-watch';
import { benchServices } from './support/services';
import { adminFetch } from '../test/support/admin-credential';

/**
 * Writers that each create MeshServices one after the other over REST in east, with a global and two zones as processes:
 * how long until the last write is answered, how long until west shows every service complete (virtual IP and
 * hostname), and what CPU time each control plane and Postgres use for it. With BENCH_PROXIES each zone has as many proxies with capture
 * `bind`, which are sent every service; the last of them must have all. With BENCH_ROUNDS it is measured so often without and with the
 * proxies, in turn. Prints one JSON line.
 * BENCH_SERVICES (10000), BENCH_WRITERS (8), BENCH_PROXIES (0), BENCH_ROUNDS (0).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const WRITERS = numberSetting('BENCH_WRITERS', 8);
const PROXIES = numberSetting('BENCH_PROXIES', 0);
const ROUNDS = numberSetting('BENCH_ROUNDS', 0);
const WARM = 200;

function nthWrite(series: string, n: number): ServiceWrite {
  const write = WRITES['service'];
  if (!write) throw new Error('no write of a service');
  return write(series, n);
}

async function writeAll(east: ProcessPlane, series: string, services: number): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    const connection = new KeptConnection(new URL(east.restUrl));
    while (next < services) {
      const { path, body } = nthWrite(series, next++);
      const status = await connection.put(path, body);
      if (status !== 201) throw new Error(`the PUT of ${path} was answered ${status}`);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function json(url: string): Promise<JsonObject> {
  const body: unknown = await (await adminFetch(url)).json();
  if (!isJsonObject(body)) throw new Error(`${url} was answered with no object`);
  return body;
}

/** Resolves when west shows the services written last complete, and then all of them. */
async function untilComplete(west: ProcessPlane): Promise<void> {
  const last = Array.from({ length: Math.min(WRITERS, SERVICES) }, (_, n) => nthWrite('new', SERVICES - 1 - n).service);
  const list = `${west.restUrl}/meshes/default/meshservices`;
  for (const name of last) {
    const isShown = async (): Promise<boolean> => {
      const { items } = await json(`${list}?name=${name}&size=10`);
      return Array.isArray(items) && items.some((item) => isJsonObject(item) && isComplete(item['status']));
    };
    while (!(await isShown())) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  while ((await completeIn(list)) < SERVICES) await new Promise((resolve) => setTimeout(resolve, 100));
}

async function completeIn(list: string): Promise<number> {
  let complete = 0;
  for (let next: unknown = `${list}?name=new-&size=1000&cursor=`; typeof next === 'string';) {
    const page: JsonObject = await json(next);
    const items = Array.isArray(page['items']) ? page['items'] : [];
    complete += items.filter((item) => isJsonObject(item) && isComplete(item['status'])).length;
    next = page['next'];
  }
  return complete;
}

interface Measured {
  readonly cpu_s: unknown;
  readonly memory: unknown;
  readonly answered_s: number;
  readonly complete_s: number;
  /** When every proxy had the listeners of all services; as `complete_s` without proxies. */
  readonly told_s: number;
}

const inSeconds = (ms: number): number => Math.round(ms / 10) / 100;

/** Writes all services into a mesh that is started for it, with so many proxies a zone. */
async function measure(proxiesPerZone: number): Promise<Measured> {
  let measured: Measured | undefined;
  await withMesh({ zones: ['east', 'west'], services: 0 }, async (mesh) => {
    const [east, west] = [mesh.zone('east'), mesh.zone('west')];
    const proxies =
      proxiesPerZone === 0
        ? []
        : await Promise.all([east, west].map((zone) => BindProxies.start(zone, proxiesPerZone)));
    await writeAll(east, 'warm', WARM);
    const before = cpuOf(mesh);
    const began = performance.now();
    await writeAll(east, 'new', SERVICES);
    const answered = performance.now() - began;
    const cpu_s = cpuSince(mesh, before);
    await untilComplete(west);
    const complete = performance.now() - began;
    for (const each of proxies)
      while ((await each.listeners()) < SERVICES + WARM) await new Promise((resolve) => setTimeout(resolve, 100));
    const told = performance.now() - began;
    for (const each of proxies) each.stop();
    measured = {
      answered_s: inSeconds(answered),
      complete_s: inSeconds(complete),
      told_s: inSeconds(told),
      cpu_s,
      memory: memoryOf(mesh),
    };
  });
  if (!measured) throw new Error('nothing was measured');
  return measured;
}

const settings = { services: SERVICES, writers: WRITERS, proxies: PROXIES };

async function main(): Promise<void> {
  const stopServices = await benchServices();
  if (ROUNDS === 0) report('throughput', { ...settings, ...(await measure(PROXIES)) });
  else await inTurn();
  await stopServices();
}

/** Measures without and with the proxies in turn; reports the ratios of the rounds. */
async function inTurn(): Promise<void> {
  const rounds: { without: Measured; with: Measured }[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    // Side effects of a round must not favour one of the two.
    const first = await measure(n % 2 === 0 ? 0 : PROXIES);
    const second = await measure(n % 2 === 0 ? PROXIES : 0);
    rounds.push(n % 2 === 0 ? { without: first, with: second } : { without: second, with: first });
  }
  const ratios = rounds.map((round) => inSeconds((round.with.told_s / round.without.complete_s) * 1_000));
  report('throughput', { ...settings, rounds, ratios });
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
