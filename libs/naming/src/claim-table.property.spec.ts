import * as fc from 'fast-check';
import {
  compareIdentities,
  compareText,
  effectiveLabel,
  identityKey,
  type Identity,
  type Labels,
  type ResourceKey,
} from '@causeway/resources';
import { parseGenerator } from './parsed-generator';
import { ClaimTable } from './claim-table';

interface TableService {
  readonly id: Identity;
  readonly labels: Labels;
  readonly creationOrder: number;
}
interface TestGenerator {
  readonly id: Identity;
  readonly creationOrder: number;
  readonly spec: { readonly selector: Record<string, { readonly labels: Labels }>; readonly template: string };
}
interface TestTable {
  readonly services: readonly TableService[];
  readonly generators: readonly TestGenerator[];
  readonly meshes: readonly string[];
}

const FIELDS: Record<string, string> = {
  MeshService: 'meshService',
  MeshMultiZoneService: 'meshMultiZoneService',
  MeshExternalService: 'meshExternalService',
};
const mesh = fc.constantFrom('default', 'other');
const label = fc.record({ app: fc.constantFrom('x', 'y', 'Z') }, { requiredKeys: [] });
const order = fc.constantFrom(0, 0, 1, 2, 3);
const service: fc.Arbitrary<TableService> = fc
  .record({
    kind: fc.constantFrom(...Object.keys(FIELDS)),
    mesh,
    zone: fc.constantFrom('east', 'west'),
    name: fc.constantFrom('a', 'b', 'c'),
    labels: label,
    order,
  })
  .map(({ kind, mesh, zone, name, labels, order }) => {
    const zoned = kind === 'MeshService';
    return {
      id: { kind, mesh, zone: zoned ? zone : '', namespace: zoned ? 'default' : '', name },
      labels,
      creationOrder: order,
    };
  });
const generator: fc.Arbitrary<TestGenerator> = fc
  .record({
    here: fc.boolean(),
    name: fc.constantFrom('g', 'h', 'i'),
    order,
    field: fc.constantFrom(...Object.values(FIELDS)),
    labels: fc.constantFrom<Labels>({}, {}, { app: 'x' }, { app: 'y' }),
    template: fc.constantFrom('n.mesh', '{{ name }}.mesh', '{{ label "app" }}.mesh', 'a.mesh', '{{ .Zone }}.mesh'),
  })
  .map(({ here, name, order, field, labels, template }) => ({
    id: { kind: 'HostnameGenerator', mesh: '', zone: here ? 'east' : '', namespace: '', name },
    creationOrder: order,
    spec: { selector: { [field]: { labels } }, template },
  }));

const unique = <T extends { id: Identity }>(list: readonly T[]): T[] => [
  ...new Map(list.map((each) => [identityKey(each.id), each])).values(),
];
const world: fc.Arbitrary<TestTable> = fc.record({
  services: fc.array(service, { maxLength: 14 }).map(unique),
  generators: fc.array(generator, { maxLength: 6 }).map(unique),
  meshes: fc.subarray(['default', 'other']),
});

type TableStep = (table: ClaimTable) => void;

const put = (table: ClaimTable, source: TestGenerator): void =>
  table.upsertGenerator(parseGenerator(source, source.id.zone === 'east'));

function steps({ services, generators, meshes }: TestTable): TableStep[] {
  return [
    ...services.map(
      (each): TableStep =>
        (table) =>
          table.upsertService(each),
    ),
    ...generators.map(
      (each): TableStep =>
        (table) =>
          put(table, each),
    ),
    ...meshes.map(
      (each): TableStep =>
        (table) =>
          table.addMesh(each),
    ),
  ];
}

function tableOf(given: TestTable): ClaimTable {
  const table = new ClaimTable('east');
  for (const step of steps(given)) step(table);
  return table;
}

/** Assigns names as docs/design.md §4 says, with no index and no state: all pairs, sorted, first come. */
function oracle({ services, generators, meshes }: TestTable): Map<string, string[]> {
  const age = (value: number): number => (value === 0 ? Infinity : value);
  const byAge = (a: number, b: number): number => (age(a) === age(b) ? 0 : age(a) - age(b));
  const rules = [...generators].sort(
    (a, b) =>
      Number(b.id.zone === 'east') - Number(a.id.zone === 'east') ||
      byAge(a.creationOrder, b.creationOrder) ||
      compareText(a.id.name, b.id.name),
  );
  const oldestFirst = [...services].sort(
    (a, b) => byAge(a.creationOrder, b.creationOrder) || compareIdentities(a.id, b.id),
  );
  const owner = new Map<string, TableService>();
  const result = new Map(services.map((each) => [identityKey(each.id), [] as string[]]));
  for (const rule of rules) {
    for (const each of oldestFirst.filter((one) => meshes.includes(one.id.mesh))) {
      const wanted = rule.spec.selector[FIELDS[each.id.kind] ?? '']?.labels;
      if (!wanted || Object.entries(wanted).some(([key, value]) => effectiveLabel(each, key) !== value)) continue;
      const name = rule.spec.template
        .replace('{{ name }}', each.id.name)
        .replace('{{ .Zone }}', effectiveLabel(each, 'kuma.io/zone') ?? 'east')
        .replace('{{ label "app" }}', effectiveLabel(each, 'app') ?? '!');
      const where = `${each.id.mesh} ${name}`;
      const made = /^[a-z.]+$/.test(name);
      if (made && !owner.has(where)) owner.set(where, each);
      result
        .get(identityKey(each.id))
        ?.push(
          `${rule.id.name} ${made ? name : ''} ${made && owner.get(where) === each ? 'Available' : 'NotAvailable'}`,
        );
    }
  }
  return result;
}

