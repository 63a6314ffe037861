import type { QuickstartRun } from '../test/e2e/quickstart-run';
import { putServices, withDemo } from './support/demo';
import { memory, type ByName } from './support/process-metrics';
import { Activity } from './support/process-activity';
import { numberSetting, report } from './support/report';
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
/** Parts whose cost is measured: not the services of the demo, and of the stores only the CPU time. */
const MEASURED = /^(global|east|west|.*-agent|ingress-.*|Postgres)$/;

const pause = (s: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, s * 1_000));

/** Process ids of the parts of the demo. */
async function pidsOf(run: QuickstartRun): Promise<ReadonlyMap<string, number>> {
  const states = [...(await run.states())].map(
    ([name, state]) => [name, Number(/pid (\d+)$/.exec(state)?.[1])] as const,
  );
  return new Map(states.filter(([name, pid]) => MEASURED.test(name) && Number.isInteger(pid)));
}

async function measure(run: QuickstartRun): Promise<void> {
  await putServices(run, SERVICES);
  await pause(REST);
  const pids = await pidsOf(run);
  const activity = new Activity(pids);
  await pause(SECONDS);
  const processes = activity.stop();
  const rss_mb: ByName<number> = Object.fromEntries([...pids].map(([name, pid]) => [name, memory(pid).rss_mb]));
  report('idle', { services: SERVICES, traffic: HAS_TRAFFIC, seconds: SECONDS, processes, rss_mb });
}

async function main(): Promise<void> {
  await withDemo({ hasTraffic: HAS_TRAFFIC, env: { NODE_OPTIONS } }, measure);
}

runProgram(main);
