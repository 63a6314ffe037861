import { ProcessMesh } from '../../test/support/process-mesh';
import type { PlaneEnvironment } from '../../test/support/process-plane';
import { fill } from './fill';
import { cpuPercent } from './process-metrics';
import { untilSettled } from './settled';

/** Options of a mesh of processes for a bench. */
export interface BenchMesh {
  readonly zones: readonly string[];
  /** Services in all, the same number in each of the zones (the first ones get the rest). */
  readonly services: number;
  /** Settings of the global. */
  readonly global?: PlaneEnvironment;
  /** Settings of every control plane. */
  readonly shared?: PlaneEnvironment;
  /** Largest old space of each process, MB; Node's own limit by default. */
  readonly heap?: number;
}

const HOUR = 3_600_000;
/** Share of a core below which a control plane is at rest, percent, in a look of so many seconds. */
const REST = { below: 10, seconds: 1 };

/** A mesh whose zones all know all services, with addresses and names; `settled_ms` is what that took from the start of the zones. */
async function startSettled(bench: BenchMesh): Promise<{ readonly mesh: ProcessMesh; readonly settled_ms: number }> {
  const { zones, services, global = {}, shared = {}, heap } = bench;
  const mesh = new ProcessMesh({
    ...shared,
    ...(heap !== undefined && { NODE_OPTIONS: `--max-old-space-size=${heap}` }),
  });
  try {
    const urls: string[] = [];
    for (const [i, zone] of zones.entries()) {
      const url = await mesh.databaseUrl(zone);
      await fill(url, { zone, services: Math.floor((services + zones.length - 1 - i) / zones.length) });
      urls.push(url);
    }
    await mesh.startGlobal(global);
    const began = performance.now();
    // One after the other: ten processes that load their code at once on two cores are late to answer anybody.
    for (const zone of zones) await mesh.startZone(zone);
    const wanted = { services, every: 200, still: 1_000, timeout: HOUR };
    const last = await Promise.all(urls.map((url) => untilSettled(url, wanted)));
    await untilAtRest(mesh);
    return { mesh, settled_ms: Math.round(Math.max(...last) - began) };
  } catch (error) {
    await mesh.stop();
    throw error;
  }
}

/** The processes may still have work from the last measurement: acknowledgements, garbage collection, a vacuum. */
async function untilAtRest(mesh: ProcessMesh): Promise<void> {
  for (;;) {
    const busy = Object.values(await cpuPercent(mesh, REST.seconds)).filter((percent) => percent > REST.below);
    if (busy.length === 0) return;
  }
}

/** Runs a bench on a mesh and ends the mesh whatever comes. */
export async function withMesh(
  bench: BenchMesh,
  work: (mesh: ProcessMesh, settled_ms: number) => Promise<void>,
): Promise<void> {
  const { mesh, settled_ms } = await startSettled(bench);
  try {
    await work(mesh, settled_ms);
  } finally {
    await mesh.stop();
  }
}

/** Names of zones, `count` of them, of which the first are east and west. */
export function zoneNames(count: number): readonly string[] {
  return ['east', 'west', ...Array.from({ length: Math.max(0, count - 2) }, (_, i) => `zone-${i}`)].slice(0, count);
}
