import type { ProcessMesh } from '../test/support/process-mesh';
import { OtlpReceiver } from '../test/support/otlp-receiver';
import { listHops } from './support/hops';
import { withMesh, zoneNames } from './support/bench-mesh';
import { cpuOf, cpuSince, memoryOf } from './support/process-metrics';
import { Propagation } from './support/propagation';
import { numberSetting, report } from './support/report';
import { RestWriter, UPDATED, WRITES, type ServiceWrite } from './support/rest-writer';
import { watchServices } from './support/service-watch';
import { benchServices } from './support/services';
import { summary } from './support/summary';

/**
 * Put in east → the service has virtual IP and hostname in west (docs/design.md §8), over global and zones as processes with a
 * real Postgres; with one zone, in east itself. Timed is from before the PUT until the watch of the target delivers the
 * service complete. Prints one JSON line a case.
 *
 * BENCH_ZONES (2), BENCH_SERVICES in all beforehand (0), BENCH_WRITE: dataplane, service or update (dataplane).
 * BENCH_TRIES (200) one after another; or BENCH_RATE a second for BENCH_SECONDS (60).
 * BENCH_STOPPED=1: the tries once more while the last zone is stopped (SIGSTOP); needs three zones.
 * BENCH_HEAP: largest old space of each process, MB.
 * BENCH_TRACES: the part of the requests that is traced (0): all control planes send their spans to this process, which prints the
 * stages of the way.
 */
const ZONES = numberSetting('BENCH_ZONES', 2);
const SERVICES = numberSetting('BENCH_SERVICES', 0);
const TRIES = numberSetting('BENCH_TRIES', 200);
const RATE = numberSetting('BENCH_RATE', 0);
const SECONDS = numberSetting('BENCH_SECONDS', 60);
const STOPPED = numberSetting('BENCH_STOPPED', 0);
const HEAP = numberSetting('BENCH_HEAP', 0);
const TRACES = numberSetting('BENCH_TRACES', 0);
const WRITE = process.env['BENCH_WRITE'] ?? 'dataplane';
const WARM = 20;

function nthWrite(series: string, n: number): ServiceWrite {
  const write = WRITES[WRITE];
  if (!write) throw new Error(`BENCH_WRITE: must be one of ${Object.keys(WRITES).join(', ')}; got "${WRITE}"`);
  return write(series, n);
}

/** Writes in east and observes the target by a watch of its own. */
async function observed<T>(
  mesh: ProcessMesh,
  work: (propagation: Propagation, east: RestWriter) => Promise<T>,
): Promise<T> {
  const propagation = new Propagation();
  const end = await watchServices(mesh.zone(ZONES === 1 ? 'east' : 'west'), (service) => propagation.seen(service));
  const east = new RestWriter(mesh.zone('east'));
  try {
    return await work(propagation, east);
  } finally {
    east.close();
    end();
  }
}

/** One write after another. */
async function oneByOne(mesh: ProcessMesh, series: string): Promise<Readonly<Record<string, unknown>>> {
  return observed(mesh, async (propagation, east) => {
    for (let n = 0; n < WARM; n++) await propagation.one(east, nthWrite(series, n));
    const before = cpuOf(mesh);
    for (let n = WARM; n < TRIES + WARM; n++) await propagation.one(east, nthWrite(series, n));
    return { ...summary(propagation.times.slice(WARM)), cpu_s: cpuSince(mesh, before), memory: memoryOf(mesh) };
  });
}

/** A steady stream of writes. */
async function sustained(mesh: ProcessMesh): Promise<Readonly<Record<string, unknown>>> {
  if (WRITE === 'update') await made(mesh);
  const before = { memory: memoryOf(mesh), cpu: cpuOf(mesh) };
  return observed(mesh, async (propagation, east) => {
    const writes = Array.from({ length: RATE * SECONDS }, (_, n) =>
      nthWrite('stream', WRITE === 'update' ? n + UPDATED : n),
    );
    const outcome = await propagation.stream(east, writes, RATE);
    const cost = { cpu_s: cpuSince(mesh, before.cpu), memory_before: before.memory, memory: memoryOf(mesh) };
    return { rate: RATE, seconds: SECONDS, ...outcome, ...summary(propagation.times), ...cost };
  });
}

/** The services that are to be updated. */
async function made(mesh: ProcessMesh): Promise<void> {
  await observed(mesh, (propagation, east) =>
    propagation.stream(
      east,
      Array.from({ length: UPDATED }, (_, n) => nthWrite('stream', n)),
      100,
    ),
  );
}

async function measure(mesh: ProcessMesh, how: Readonly<Record<string, number>>): Promise<void> {
  const facts = { zones: ZONES, services: SERVICES, write: WRITE, ...how };
  if (RATE > 0) {
    return report('propagation-sustained', { ...facts, ...(await sustained(mesh)) });
  }
  report('propagation', { ...facts, ...(await oneByOne(mesh, 'try')) });
  if (STOPPED === 0) return;
  const stopped = zoneNames(ZONES).at(-1) ?? '';
  mesh.zone(stopped).signal('SIGSTOP');
  report('propagation', { ...facts, stopped, ...(await oneByOne(mesh, 'stopped')) });
}

async function main(): Promise<void> {
  if (STOPPED > 0 && ZONES < 3) throw new Error('BENCH_STOPPED: needs three zones');
  const stopServices = await benchServices();
  const receiver = TRACES > 0 ? await OtlpReceiver.start() : undefined;
  const traced = receiver && { CAUSEWAY_OTLP_ENDPOINT: receiver.url, CAUSEWAY_TRACE_RATIO: String(TRACES) };
  try {
    const mesh = { zones: zoneNames(ZONES), services: SERVICES, ...(HEAP > 0 && { heap: HEAP }) };
    await withMesh({ ...mesh, ...(traced && { shared: traced }) }, (started, settled_ms) =>
      measure(started, { settled_ms, ...(receiver && { traced: TRACES }) }),
    );
    if (receiver) {
      report('propagation-traces', { traced: TRACES, spans: receiver.spans.length });
      console.table(listHops(receiver.spans));
    }
  } finally {
    await receiver?.stop();
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
