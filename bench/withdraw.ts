import { AgentMesh, type AgentInstance } from '../test/traffic/agent-mesh';
import { ended } from '../test/traffic/web-service';
import { EndpointWatch } from '../test/traffic/endpoint-watch';
import { PORT } from '../test/traffic/traffic-mesh';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * Measures how long a killed process or agent (SIGKILL) stays in the endpoints that proxies get: in east, where it runs, and in west,
 * which learns for a service in several zones that east no longer serves it. Global, east, west, the agents and the processes of the
 * services are processes. Prints one JSON line. Needs a build. BENCH_PROCESSES: processes that are killed (20), BENCH_AGENTS: agents
 * that are killed (3), BENCH_LEASE: the lease, s (10), BENCH_INTERVAL: of the health check, s (10).
 */
const PROCESSES = numberSetting('BENCH_PROCESSES', 20);
const AGENTS = numberSetting('BENCH_AGENTS', 3);
const LEASE = numberSetting('BENCH_LEASE', 10);
const INTERVAL = numberSetting('BENCH_INTERVAL', 10);
const [IN_EAST, EVERYWHERE] = [`kri_msvc_default_east__web_${PORT}`, `kri_mzsvc_default___web_${PORT}`];

interface Times {
  readonly east: number[];
  readonly west: number[];
}

/** Resolves when an instance is among the endpoints, or is not; ms from `began` in east and in west. */
async function when(
  { east, west }: { readonly east: EndpointWatch; readonly west: EndpointWatch },
  isThere: boolean,
  { times, began = performance.now() }: { readonly times?: Times; readonly began?: number } = {},
): Promise<void> {
  const as = (serving: ReadonlySet<string>): boolean => serving.size > 0 === isThere;
  const [inEast, inWest] = await Promise.all([east.when(IN_EAST, as), west.when(EVERYWHERE, as)]);
  times?.east.push(inEast - began);
  times?.west.push(inWest - began);
}

/** Steps of a sawtooth: kills fall into every part of the periods of those who look. */
const pause = (n: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500 + ((n * 137) % 1_000)));

async function measure(mesh: AgentMesh, one: AgentInstance): Promise<void> {
  const { traffic } = mesh;
  const [east, west] = [
    await EndpointWatch.open(traffic, 'east', [IN_EAST]),
    await EndpointWatch.open(traffic, 'west', [EVERYWHERE]),
  ];
  const ofProcesses: Times = { east: [], west: [] };
  await when({ east, west }, true);
  for (let n = 0; n < PROCESSES; n++) {
    await pause(n);
    const began = performance.now();
    await ended(one.process, 'SIGKILL');
    await when({ east, west }, false, { times: ofProcesses, began });
    await mesh.restartProcess(one);
    await when({ east, west }, true);
  }
  const ofAgents: Times = { east: [], west: [] };
  for (let n = 0; n < AGENTS; n++) {
    // A leader ends no lease before it has looked at them for a while.
    await new Promise((resolve) => setTimeout(resolve, (LEASE + 6) * 1_000));
    const began = performance.now();
    await one.agent.end('SIGKILL');
    await when({ east, west }, false, { times: ofAgents, began });
    await one.agent.start();
    await when({ east, west }, true);
  }
  report('withdraw', {
    interval_seconds: INTERVAL,
    process_east: summary(ofProcesses.east),
    process_west: summary(ofProcesses.west),
    lease_seconds: LEASE,
    agent_east: summary(ofAgents.east),
    agent_west: summary(ofAgents.west),
  });
  await Promise.all([east.close(), west.close()]);
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const mesh = await AgentMesh.start({ zone: { CAUSEWAY_AGENT_LEASE: `${LEASE}s` } });
  try {
    const spec = {
      selector: { meshService: { matchLabels: { 'kuma.io/display-name': 'web' } } },
      ports: [{ port: PORT, appProtocol: 'http' }],
    };
    await mesh.traffic.put(mesh.traffic.mesh.global, 'MeshMultiZoneService', 'web', spec);
    await measure(mesh, await mesh.instance('east', 'web', 'web-1', { interval: `${INTERVAL}s` }));
  } finally {
    await mesh.stop();
    await stopServices();
  }
}

runProgram(main);
