import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessPlane } from '../test/support/process-plane';
import type { At } from '../test/traffic/calls';
import { RequestLoad, type RequestOutcome } from '../test/traffic/request-load';
import { RoutedService, VERSIONS, WayOfRequests, type ChangeKind } from '../test/traffic/route-changes';
import { TrafficMesh } from '../test/traffic/traffic-mesh';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * A route is changed under load: its weights, and what its rules match, in turn. How long after the answer to the PUT the change is in
 * force (the first request that goes the new way and after which none goes the old way; 0 where that was before the answer), and how
 * many requests failed. First the route is one of east, and so is the load; then it is one of the global, and the load is in east and
 * in west, whose requests go through the ingress of east. Global, east, west and the proxies (Envoy) are processes. Prints one JSON
 * line, and exits with 1 where a request failed. Needs a build and CAUSEWAY_ENVOY. BENCH_RATE: requests a second (1000), BENCH_CHANGES:
 * of each kind and place (20). The load sends every 10 ms, so that much of each time is its own.
 */
const RATE = numberSetting('BENCH_RATE', 1_000);
const CHANGES = numberSetting('BENCH_CHANGES', 20);
const KINDS: readonly ChangeKind[] = ['weight', 'match'];
/** Share of the rate that east gets while the load is in west. */
const SMALL = 0.1;

interface Loaded {
  readonly load: RequestLoad;
  readonly way: WayOfRequests;
}

function loaded(at: At, rate: number): Loaded {
  const way = new WayOfRequests();
  return { way, load: new RequestLoad(at, { rate, fresh: rate / 20, answered: way.answered }) };
}

/** Changes the route again and again; ms of each change in each load, from the answer to its PUT. */
async function change(service: RoutedService, plane: ProcessPlane, loads: readonly Loaded[]) {
  const put: number[] = [];
  const times = { weight: loads.map((): number[] => []), match: loads.map((): number[] => []) };
  for (let n = 0; n < CHANGES * KINDS.length; n++) {
    const kind = KINDS[Math.floor(n / VERSIONS.length) % KINDS.length] ?? 'weight';
    const to = VERSIONS[(n + 1) % VERSIONS.length] ?? 'one';
    // Steps of a sawtooth: changes fall into every part of the periods of those who look.
    await pause(200 + ((n * 137) % 500));
    for (const { way } of loads) way.forget();
    const sent = performance.now();
    await service.put(plane, kind, to);
    const answered = performance.now();
    put.push(answered - sent);
    const inForce = await Promise.all(loads.map(({ way }) => way.all(to, sent)));
    inForce.forEach((at, i) => times[kind][i]?.push(Math.max(0, at - answered)));
  }
  return { put, ...times };
}

function told({ requests, failures, resent, times }: RequestOutcome) {
  const reasons = failures.slice(0, 10).map(({ reason }) => reason);
  return {
    requests,
    failed: failures.length,
    resent,
    answered: summary(times),
    ...(reasons.length > 0 && { reasons }),
  };
}

async function measure(traffic: TrafficMesh, service: RoutedService): Promise<void> {
  await Promise.all(traffic.zones.map((zone) => traffic.client(zone)));
  const [east, west] = [await traffic.vip('east', 'one', 'east'), await traffic.vip('west', 'one', 'east')];

  // Requests before everything is known to the proxies are not counted.
  for (const at of [east, west]) {
    const { load, way } = loaded(at, 50);
    await way.all('one', performance.now());
    await load.stop();
  }

  const same = loaded(east, RATE);
  const ofZone = await change(service, traffic.zone('east'), [same]);
  const inZone = await same.load.stop();
  await service.delete(traffic.zone('east'));

  const both = [loaded(east, RATE * SMALL), loaded(west, RATE * (1 - SMALL))];
  const ofGlobal = await change(service, traffic.mesh.global, both);
  const [inEast, inWest] = await Promise.all(both.map(({ load }) => load.stop()));
  if (!inEast || !inWest) throw new Error('no load');

  const perKind = ({ weight, match }: Awaited<ReturnType<typeof change>>, i: number) => {
    return { weight: summary(weight[i] ?? []), match: summary(match[i] ?? []) };
  };
  const failed = [inZone, inEast, inWest].reduce((sum, { failures }) => sum + failures.length, 0);
  report('route-change', {
    rate: RATE,
    changes: CHANGES,
    failed,
    zone_route: { put: summary(ofZone.put), same_zone: perKind(ofZone, 0), load: told(inZone) },
    global_route: {
      put: summary(ofGlobal.put),
      east: perKind(ofGlobal, 0),
      west: perKind(ofGlobal, 1),
      load_east: told(inEast),
      load_west: told(inWest),
    },
  });
  process.exitCode = failed === 0 ? 0 : 1;
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const traffic = await TrafficMesh.start();
  try {
    const service = await RoutedService.start(traffic);
    await measure(traffic, service).finally(() => service.stop());
  } finally {
    await traffic.stop();
    await stopServices();
  }
}

runProgram(main);
