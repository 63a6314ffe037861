import { performance } from 'node:perf_hooks';
import { claimRule, ClaimTable, type ClaimRule } from '@causeway/naming';
import { identityKey, type Identity } from '@causeway/resources';

/**
 * Hostname plan of 100,000 services × 10 generators that all match (design.md §8): from nothing, then one service, one
 * generator. Prints one JSON line.
 */
const SERVICES = Number(process.env['BENCH_SERVICES'] ?? 100_000);
const GENERATORS = 10;

function serviceId(i: number): Identity {
  return { kind: 'MeshService', mesh: 'default', zone: `zone-${i % 10}`, namespace: 'default', name: `service-${i}` };
}

function service(i: number) {
  const labels = {
    'kuma.io/display-name': `service-${i}`,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': `zone-${i % 10}`,
    'kuma.io/origin': i % 10 === 0 ? 'zone' : 'global',
    'kuma.io/env': 'universal',
    team: `team-${i % 1000}`,
  };
  return { id: serviceId(i), labels, creationOrder: 1_700_000_000_000_000 + i };
}

function generator(i: number, labels: Record<string, string> = {}): ClaimRule {
  const id = { kind: 'HostnameGenerator', mesh: '', zone: '', namespace: '', name: `generator-${i}` };
  const spec = {
    selector: { meshService: { labels } },
    template: `{{ name }}.{{ label "kuma.io/zone" }}.g${i}.mesh.local`,
  };
  return claimRule({ id, creationOrder: i + 1, spec }, false);
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return Math.round((performance.now() - start) * 1000) / 1000;
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}

const services = Array.from({ length: SERVICES }, (_, i) => service(i));
const keys = services.map(({ id }) => identityKey(id));
const before = heapMegabytes();
const table = new ClaimTable('zone-0');

const claims = timed(() => {
  table.addMesh('default');
  for (let i = 0; i < GENERATORS; i++) table.upsertGenerator(generator(i));
  services.forEach((each, i) => table.upsertService(each, keys[i]));
  table.takeTouched();
});
const after = heapMegabytes();
let count = 0;
const addresses = timed(() => {
  for (const key of keys) count += table.addressesOf(key).length;
});
const oneService = timed(() => {
  const changed = service(4711);
  table.upsertService({ ...changed, labels: { ...changed.labels, team: 'moved', 'kuma.io/zone': 'elsewhere' } });
  for (const key of table.takeTouched()) table.addressesOf(key);
});
const oneGenerator = timed(() => {
  table.upsertGenerator(generator(10, { team: 'team-7' }));
  table.takeTouched();
});
const again = timed(() => {
  table.upsertGenerator(generator(11, { team: 'team-8' }));
  for (const key of table.takeTouched()) table.addressesOf(key);
});
console.log(
  JSON.stringify({ bench: 'plan-hostnames', claims, addresses, count, oneService, oneGenerator, again, before, after }),
);
