import { firstAnswer } from '../test/traffic/calls';
import { TrafficMesh } from '../test/traffic/traffic-mesh';
import { numberSetting, report } from './support/report';
import { watchServices } from './support/service-watch';
import { benchServices } from './support/services';
import { summary } from './support/summary';
import { runProgram } from './support/run-program';

/**
 * PUT of a Dataplane in east that has one service more → first answer of that service at its VIP in west, through west's Envoy (capture
 * `bind`), east's ingress and east's Envoy, with mutual TLS. Global, east and west are processes. Also: PUT → VIP known in west.
 * Prints one JSON line. Needs a build and CAUSEWAY_ENVOY. BENCH_SERVICES (50), BENCH_REST: ms between two (200).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 50);
const REST = numberSetting('BENCH_REST', 200);
const WARM = 5;
const FIRST_PORT = 7_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves with the address of a service when west has it. */
class Addresses {
  private readonly known = new Map<string, { readonly vip: string; readonly at: number }>();
  private readonly waiting = new Map<string, (found: { readonly vip: string; readonly at: number }) => void>();

  seen(name: string, vip: string, at: number): void {
    if (!this.known.has(name)) this.known.set(name, { vip, at });
    this.waiting.get(name)?.({ vip, at });
  }

  of(name: string): Promise<{ readonly vip: string; readonly at: number }> {
    const known = this.known.get(name);
    return known ? Promise.resolve(known) : new Promise((resolve) => this.waiting.set(name, resolve));
  }
}

async function measure(traffic: TrafficMesh): Promise<void> {
  const [east, west] = [traffic.zone('east'), traffic.zone('west')];
  const { at, process } = await traffic.instance('east', 'first', 'first');
  await traffic.client('west');
  const [named, answered]: [number[], number[]] = [[], []];
  const addresses = new Addresses();
  const end = await watchServices(west, ({ name, vip, at: seen }) => addresses.seen(name, vip, seen));
  try {
    const inbound: object[] = [];
    for (let n = 0; n < WARM + SERVICES; n++) {
      const port = FIRST_PORT + n;
      const service = `new-${n}`;
      inbound.push({
        port,
        servicePort: process.port,
        tags: { 'kuma.io/service': service, 'kuma.io/protocol': 'tcp' },
      });
      const began = performance.now();
      await traffic.put(east, 'Dataplane', 'first', { networking: { address: at.address, inbound } });
      const found = await addresses.of(service);
      const { ms } = await firstAnswer({ address: found.vip, port }, { began });
      if (n >= WARM) named.push(found.at - began);
      if (n >= WARM) answered.push(ms);
      await pause(REST);
    }
  } finally {
    end();
  }
  report('first-answer', { services: SERVICES, first_answer: summary(answered), vip: summary(named) });
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const traffic = await TrafficMesh.start();
  try {
    await measure(traffic);
  } finally {
    await traffic.stop();
    await stopServices();
  }
}

runProgram(main);
