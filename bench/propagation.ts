import { get, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { dataplane, ProcessMesh } from '../test/support/process-mesh';
import type { ProcessPlane } from '../test/support/process-plane';
import { benchServices } from './support/services';
import { summary } from './support/summary';

/**
 * Dataplane put in one zone → its service has virtual IP and hostname in another (design.md §8), over global and zones
 * as processes with a real Postgres. BENCH_ZONES (2), BENCH_SERVICES in all beforehand (0), BENCH_TRIES (200).
 * Prints one JSON line. What is timed: from before the PUT is sent until west's watch delivers the service complete.
 */
const ZONES = Number(process.env['BENCH_ZONES'] ?? 2);
const SERVICES = Number(process.env['BENCH_SERVICES'] ?? 0);
const TRIES = Number(process.env['BENCH_TRIES'] ?? 200);

/** Tells when a service is complete in a zone, from one watch over all services. */
class Arrivals {
  private readonly waiting = new Map<string, (at: number) => void>();
  private readonly complete = new Set<string>();
  private end: () => void = () => undefined;

  async watch(zone: ProcessPlane): Promise<void> {
    const url = `${zone.restUrl}/meshes/default/meshservices?watch=true`;
    await new Promise<void>((resolve) => {
      const call = get(url, (answer) => {
        let rest = '';
        answer.setEncoding('utf8').on('data', (text: string) => {
          const lines = (rest + text).split('\n');
          rest = lines.pop() ?? '';
          lines.forEach((line) => this.hear(line));
        });
        resolve();
      });
      this.end = () => call.destroy();
      call.on('error', () => undefined);
    });
  }

  seen(name: string): Promise<number> {
    return new Promise((resolve) => {
      if (this.complete.has(name)) resolve(performance.now());
      else this.waiting.set(name, resolve);
    });
  }

  get count(): number {
    return this.complete.size;
  }

  close(): void {
    this.end();
  }

  private hear(line: string): void {
    if (!line.startsWith('data:') || !line.includes('"Available"') || !line.includes('"vip"')) return;
    const name = /"name":"([^"]+)"/.exec(line)?.[1];
    if (name === undefined || !line.includes('"hostname"')) return;
    this.complete.add(name);
    this.waiting.get(name)?.(performance.now());
    this.waiting.delete(name);
  }
}

function put(zone: ProcessPlane, name: string): Promise<number> {
  const body = JSON.stringify(dataplane(`${name}-1`, name));
  return new Promise((resolve, reject) => {
    const call = request(
      `${zone.restUrl}/meshes/default/dataplanes/${name}-1`,
      { method: 'PUT', headers: { 'content-type': 'application/json' } },
      (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)),
    );
    call.on('error', reject).end(body);
  });
}

/** Fills zones with services before anything is timed, and waits until west knows them all. */
async function fill(zones: readonly ProcessPlane[], arrivals: Arrivals): Promise<void> {
  const queue = Array.from({ length: SERVICES }, (_, i) => i);
  const work = async (): Promise<void> => {
    for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
      const zone = zones[i % zones.length];
      if (zone) await put(zone, `fill-${i}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  while (arrivals.count < SERVICES) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const names = ['east', 'west', ...Array.from({ length: ZONES - 2 }, (_, i) => `zone-${i}`)];
  const mesh = await ProcessMesh.start(names);
  const arrivals = new Arrivals();
  try {
    await arrivals.watch(mesh.zone('west'));
    await fill(
      names.map((name) => mesh.zone(name)),
      arrivals,
    );
    for (let i = 0; i < 20; i++) await propagate(mesh, arrivals, `warm-${i}`);
    const times: number[] = [];
    for (let i = 0; i < TRIES; i++) times.push(await propagate(mesh, arrivals, `try-${i}`));
    console.log(JSON.stringify({ bench: 'propagation', zones: ZONES, services: SERVICES, ...summary(times) }));
  } finally {
    arrivals.close();
    await mesh.stop();
    await stopServices();
  }
}

async function propagate(mesh: ProcessMesh, arrivals: Arrivals, name: string): Promise<number> {
  const start = performance.now();
  const seen = arrivals.seen(name);
  const status = await put(mesh.zone('east'), name);
  if (status !== 201) throw new Error(`the PUT of ${name} was answered ${status}`);
  return (await seen) - start;
}

void main();