function shown(table: ClaimTable, services: readonly TableService[]): Map<ResourceKey, string[]> {
  const line = (key: string): string[] =>
    table.listAddresses(key).map(({ hostname, status, origin }) => `${origin.name} ${hostname ?? ''} ${status}`);
  return new Map(services.map(({ id }) => [identityKey(id), line(identityKey(id))]));
}

function reasons(table: ClaimTable, services: readonly TableService[]): string {
  return JSON.stringify(services.map(({ id }) => table.listAddresses(identityKey(id))));
}

test('every set of services is named as docs/design.md §4 says', () => {
  fc.assert(
    fc.property(world, (given) => expect(shown(tableOf(given), given.services)).toEqual(oracle(given))),
    { numRuns: 500 },
  );
});

test('I3: any order of arrival gives the same addresses and reasons', () => {
  const shuffled = world.chain((given) =>
    fc.tuple(fc.constant(given), fc.shuffledSubarray(steps(given), { minLength: steps(given).length })),
  );
  fc.assert(
    fc.property(shuffled, ([given, order]) => {
      const table = new ClaimTable('east');
      for (const step of order) step(table);
      expect(reasons(table, given.services)).toBe(reasons(tableOf(given), given.services));
    }),
    { numRuns: 300 },
  );
});

test('after any edits the table is as one made from nothing, and who was not touched has not changed', () => {
  fc.assert(
    fc.property(fc.array(world, { minLength: 2, maxLength: 5 }), (worlds) => {
      const table = new ClaimTable('east');
      let before: TestTable = { services: [], generators: [], meshes: [] };
      for (const after of worlds) {
        const all = unique([...before.services, ...after.services]);
        const old = shown(table, all);
        edit(table, before, after);
        const touched = table.takeChanged();
        expect(shown(table, after.services)).toEqual(oracle(after));
        expect(reasons(table, after.services)).toBe(reasons(tableOf(after), after.services));
        for (const [key, lines] of shown(table, all)) if (!touched.has(key)) expect(lines).toEqual(old.get(key));
        before = after;
      }
    }),
    { numRuns: 300 },
  );
});

test('reasons change only for who was touched', () => {
  fc.assert(
    fc.property(world, world, (before, after) => {
      const table = tableOf(before);
      table.takeChanged();
      const all = unique([...before.services, ...after.services]);
      const old = new Map(all.map((each) => [identityKey(each.id), reasons(table, [each])]));
      edit(table, before, after);
      const touched = table.takeChanged();
      for (const each of all)
        if (!touched.has(identityKey(each.id))) expect(reasons(table, [each])).toBe(old.get(identityKey(each.id)));
    }),
    { numRuns: 300 },
  );
});

test('the removal of a winner promotes exactly the next claimant, and gives or takes no other name', () => {
  fc.assert(
    fc.property(world, fc.constantFrom('n.mesh', 'a.mesh', 'x.mesh'), (given, hostname) => {
      const table = tableOf(given);
      const [winner, ...others] = table.claimsOn('default', hostname);
      if (!winner) return;
      const next = others.find((claim) => claim.service !== winner.service);
      const before = winners(table);
      table.removeService(identityKey(winner.service.id));
      expect(table.claimsOn('default', hostname)[0]?.service.id).toEqual(next?.service.id);
      for (const [name, key] of winners(table))
        if (before.get(name) !== identityKey(winner.service.id)) expect(before.get(name)).toBe(key);
    }),
    { numRuns: 300 },
  );
});

function winners(table: ClaimTable): Map<string, string> {
  const names = [...table.hostnames('default')];
  return new Map(
    names.map((name) => [name, table.claimsOn('default', name).map((claim) => identityKey(claim.service.id))[0] ?? '']),
  );
}

function edit(table: ClaimTable, before: TestTable, after: TestTable): void {
  const stays = (list: readonly { id: Identity }[], id: Identity): boolean =>
    list.some((each) => identityKey(each.id) === identityKey(id));
  for (const step of steps(after)) step(table);
  for (const { id } of before.services) if (!stays(after.services, id)) table.removeService(identityKey(id));
  for (const { id } of before.generators) if (!stays(after.generators, id)) table.removeGenerator(identityKey(id));
  for (const mesh of before.meshes) if (!after.meshes.includes(mesh)) table.removeMesh(mesh);
}
