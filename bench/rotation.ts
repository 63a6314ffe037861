import { call, Load } from '../test/traffic/calls';
import { authorityOf, serialOf } from '../test/traffic/rotation';
import { TrafficMesh } from '../test/traffic/traffic-mesh';
import type { EnvoyProcess } from '../test/support/envoy-process';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { runProgram } from './support/run-program';

/**
 * Short certificates and a rotation under load: a client of each zone calls a service of the other one through its own Envoy, the
 * ingress of the other zone and the Envoy of the server, on new connections and on lasting ones. First for BENCH_MINUTES (5) with
 * certificates of BENCH_VALIDITY seconds (60); then while the authority of east is rotated from its first step to its end. Prints one
 * JSON line and exits with 1 where a call failed, a lasting connection ended, or a certificate was not renewed. Needs a build and
 * CAUSEWAY_ENVOY. BENCH_RATE: new connections a second and direction (25), BENCH_LASTING: lasting connections of one direction (4).
 */
const MINUTES = numberSetting('BENCH_MINUTES', 5);
const VALIDITY = numberSetting('BENCH_VALIDITY', 60);
const RATE = numberSetting('BENCH_RATE', 25);
const LASTING = numberSetting('BENCH_LASTING', 4);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Counts the certificates that proxies were given. */
class Renewals {
  readonly counts: number[];
  private last: string[] = [];
  private isOver = false;

  constructor(private readonly proxies: readonly EnvoyProcess[]) {
    this.counts = proxies.map(() => 0);
  }

  async run(): Promise<void> {
    while (!this.isOver) {
      for (const [i, proxy] of this.proxies.entries()) {
        const serial = await serialOf(proxy);
        if (this.last[i] !== undefined && serial !== this.last[i]) this.counts[i] = (this.counts[i] ?? 0) + 1;
        this.last[i] = serial;
      }
      await pause(1_000);
    }
  }

  stop(): void {
    this.isOver = true;
  }
}

/** Rotates the authority of east; how long each step took, s. */
async function rotate(traffic: TrafficMesh): Promise<{ readonly trusting: number; readonly retiring: number }> {
  const east = traffic.zone('east');
  const began = performance.now();
  await east.text('/_ca/rotation', { deadline: '10m' });
  const step = async (wanted: string): Promise<number> => {
    await until(wanted, async () => (await authorityOf(east)).step === wanted, 15 * 60_000);
    return (performance.now() - began) / 1_000;
  };
  const used = await step('retiring');
  const { usedBy } = await authorityOf(east);
  if (usedBy !== 'acks') throw new Error(`the new authority is used by ${usedBy}`);
  return { trusting: Math.round(used), retiring: Math.round((await step('steady')) - used) };
}

async function measure(traffic: TrafficMesh): Promise<void> {
  const clients = await Promise.all(traffic.zones.map((zone) => traffic.client(zone)));
  const servers = await Promise.all(
    traffic.zones.map((zone) => traffic.instance(zone, `web-${zone}`, `web-${zone}-1`)),
  );
  const [east, west] = [await traffic.vip('west', 'web-east', 'east'), await traffic.vip('east', 'web-west', 'west')];
  for (const vip of [east, west]) await until('an answer', async () => (await call(vip)) !== '', 60_000);
  const renewals = new Renewals([...clients, ...servers.map(({ proxy }) => proxy)]);
  const counting = renewals.run();
  const loads = [east, west].map((vip) => new Load(vip, { rate: RATE, lasting: LASTING }));
  await pause(MINUTES * 60_000);
  const short = loads.map(({ outcome }) => outcome);
  const renewed = [...renewals.counts];
  const steps = await rotate(traffic);
  const whole = await Promise.all(loads.map((load) => load.stop()));
  renewals.stop();
  await counting;
  const sum = (outcomes: typeof whole, count: (one: (typeof whole)[number]) => number): number =>
    outcomes.reduce((all, one) => all + count(one), 0);
  const failures = sum(whole, (one) => one.failures.length);
  const reconnected = sum(whole, (one) => one.reconnected);
  report('rotation', {
    minutes: MINUTES,
    validity_seconds: VALIDITY,
    calls: sum(short, (one) => one.calls),
    failures: sum(short, (one) => one.failures.length),
    renewals: renewed.join(' '),
    trusting_seconds: steps.trusting,
    retiring_seconds: steps.retiring,
    calls_with_rotation: sum(whole, (one) => one.calls),
    failures_with_rotation: failures,
    reconnected,
  });
  process.exitCode = failures > 0 || reconnected > 0 || renewed.includes(0) ? 1 : 0;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const zone = { CAUSEWAY_WORKLOAD_CERT_VALIDITY: `${VALIDITY}s`, CAUSEWAY_CLOCK_SKEW: '1s' };
  const traffic = await TrafficMesh.start({ zone });
  try {
    await measure(traffic);
  } finally {
    await traffic.stop();
    await stopServices();
  }
}

runProgram(main);
