import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { ProcessMesh } from '../test/support/process-mesh';
import { LightCrowd, type CrowdSum } from './scale/crowd';
import { cpuOf, cpuSeconds, cpuSince, memory } from './support/process-metrics';
import { report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * A real global with a real Postgres, and many zones with many services in all (docs/reference/scale.md). Zones speak the real protocol
 * and store nothing. Prints a JSON line for each part: all zones send their services up; all ask for everything (a first sync of all); one
 * change to all zones; many changes a second; all connections are lost and come back; the global is killed and starts again.
 *
 *     node -r ./bench/register.cjs bench/scale.ts --zones 250 --services 100000
 *
 * `--until first-sync` ends there. Needs a build. CPU is what a part took, s; memory is the global's.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      zones: { type: 'string', default: '250' },
      services: { type: 'string', default: '100000' },
      processes: { type: 'string', default: '2' },
      tls: { type: 'boolean', default: false },
      tries: { type: 'string', default: '50' },
      rates: { type: 'string', default: '5,10' },
      heap: { type: 'string', default: '4096' },
      until: { type: 'string', default: 'restart' },
    },
  });
  const shape = {
    zones: Number(values.zones),
    services: Number(values.services),
    processes: Number(values.processes),
    tls: values.tls,
  };
  const stopServices = await benchServices();
  const mesh = new ProcessMesh({ NODE_OPTIONS: `--max-old-space-size=${values.heap}` });
  const open = { CAUSEWAY_ANONYMOUS_RATE: '0', ...(shape.tls ? {} : { CAUSEWAY_KDS_TLS: 'off' }) };
  let crowd: LightCrowd | undefined;
  try {
    await mesh.startGlobal(open);
    crowd = await LightCrowd.create(mesh, shape);
    const scale = new Scale(mesh, crowd, shape);
    await scale.fill();
    if (values.until === 'first-sync') return;
    await scale.run(Number(values.tries), values.rates.split(',').map(Number));
  } finally {
    crowd?.close();
    await mesh.stop();
    await stopServices();
  }
}

/** The parts of a run, in order. */
class Scale {
  constructor(
    private readonly mesh: ProcessMesh,
    private readonly crowd: LightCrowd,
    private readonly shape: Readonly<Record<string, unknown>>,
  ) {}

  /** All zones send what they have and ask for everything. */
  async fill(): Promise<void> {
    await this.part('join', () => this.crowd.all('join'));
    await this.part('upload', () => this.crowd.all('upload'));
    await this.part('first-sync', () => this.crowd.all('download'));
  }

  /** Changes, and losses of what the zones are connected to. */
  async run(tries: number, rates: readonly number[]): Promise<void> {
    const times: number[] = [];
    await this.part('change', async () => {
      for (let n = 0; n < tries; n++) times.push(await this.crowd.spread(`probe-${n}`, n));
      return summary(times);
    });
    for (const rate of rates) await this.part('rate', () => this.churn(rate));
    await this.part('reconnect', async () => {
      await this.crowd.all('leave');
      return this.again();
    });
    await this.part('restart', async () => {
      await this.mesh.global.kill();
      await this.crowd.all('leave');
      const began = performance.now();
      await this.mesh.startGlobal();
      return { ...(await this.again()), ready_ms: Math.round(performance.now() - began) };
    });
  }

  private async again(): Promise<CrowdSum> {
    await this.crowd.all('join');
    await this.crowd.all('upload');
    return this.crowd.all('download');
  }

  /** So many changes a second for ten seconds; each counts from when it was due until the last zone has it. */
  private async churn(rate: number): Promise<Readonly<Record<string, unknown>>> {
    const start = performance.now();
    const arrivals: Promise<number>[] = [];
    for (let n = 0; n < rate * 10; n++) {
      const due = start + (n * 1_000) / rate;
      if (due > performance.now()) await pause(due - performance.now());
      const late = performance.now() - due;
      arrivals.push(this.crowd.spread(`rate-${rate}-${n}-`, n).then((ms) => ms + late));
    }
    return { rate, ...summary(await Promise.all(arrivals)) };
  }

  private async part(what: string, work: () => Promise<Readonly<Record<string, unknown>> | CrowdSum>): Promise<void> {
    await this.mesh.global.metric('nodejs_eventloop_lag_max_seconds');
    const before = cpuOf(this.mesh);
    const former = this.mesh.global.pid;
    const began = performance.now();
    const figures = await work();
    const ms = Math.round(performance.now() - began);
    const { pid } = this.mesh.global;
    const cpu_s = { ...cpuSince(this.mesh, before), ...(pid !== former && { global: cpuSeconds(pid) }) };
    const event_loop_ms = Math.round((await this.mesh.global.metric('nodejs_eventloop_lag_max_seconds')) * 1_000);
    report('scale', { what, ...this.shape, ms, ...figures, cpu_s, event_loop_ms, global: memory(pid) });
  }
}

runProgram(main);
