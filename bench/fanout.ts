import { ProcessMesh } from '../test/support/process-mesh';
import { cpuOf, cpuPercent, cpuSince, memory } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { ZoneCrowd } from './support/zone-crowd';

/**
 * One change in one zone → the last of many zones has it (docs/design.md §8), and what many idle zones cost: a global as a
 * process with a real Postgres, and zones that speak the real protocol (tokens, TLS, sync) over stores in memory, in
 * processes of their own. Prints a JSON line for each.
 *
 * BENCH_ZONES (250), BENCH_PROCESSES of zones (2), BENCH_TRIES (200; 0 leaves it out),
 * BENCH_IDLE: seconds without a change (0 leaves it out).
 */
const ZONES = numberSetting('BENCH_ZONES', 250);
const PROCESSES = numberSetting('BENCH_PROCESSES', 2);
const TRIES = numberSetting('BENCH_TRIES', 200);
const IDLE = numberSetting('BENCH_IDLE', 0);
const WARM = 20;
/** Until connections and first states are forgotten, ms. */
const REST = 10_000;

/** One change after another. */
async function fanOut(mesh: ProcessMesh, crowd: ZoneCrowd, joined_ms: number): Promise<void> {
  for (let n = 0; n < WARM; n++) await crowd.spread(`warm-${n}`);
  const before = cpuOf(mesh);
  const times: number[] = [];
  for (let n = 0; n < TRIES; n++) times.push(await crowd.spread(`try-${n}`));
  const cpu_s = cpuSince(mesh, before);
  report('fanout', {
    zones: ZONES,
    joined_ms,
    ...summary(times),
    cpu_s,
    global: memory(mesh.global.pid),
    simulated_zones: crowd.pids.map(memory),
  });
}

/** Nothing changes: what do connections cost? */
async function idle(mesh: ProcessMesh): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, REST));
  const cpu_percent = await cpuPercent(mesh, IDLE);
  report('fanout-idle', { zones: ZONES, seconds: IDLE, cpu_percent, global: memory(mesh.global.pid) });
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const mesh = new ProcessMesh();
  let crowd: ZoneCrowd | undefined;
  try {
    await mesh.startGlobal();
    const began = performance.now();
    crowd = await ZoneCrowd.join(mesh, ZONES, PROCESSES);
    const joined = Math.round(performance.now() - began);
    if (TRIES > 0) await fanOut(mesh, crowd, joined);
    if (IDLE > 0) await idle(mesh);
  } finally {
    crowd?.close();
    await mesh.stop();
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
