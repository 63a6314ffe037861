import { Resolver } from 'node:dns/promises';
import { AgentMesh, type AgentClient } from '../test/traffic/agent-mesh';
import { RequestLoad, type RequestOutcome } from '../test/traffic/request-load';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { runProgram } from './support/run-program';

/**
 * Names and virtual IPs that were used, with every control plane dead (SIGKILL): a client in west asks its agent for the name of a service
 * in east and calls it, through the agents of both and the ingress of east, for BENCH_MINUTES (10). In the middle the agents of the
 * client and of an instance are killed and started again, which ends the connections of both for as long as they are away. Prints one
 * JSON line, and exits with 1 where a name had no answer or a request failed but while an agent was away. Needs a build.
 * BENCH_RATE: requests a second (50), of which a fifth on connections of their own.
 */
const MINUTES = numberSetting('BENCH_MINUTES', 10);
const RATE = numberSetting('BENCH_RATE', 50);
const HOSTNAME = 'web.svc.east.mesh.local';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Asked {
  answered: number;
  failed: number;
}

/** Asks for the name every 100 ms and calls its address, for so long, ms. */
async function use(client: AgentClient, vip: string, ms: number): Promise<{ names: Asked; load: RequestOutcome }> {
  const names: Asked = { answered: 0, failed: 0 };
  const load = new RequestLoad({ address: vip, port: 6379 }, { rate: RATE, fresh: RATE / 5 });
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const found = await resolved(client);
    if (found === vip) names.answered += 1;
    else names.failed += 1;
    await pause(100);
  }
  return { names, load: await load.stop() };
}

async function resolved({ dns: { address, port } }: AgentClient): Promise<string | undefined> {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`${address}:${port}`]);
  const [found] = await resolver.resolve4(HOSTNAME).catch(() => []);
  return found;
}

async function measure(mesh: AgentMesh): Promise<void> {
  const { traffic } = mesh;
  const client = await mesh.client('west');
  const instances = await Promise.all(['web-1', 'web-2'].map((name) => mesh.instance('east', 'web', name)));
  const { address } = await traffic.vip('west', 'web', 'east');
  await until('the name', async () => (await resolved(client)) === address);
  await use(client, address, 2_000);
  await Promise.all([traffic.mesh.global.kill(), traffic.crash('east'), traffic.crash('west')]);
  const before = await use(client, address, MINUTES * 30_000);
  const began = performance.now();
  for (const agent of [client.agent, instances[0]?.agent]) {
    await agent?.end('SIGKILL');
    await agent?.start();
  }
  await until('the name', async () => (await resolved(client)) === address);
  const away = performance.now() - began;
  const after = await use(client, address, MINUTES * 30_000);
  const sum = (count: (one: typeof before) => number): number => count(before) + count(after);
  const failures = [...before.load.failures, ...after.load.failures];
  const names_failed = sum(({ names }) => names.failed);
  report('without-control-planes', {
    minutes: MINUTES,
    names: sum(({ names }) => names.answered),
    names_failed,
    requests: sum(({ load }) => load.requests),
    failed: failures.length,
    resent: sum(({ load }) => load.resent),
    agents_away_ms: Math.round(away),
    failures: failures.slice(0, 20),
  });
  process.exitCode = names_failed + failures.length > 0 ? 1 : 0;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const mesh = await AgentMesh.start();
  try {
    await measure(mesh);
  } finally {
    await mesh.stop();
    await stopServices();
  }
}

runProgram(main);
