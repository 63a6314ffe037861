import { performance } from 'node:perf_hooks';
import { HostnameReconciler } from '@causeway/controllers/testing';
import { parseGenerator, ClaimTable, type ParsedGenerator } from '@causeway/naming';
import { globalIdentity, identityKey, type Identity, type Resource } from '@causeway/resources';
import { ResourceIndex, type Change, type StoreChange } from '@causeway/store';

/**
 * The hostname plan (docs/design.md §8): 100,000 services × 10 generators from nothing, then one service and one generator
 * changed. Every generator matches every service, so there are a million claims: the worst of all cases. Prints one
 * JSON line; times in ms, memory in MB. `node --expose-gc -r ./bench/register.cjs bench/plan-hostnames.ts [services]`
 */
const SERVICES = Number(process.argv[2] ?? 100_000);
const GENERATORS = 10;
const point = { incarnation: 'bench', revision: 0 };

function serviceId(i: number): Identity {
  return { kind: 'MeshService', mesh: 'default', zone: `zone-${i % 10}`, namespace: 'default', name: `service-${i}` };
}

function resource(id: Identity, rest: Partial<Resource> = {}): Resource {
  const age = { generation: 1, creationOrder: 1, createdAt: 0, modifiedAt: 0, revision: 1 };
  return { id, uid: id.name, labels: {}, spec: {}, ...age, origin: { ...point, committedAt: 0 }, freed: [], ...rest };
}

function service(i: number): Resource {
  const labels = {
    'kuma.io/display-name': `service-${i}`,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': `zone-${i % 10}`,
    'kuma.io/origin': i % 10 === 0 ? 'zone' : 'global',
    'kuma.io/env': 'universal',
    team: `team-${i % 1000}`,
  };
  return resource(serviceId(i), { labels, creationOrder: 1_700_000_000_000_000 + i });
}

function generator(i: number, labels: Record<string, string> = {}): Resource {
  const id = globalIdentity('HostnameGenerator', `generator-${i}`);
  const template = `{{ name }}.{{ label "kuma.io/zone" }}.g${i}.mesh.local`;
  return resource(id, { creationOrder: i + 1, spec: { selector: { meshService: { labels } }, template } });
}

function rule(i: number, labels?: Record<string, string>): ParsedGenerator {
  return parseGenerator(generator(i, labels), false);
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return Math.round((performance.now() - start) * 1000) / 1000;
}

function percentile(times: readonly number[], share: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
}

function heapMegabytes(): number {
  globalThis.gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}

/** Claims and addresses of everything, then the cost of single changes in it. */
function tableFigures(services: readonly Resource[]): object {
  const keys = services.map(({ id }) => identityKey(id));
  const before = heapMegabytes();
  const table = new ClaimTable('zone-0');
  const planned = (): void => {
    for (const key of table.takeChanged()) table.listAddresses(key);
  };
  const fromNothing = timed(() => {
    table.addMesh('default');
    for (let i = 0; i < GENERATORS; i++) table.upsertGenerator(rule(i));
    services.forEach((each, i) => table.upsertService(each, keys[i]));
    planned();
  });
  const memory = heapMegabytes() - before;
  const moved = (i: number): Resource => ({ ...service(i), labels: { ...service(i).labels, 'kuma.io/zone': 'moved' } });
  const changed = Array.from({ length: 1000 }, (_, i) => moved((i * 97) % SERVICES));
  const oneService = changed.map((each) => timed(() => (table.upsertService(each), planned())));
  const firstUseOfLabel = timed(() => (table.upsertGenerator(rule(10, { team: 'team-0' })), planned()));
  const teams = Array.from({ length: 50 }, (_, i) => rule(11, { team: `team-${i + 1}` }));
  const oneGenerator = teams.map((each) => timed(() => (table.upsertGenerator(each), planned())));
  return {
    fromNothing,
    memory,
    oneServiceP50: percentile(oneService, 0.5),
    oneServiceP99: percentile(oneService, 0.99),
    generatorMatching: services.length / 1000,
    oneGeneratorP50: percentile(oneGenerator, 0.5),
    firstUseOfLabel,
  };
}

/** The whole control loop without a store: every batch is taken back into the index as a store would. */
function loopFigures(services: readonly Resource[]): object {
  const index = new ResourceIndex();
  const mesh = resource(globalIdentity('Mesh', 'default'));
  const generators = Array.from({ length: GENERATORS }, (_, i) => generator(i));
  index.load({ point, resources: [mesh, ...generators, ...services], tombstones: [] });
  const loop = new HostnameReconciler({ role: 'zone', zone: 'zone-0', federated: true });
  index.subscribe((event) => loop.observe(event));
  let longest = 0;
  let first: readonly Change[] = [];
  const next = (): readonly Change[] => {
    for (let more = true; more;) {
      const start = performance.now();
      const plan = loop.plan();
      longest = Math.max(longest, performance.now() - start);
      if (!plan || plan.changes.length > 0) return plan?.changes ?? [];
      more = plan.more === true;
    }
    return [];
  };
  const toFirstPlan = timed(() => (loop.reset(index), (first = next())));
  const rest = timed(() => {
    for (let changes = first; changes.length > 0; changes = next()) takeBack(index, changes);
  });
  const again = timed(() => (loop.reset(index), next()));
  return {
    loopToFirstPlan: toFirstPlan,
    loopToTheEnd: rest,
    loopUnchangedRestart: again,
    longestPlan: Math.round(longest),
  };
}

function takeBack(index: ResourceIndex, changes: readonly Change[]): void {
  const revision = (index.point?.revision ?? 0) + 1;
  const puts = changes.flatMap((change): StoreChange[] => {
    const row = index.get(change.id);
    const status = change.type === 'patch' ? change.status : undefined;
    return row && status ? [{ type: 'put', resource: { ...row, status, revision } }] : [];
  });
  index.apply({ revision, changes: puts });
}

const services = Array.from({ length: SERVICES }, (_, i) => service(i));
const figures = { ...tableFigures(services), ...loopFigures(services) };
console.log(JSON.stringify({ bench: 'plan-hostnames', services: SERVICES, generators: GENERATORS, ...figures }));
