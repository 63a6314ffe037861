import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@causeway/resources';
import { PORTS, RoutedPlane } from '../test/support/routed-plane';
import { sketch } from '../test/support/traffic-zone';
import { RequestLoad, type Answer } from '../test/traffic/request-load';
import { VERSIONS, WayOfRequests, type Version } from '../test/traffic/route-changes';
import { numberSetting, report } from './support/report';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * A TimeoutPolicy is changed under load: how long after the change of the index it is in force (the first request that a real Envoy
 * sends with the new time-out and after which none goes with the old one), and how many requests failed. First it is one of a service,
 * then one of a mesh with many services more, of which the Envoy has been told four; `told_ms` is what the change costs this process at
 * once, which is the control plane, the load and the service. Prints one JSON line, and exits with 1 where a request failed. Needs
 * CAUSEWAY_ENVOY. BENCH_RATE: requests a second (1000), BENCH_CHANGES: of each place (50), BENCH_SERVICES (10000).
 */
const RATE = numberSetting('BENCH_RATE', 1_000);
const CHANGES = numberSetting('BENCH_CHANGES', 50);
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);

/** The time-outs in turn, s, and the header by which an Envoy passes them to a server. */
const SECONDS: Readonly<Record<Version, number>> = { one: 100, two: 200 };
const SAID = /"x-envoy-expected-rq-timeout-ms":"([0-9]+)"/;

/** The version of the policy by which a request was sent. */
function versionOf({ begun, text }: Answer): Answer {
  const ms = Number(SAID.exec(text)?.[1] ?? 0);
  return { begun, text: VERSIONS.find((each) => SECONDS[each] * 1_000 === ms) ?? 'none' };
}

async function change(routed: RoutedPlane, target: JsonObject, way: WayOfRequests) {
  const [told, force]: [number[], number[]] = [[], []];
  for (let n = 0; n < CHANGES; n++) {
    const to = VERSIONS[n % VERSIONS.length] ?? 'one';
    const spec = { targetRefs: [target], request: `${SECONDS[to]}s` };
    await pause(100 + ((n * 137) % 300));
    way.forget();
    const begun = performance.now();
    routed.plane.state.put(sketch('TimeoutPolicy', 'policy', spec, { namespace: 'mesh' }));
    told.push(performance.now() - begun);
    force.push((await way.all(to, begun)) - begun);
  }
  return { told_ms: summary(told), in_force: summary(force) };
}

async function measure(routed: RoutedPlane): Promise<void> {
  for (const name of ['echo', 'echo-v1', 'echo-v2', 'other']) await routed.service(name);
  await routed.client('mesh', false);
  const way = new WayOfRequests();
  const at = { address: routed.addressOf('echo'), port: PORTS.http };
  const load = new RequestLoad(at, {
    rate: RATE,
    fresh: RATE / 20,
    answered: (answer) => way.answered(versionOf(answer)),
  });
  const service = await change(routed, { kind: 'MeshService', name: 'echo' }, way);

  const spec = { ports: [{ port: 80, appProtocol: 'http' }] };
  for (let n = 0; n < SERVICES; n++) {
    routed.plane.state.put(sketch('MeshService', `service-${n}`, spec, { namespace: 'mesh' }));
    if (n % 100 === 0) await pause(1);
  }
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const mesh = await change(routed, { kind: 'Mesh', name: 'default' }, way);
  delay.disable();

  const { requests, failures, resent } = await load.stop();
  const reasons = failures.slice(0, 10).map(({ reason }) => reason);
  report('policy-change', {
    rate: RATE,
    changes: CHANGES,
    requests,
    failed: failures.length,
    resent,
    ...(reasons.length > 0 && { reasons }),
    of_service: service,
    of_mesh: { services: SERVICES, ...mesh, longest_block_ms: Math.round(delay.max / 1e6) },
    problems: routed.plane.problems(),
  });
  process.exitCode = failures.length === 0 ? 0 : 1;
}

async function main(): Promise<void> {
  const routed = await RoutedPlane.start();
  await measure(routed).finally(() => routed.stop());
}

runProgram(main);
