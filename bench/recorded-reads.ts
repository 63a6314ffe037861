import { performance } from 'node:perf_hooks';
import type { Resource } from '@causeway/resources';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';
import { sketch, TrafficZone } from '../test/support/traffic-zone';
import { zoneResources } from '../test/support/zone-resources';
import { numberSetting, report } from './support/report';

/**
 * Measures the cost of recording what each resource of each proxy was made of (ADR 15): the bytes of a resource and proxy, and what a change
 * of one service costs, against the alternative: all that one proxy holds made anew to see what differs. The proxies have capture `bind`
 * and use all services; each serves one. BENCH_RECORDED=0 remembers nothing. Needs --expose-gc. Prints one JSON line.
 * BENCH_SERVICES (200), BENCH_PROXIES (10000).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 200);
const PROXIES = numberSetting('BENCH_PROXIES', 10_000);
const IS_RECORDED = numberSetting('BENCH_RECORDED', 1) === 1;
const LISTED = [RESOURCE_TYPES.cluster, RESOURCE_TYPES.listener];

function service(n: number, hostname = `service-${n}.mesh`): Resource {
  const spec = { selector: { dataplaneTags: { 'kuma.io/service': `service-${n}` } }, ports: [{ port: 80 }] };
  const vip = { ip: `241.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
  const addresses = [{ hostname, status: 'Available' }];
  return sketch('MeshService', `service-${n}`, spec, { creationOrder: n + 1, status: { vip, addresses } });
}

function dataplane(n: number): Resource {
  const tags = { 'kuma.io/service': `service-${n % SERVICES}` };
  const networking = { address: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, inbound: [{ port: 80, tags }] };
  return sketch('Dataplane', `dataplane-${n}`, { networking });
}

/** Takes all that a proxy holds; how much that is. */
function takeAll(source: EnvoyResources, view: EnvoyView): number {
  let taken = 0;
  for (const type of LISTED)
    for (const name of source.names({ id: 'p', view }, type)) {
      source.get(view, type, name);
      taken += 1;
    }
  return taken;
}

function heap(): number {
  if (!globalThis.gc) throw new Error('run with node --expose-gc');
  for (let n = 0; n < 4; n++) globalThis.gc();
  return process.memoryUsage().heapUsed;
}

function main(): void {
  const dataplanes = Array.from({ length: PROXIES }, (_, n) => dataplane(n));
  const zone = new TrafficZone([...Array.from({ length: SERVICES }, (_, n) => service(n)), ...dataplanes]);
  const source = zoneResources(zone, 'west');
  const { reads } = source.loader.served;
  if (!IS_RECORDED) {
    Object.defineProperty(reads, 'record', { value: (_: unknown, make: () => unknown) => make() });
    Object.defineProperty(reads, 'recordOwn', { value: (make: () => unknown) => make() });
  }
  const views = dataplanes.map(({ id }): EnvoyView => {
    return { mesh: 'default', capture: { type: 'bind' }, listed: 'all', dataplane: id };
  });
  const before = heap();
  const resources = views.reduce((sum, view) => sum + takeAll(source, view), 0);
  const bytes = heap() - before;
  const { readers, reads: noted } = reads.size;
  const changes = 50;
  let began = performance.now();
  for (let n = 0; n < changes; n++) zone.put(service(n % SERVICES, `renamed-${n}.mesh`));
  const change_ms = (performance.now() - began) / changes;
  began = performance.now();
  const fresh = zoneResources(zone, 'west');
  const load_ms = performance.now() - began;
  began = performance.now();
  takeAll(fresh, views[0] ?? { mesh: '', listed: 'all' });
  const anew_ms = performance.now() - began;
  report('recorded-reads', {
    services: SERVICES,
    proxies: PROXIES,
    recorded: IS_RECORDED,
    resources,
    readers,
    reads: noted,
    heap_mb: Math.round(bytes / 1e5) / 10,
    bytes_each: Math.round(bytes / resources),
    change_ms: Math.round(change_ms * 1_000) / 1_000,
    load_ms: Math.round(load_ms),
    anew_ms: Math.round(anew_ms * 100) / 100,
  });
}

main();
