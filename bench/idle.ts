import type { ProcessMesh } from '../test/support/process-mesh';
import { withMesh, zoneNames } from './support/bench-mesh';
import { cpuPercent, memoryOf } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';

/**
 * Measures the cost of control planes while nothing changes (docs/design.md §8): CPU of the global, of zones that hold
 * 10,000 services and of Postgres, in percent of a core over a minute, and memory. Prints one JSON line.
 * BENCH_SERVICES (10000), BENCH_ZONES (2), BENCH_SECONDS (60), BENCH_HEAP: largest old space of each process, MB.
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const ZONES = numberSetting('BENCH_ZONES', 2);
const SECONDS = numberSetting('BENCH_SECONDS', 60);
const HEAP = numberSetting('BENCH_HEAP', 0);
/** Until the work of the start is forgotten, ms. */
const REST = 10_000;

async function measure(mesh: ProcessMesh): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, REST));
  const cpu_percent = await cpuPercent(mesh, SECONDS);
  report('idle', { zones: ZONES, services: SERVICES, seconds: SECONDS, cpu_percent, memory: memoryOf(mesh) });
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  try {
    await withMesh({ zones: zoneNames(ZONES), services: SERVICES, ...(HEAP > 0 ? { heap: HEAP } : {}) }, measure);
  } finally {
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
