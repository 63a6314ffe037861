import { createDnsServer } from '@causeway/dns/testing';
import { silentLogger, systemClock } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';
import { performance } from 'node:perf_hooks';
import { serviceOf } from './dns-zone';

/** A DNS server with argv[2] hostnames in a separate process on one core; it reports its costs. */
async function main(): Promise<void> {
  const hostnames = Number(process.argv[2]);
  const index = new ResourceIndex();
  const resources = Array.from({ length: hostnames }, (_, n) => serviceOf(n));
  index.load({ point: { incarnation: 'bench', revision: hostnames }, resources, tombstones: [] });
  const before = heap();
  const began = performance.now();
  const config = { limits: { ratePerClient: 0 }, forward: { enabled: false } };
  const server = createDnsServer({ index, zone: 'east', clock: systemClock, logger: silentLogger, config });
  // Binding waits for the names.
  const port = await server.bind('127.0.0.1', 0);
  const load = performance.now() - began;
  const table = heap() - before;
  const change = changeOne(index, hostnames);
  process.on('message', () => {
    process.send?.({ port, load, table, change, heap: heap(), rss: process.memoryUsage.rss(), ...process.cpuUsage() });
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ port });
}

/** ms that one renamed service costs, on average. */
function changeOne(index: ResourceIndex, hostnames: number): number {
  const tries = 1_000;
  const began = performance.now();
  for (let i = 0; i < tries; i++) {
    const n = Math.floor((i * 7919) % hostnames);
    const resource = serviceOf(n);
    const moved = {
      ...resource,
      status: { ...resource.status, vip: { ip: `243.0.${i >> 8}.${i & 255}`, type: 'Kuma' } },
    };
    index.apply({ revision: hostnames + i + 1, changes: [{ type: 'put', resource: moved }] });
  }
  return (performance.now() - began) / tries;
}

function heap(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

void main();
