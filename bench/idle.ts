import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';
import { QuickstartRun } from '../test/e2e/quickstart-run';
import { until } from '../test/support/until';
import { memory, type ByName } from './support/process-metrics';
import { Activity } from './support/process-activity';
import { numberSetting, report } from './support/report';
import { RestWriter, WRITES } from './support/rest-writer';
import { adminFetch } from '../test/support/admin-credential';
import { runProgram } from './support/run-program';

/**
 * Measures what the mesh of `npm start` costs while nothing changes: for the global, each zone, agent and ingress CPU time in percent of a core,
 * wake-ups a second (voluntary context switches of all threads and of children) and programs started, over a minute, and memory. East has
 * the services. Prints one JSON line. Needs a build. BENCH_SERVICES (50), BENCH_SECONDS (60), BENCH_TRAFFIC=off (control planes only),
 * BENCH_REST: s between the last service and the measurement (180), BENCH_NODE_OPTIONS: of each process.
 */
const SERVICES = numberSetting('BENCH_SERVICES', 50);
const SECONDS = numberSetting('BENCH_SECONDS', 60);
/** V8 compiles what ran often, and compacts the heap, for up to two minutes after the work: half a second of CPU time each. */
const REST = numberSetting('BENCH_REST', 180);
const HAS_TRAFFIC = process.env['BENCH_TRAFFIC'] !== 'off';
const NODE_OPTIONS = process.env['BENCH_NODE_OPTIONS'] ?? '';
const WRITERS = 8;
const PATIENCE = 600_000;
/** Parts whose cost is measured: not the services of the demo, and of the stores only the CPU time. */
const MEASURED = /^(global|east|west|.*-agent|ingress-.*|Postgres)$/;

const pause = (s: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, s * 1_000));

/** Puts services in east, and resolves when west has an address and a name for each. */
async function putServices(run: QuickstartRun): Promise<void> {
  const writer = new RestWriter({ restUrl: run.restUrl('east') });
  const write = WRITES['dataplane'];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; write && n < SERVICES; n = next++) await writer.put(write('idle', n));
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  writer.close();
  await until('west knows all services', async () => (await countNamed(run.restUrl('west'))) >= SERVICES, PATIENCE);
}

/** Returns how many services have an address and a name. */
async function countNamed(url: string): Promise<number> {
  let count = 0;
  for (let page: unknown = `${url}/meshes/default/meshservices?size=1000`; typeof page === 'string';) {
    const list: unknown = JSON.parse(await (await adminFetch(page)).text());
    if (!isJsonObject(list) || !isJsonArray(list['items'])) throw new Error(`${page}: no list`);
    count += list['items'].filter(isNamed).length;
    page = list['next'];
  }
  return count;
}

function isNamed(service: JsonValue): boolean {
  const status = isJsonObject(service) ? service['status'] : undefined;
  if (!isJsonObject(status) || status['vip'] === undefined) return false;
  return isJsonArray(status['addresses']) && status['addresses'].length > 0;
}

/** Process ids of the parts of the demo. */
async function pidsOf(run: QuickstartRun): Promise<ReadonlyMap<string, number>> {
  const states = [...(await run.states())].map(
    ([name, state]) => [name, Number(/pid (\d+)$/.exec(state)?.[1])] as const,
  );
  return new Map(states.filter(([name, pid]) => MEASURED.test(name) && Number.isInteger(pid)));
}

async function measure(run: QuickstartRun): Promise<void> {
  await putServices(run);
  await pause(REST);
  const pids = await pidsOf(run);
  const activity = new Activity(pids);
  await pause(SECONDS);
  const processes = activity.stop();
  const rss_mb: ByName<number> = Object.fromEntries([...pids].map(([name, pid]) => [name, memory(pid).rss_mb]));
  report('idle', { services: SERVICES, traffic: HAS_TRAFFIC, seconds: SECONDS, processes, rss_mb });
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-idle-'));
  chmodSync(dataDir, 0o755); // Postgres may run under another account
  const command = [process.execPath, 'scripts/start.mjs', ...(HAS_TRAFFIC ? [] : ['--no-traffic'])] as const;
  const run = new QuickstartRun(command, { CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_ENVOY: '', NODE_OPTIONS });
  try {
    await run.untilRunning();
    await measure(run);
  } finally {
    run.signal('SIGTERM');
    await run.untilGone();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

runProgram(main);
