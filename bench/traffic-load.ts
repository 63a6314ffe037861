import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { inTimedSlices, systemClock } from '@causeway/runtime';
import type { Resource } from '@causeway/resources';
import { sketch, TrafficZone } from '../test/support/traffic-zone';
import { numberSetting, report } from './support/report';
import { zoneResources } from '../test/support/zone-resources';

/**
 * Measures what the xDS port derives from an index when a zone starts: how long until proxies are answered, and the longest time for which it
 * holds the event loop. Half of the services are of this zone, each with a Dataplane. Prints one JSON line.
 * BENCH_SERVICES (100000).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 100_000);

function service(n: number): readonly Resource[] {
  const tags = { 'kuma.io/service': `service-${n}` };
  const zone = n % 2 === 0 ? 'west' : 'east';
  const spec = { selector: { dataplaneTags: tags }, ports: [{ port: 80, appProtocol: 'tcp' }], state: 'Available' };
  const vip = { ip: `241.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  const made = sketch('MeshService', `service-${n}`, spec, { zone, creationOrder: n + 1, status: { vip } });
  const networking = { address: '10.0.0.1', inbound: [{ port: 80, tags }] };
  return zone === 'west' ? [made, sketch('Dataplane', `dataplane-${n}`, { networking })] : [made];
}

/** CPU time of the thread that runs this, ms (Linux). */
function cpuMs(): number {
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;
}

/** The longest slice by its CPU time: on a busy host the time of the event loop includes other processes. */
class Slices {
  longest = 0;
  private before = cpuMs();

  ended(): void {
    const now = cpuMs();
    this.longest = Math.max(this.longest, now - this.before);
    this.before = now;
  }
}

async function main(): Promise<void> {
  const resources = Array.from({ length: SERVICES }, (_, n) => service(n)).flat();
  const ingress = sketch('ZoneIngress', 'in', { networking: { address: '192.0.2.7', port: 10001 } }, { zone: 'east' });
  const zone = new TrafficZone([...resources, ingress]);
  const held = monitorEventLoopDelay({ resolution: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  held.enable();
  const began = performance.now();
  const cpuBefore = cpuMs();
  const slices = new Slices();
  const source = zoneResources(zone, 'west', {
    run: (steps) => void inTimedSlices(steps, { clock: systemClock, each: () => slices.ended() }),
  });
  await source.whenLoaded();
  const cpu_ms = Math.round(cpuMs() - cpuBefore);
  await new Promise((resolve) => setTimeout(resolve, 20));
  held.disable();
  report('traffic-load', {
    services: SERVICES,
    destinations: source.model.computed,
    loaded_ms: Math.round(performance.now() - began - 20),
    cpu_ms,
    longest_slice_cpu_ms: Math.round(slices.longest * 10) / 10,
    longest_hold_ms: Math.round(held.max / 1e5) / 10,
    p99_hold_ms: Math.round(held.percentile(99) / 1e5) / 10,
  });
}

void main();
