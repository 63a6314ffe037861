import { AgentMesh, type AgentInstance } from '../test/traffic/agent-mesh';
import { ended } from '../test/traffic/web-service';
import { RequestLoad, type RequestOutcome } from '../test/traffic/request-load';
import { until } from '../test/support/until';
import { CpuByRole } from './support/cpu-by-role';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * A rolling restart of a service with three instances in east, called from west through the agents of both and an ingress of east: for
 * each instance the agent is drained, the process is told to end and is started again, and so is its agent. Then the same while the
 * leader of east and one of its two ingresses are killed. Prints one JSON line for each, and exits with 1 where a request of the first
 * failed. Needs a build. BENCH_RATE: requests a second (500), BENCH_FRESH: how many of them on connections of their own (50), BENCH_LASTING: most connections for the others (32),
 * BENCH_SECONDS: at least so long (30), BENCH_PLANE: builtin or envoy, which needs CAUSEWAY_ENVOY (builtin), BENCH_DRAIN: agent, or
 * process where only the process is restarted, which says at its health check that it ends (agent).
 */
const RATE = numberSetting('BENCH_RATE', 500);
const FRESH = numberSetting('BENCH_FRESH', 50);
const SECONDS = numberSetting('BENCH_SECONDS', 30);
const LASTING = numberSetting('BENCH_LASTING', 32);
const LOAD = { rate: RATE, fresh: FRESH, lasting: LASTING };
const PLANE = process.env['BENCH_PLANE'] === 'envoy' ? 'envoy' : 'builtin';
const DRAIN = process.env['BENCH_DRAIN'] === 'process' ? 'process' : 'agent';
/** Without a request before the first restart and after the last, ms. */
const REST = 2_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function restart(mesh: AgentMesh, one: AgentInstance): Promise<void> {
  if (DRAIN === 'agent') await mesh.restart(one);
  else {
    await ended(one.process, 'SIGTERM');
    await mesh.restartProcess(one);
    await mesh.untilReady(one);
  }
}

/** Restarts all instances one after the other, again and again for BENCH_SECONDS. */
async function roll(mesh: AgentMesh, instances: readonly AgentInstance[]): Promise<number> {
  const end = performance.now() + SECONDS * 1_000;
  let rounds = 0;
  await pause(REST);
  do {
    for (const one of instances) await restart(mesh, one);
    rounds += 1;
  } while (performance.now() < end);
  await pause(REST);
  return rounds;
}

/** Returns the role of a process of the installation, from its command line. */
function roleOf(command: string | undefined): string {
  if (command === undefined) return 'this bench, the client';
  const [, name] = /\/(client-west|ingress-\d+-\w+|web-\d+)\//.exec(command) ?? [];
  if (name?.startsWith('client')) return 'plane of the client';
  if (name?.startsWith('ingress')) return 'ingresses';
  if (name !== undefined) return 'planes of the service';
  return command.includes('web-service') ? 'processes of the service' : 'control planes, databases';
}

function tell(what: string, rounds: number, outcome: RequestOutcome, cpu: CpuByRole): void {
  const { requests, failures, resent, answers, times, waits } = outcome;
  report('rolling', {
    what,
    plane: PLANE,
    drain: DRAIN,
    rate: RATE,
    fresh: FRESH,
    lasting: LASTING,
    rounds,
    requests,
    failed: failures.length,
    resent,
    answers,
    times: summary(times),
    waits: summary(waits),
    cpu: cpu.stop(requests),
    failures: failures.slice(0, 20),
  });
}

async function measure(mesh: AgentMesh): Promise<void> {
  await mesh.client('west');
  const names = ['web-1', 'web-2', 'web-3'];
  const instances = await Promise.all(names.map((name) => mesh.instance('east', 'web', name)));
  const vip = await mesh.traffic.vip('west', 'web', 'east');
  const warm = new RequestLoad(vip, { rate: 20, fresh: 20 });
  await until('answers of all', () => Object.keys(warm.outcome.answers).length === names.length).catch(
    (cause: unknown) => {
      const { answers, failures } = warm.outcome;
      throw new Error(`answers so far: ${JSON.stringify({ answers, failures: failures.slice(-3) })}`, { cause });
    },
  );
  await warm.stop();

  const load = new RequestLoad(vip, LOAD);
  const calmCpu = new CpuByRole(roleOf);
  const rounds = await roll(mesh, instances);
  const calm = await load.stop();
  tell('rolling restart', rounds, calm, calmCpu);
  process.exitCode = calm.failures.length === 0 ? 0 : 1;

  const again = new RequestLoad(vip, LOAD);
  const roughCpu = new CpuByRole(roleOf);
  const rolling = roll(mesh, instances);
  await pause(2 * REST);
  await Promise.all([
    mesh.traffic.leaderOf('east').then((leader) => leader.kill()),
    mesh.ingress('east', 0).end('SIGKILL'),
  ]);
  const killedAt = Math.round(again.elapsed);
  await rolling;
  const rough = await again.stop();
  tell(`the same, leader and an ingress of east killed after ${killedAt} ms`, rounds, rough, roughCpu);
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const mesh = await AgentMesh.start({ replicas: 2, ingresses: 2, plane: PLANE });
  try {
    await measure(mesh);
  } finally {
    await mesh.stop();
    await stopServices();
  }
}

runProgram(main);
