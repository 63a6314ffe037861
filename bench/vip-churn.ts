import type { EnvoyProcess } from '../test/support/envoy-process';
import { TrafficMesh } from '../test/traffic/traffic-mesh';
import { VipChurn } from '../test/traffic/vip-churn';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { runProgram } from './support/run-program';

/**
 * I11 under churn: services come and go in a zone while callers connect, through real Envoys, to addresses that are held and to those
 * that were; a few Envoys at a time are stopped (SIGSTOP) and go on. Counts connections that another service answered than the holder
 * of the address, which must be none, and how often an address went on to another service. Prints one JSON line and exits with 1
 * where a connection went wrong. Needs a build and CAUSEWAY_ENVOY.
 * BENCH_SERVICES (10000), BENCH_PROXIES (20), BENCH_RATE: services made a second (15), BENCH_ALIVE: that stay (100),
 * BENCH_STOPPED: proxies of one stop (4), BENCH_STOPS (3), BENCH_STOP: seconds of one (120), BENCH_EVERY: ms between calls (10),
 * BENCH_VIP_BITS: prefix length of the range (21); it must hold what is freed during a stop.
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const PROXIES = numberSetting('BENCH_PROXIES', 20);
const RATE = numberSetting('BENCH_RATE', 15);
const ALIVE = numberSetting('BENCH_ALIVE', 100);
const STOPPED = numberSetting('BENCH_STOPPED', 4);
const STOPS = numberSetting('BENCH_STOPS', 3);
const STOP = numberSetting('BENCH_STOP', 120);
const EVERY = numberSetting('BENCH_EVERY', 10);
const VIP_BITS = numberSetting('BENCH_VIP_BITS', 21);
const SLOTS = 12;
const PORT = 6379;
/** Interval of the progress lines on stderr, ms. */
const TOLD = 30_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Stops a few proxies after the others, spread over the time of the churn. */
async function stopInTurn(proxies: readonly EnvoyProcess[], churn: VipChurn): Promise<void> {
  for (let turn = 0; turn < STOPS; turn++) {
    while (churn.outcome.made < (SERVICES * (turn + 0.3)) / STOPS) await pause(500);
    const some = Array.from({ length: STOPPED }, (_, n) => proxies[(turn * STOPPED + n) % PROXIES]);
    for (const proxy of some) proxy?.signal('SIGSTOP');
    await pause(STOP * 1_000);
    for (const proxy of some) proxy?.signal('SIGCONT');
  }
}

async function measure(traffic: TrafficMesh): Promise<void> {
  const zone = traffic.zone('west');
  const slots = await traffic.slots('west', SLOTS);
  const proxies: EnvoyProcess[] = [];
  for (let n = 0; n < PROXIES; n++) proxies.push(await traffic.client('west', `client-${n}`));
  const load = { services: SERVICES, alive: ALIVE, rate: RATE, every: EVERY };
  const churn = new VipChurn({ zone, slots, callers: ['127.0.0.1'], port: PORT, ...load });
  const began = performance.now();
  const told = setInterval(() => console.error(JSON.stringify(churn.outcome)), TOLD);
  const [outcome] = await Promise.all([churn.run(), stopInTurn(proxies, churn)]);
  clearInterval(told);
  const { wrong, ...counts } = outcome;
  report('vip-churn', {
    proxies: PROXIES,
    stopped: STOPPED * STOPS,
    stop_seconds: STOP,
    ...counts,
    wrong: wrong.length,
    seconds: Math.round((performance.now() - began) / 1_000),
  });
  for (const one of wrong) console.error(`WRONG ${one}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const traffic = await TrafficMesh.start({
    zones: ['west'],
    vipBits: VIP_BITS,
    zone: { CAUSEWAY_VIP_COOLDOWN: '2s', CAUSEWAY_DNS_TTL: '1s' },
  });
  try {
    await measure(traffic);
  } finally {
    await traffic.stop();
    await stopServices();
  }
}

runProgram(main);
