import { performance } from 'node:perf_hooks';
import { withMesh } from './support/bench-mesh';
import { cpuOf, cpuSince, memoryOf } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { RestWriter, WRITES, type ServiceWrite } from './support/rest-writer';
import { watchServices } from './support/service-watch';
import { benchServices } from './support/services';

/**
 * Writers that each create MeshServices one after the other over REST in east, with a global and two zones as processes:
 * how long until the last write is answered, how long until west shows every service complete (virtual IP and
 * hostname), and what CPU time each control plane and Postgres use for it. Prints one JSON line.
 * BENCH_SERVICES (10000), BENCH_WRITERS (8).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const WRITERS = numberSetting('BENCH_WRITERS', 8);

function nthWrite(series: string, n: number): ServiceWrite {
  const write = WRITES['service'];
  if (!write) throw new Error('no write of a service');
  return write(series, n);
}

async function writeAll(east: RestWriter, series: string, services: number): Promise<void> {
  let next = 0;
  const writer = async (): Promise<void> => {
    while (next < services) await east.put(nthWrite(series, next++));
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  await withMesh({ zones: ['east', 'west'], services: 0 }, async (mesh) => {
    const east = new RestWriter(mesh.zone('east'));
    await writeAll(east, 'warm', 200);
    const missing = new Set(Array.from({ length: SERVICES }, (_, n) => nthWrite('new', n).service));
    let complete: () => void = () => undefined;
    const shown = new Promise<void>((resolve) => (complete = resolve));
    const end = await watchServices(mesh.zone('west'), ({ name }) => {
      if (missing.delete(name) && missing.size === 0) complete();
    });
    const before = cpuOf(mesh);
    const began = performance.now();
    await writeAll(east, 'new', SERVICES);
    const answered_s = (performance.now() - began) / 1_000;
    const cpu_when_answered_s = cpuSince(mesh, before);
    await shown;
    const complete_s = (performance.now() - began) / 1_000;
    report('throughput', {
      ...{ services: SERVICES, writers: WRITERS },
      ...{ answered_s: Math.round(answered_s * 100) / 100, complete_s: Math.round(complete_s * 100) / 100 },
      ...{ cpu_when_answered_s, cpu_s: cpuSince(mesh, before), memory: memoryOf(mesh) },
    });
    end();
    east.close();
  });
  await stopServices();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
