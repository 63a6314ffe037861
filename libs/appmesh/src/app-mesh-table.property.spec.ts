import fc from 'fast-check';
import { identityKey, type Identity, type ResourceKey } from '@causeway/resources';
import { sourceKinds, type Member, type VirtualSource } from './model';
import { AppMeshTable } from './table/app-mesh-table';

const NAMES = ['x', 'y'];
const NAMESPACES = ['a', 'b'];

const place = fc.record({
  mesh: fc.constantFrom('m', 'm', 'm', 'other'),
  zone: fc.constantFrom('', 'east', 'west'),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom(...NAMES),
});
const ref = fc.record(
  { name: fc.constantFrom(...NAMES, 'none'), namespace: fc.constantFrom(...NAMESPACES) },
  { requiredKeys: ['name'] },
);
const awsName = fc.constantFrom('one', 'two');
const labels = fc.record({ app: fc.constantFrom('1', '2'), tier: fc.constantFrom('1', '2') }, { requiredKeys: [] });
const selector = fc.record({ matchLabels: labels }, { requiredKeys: [] });
const portMapping = fc.record({ port: fc.constantFrom(80, 81), protocol: fc.constantFrom('http', 'grpc', 'tcp') });
const listeners = fc.array(fc.record({ portMapping }), { maxLength: 2 });
const nodeSpec = fc.record(
  {
    awsName,
    podSelector: selector,
    listeners,
    backends: fc.array(fc.record({ virtualService: fc.record({ virtualServiceRef: ref }) }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const body = fc.record({
  match: fc.record({ prefix: fc.constantFrom('/', '/p') }),
  action: fc.record({
    weightedTargets: fc.array(fc.record({ virtualNodeRef: ref, weight: fc.constantFrom(0, 1) }), {
      minLength: 1,
      maxLength: 2,
    }),
  }),
});
const routerSpec = fc.record(
  {
    awsName,
    listeners,
    routes: fc.array(fc.record({ name: fc.constantFrom('r', 's'), http: body }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const provider = fc.oneof(
  fc.record({ virtualNode: fc.record({ virtualNodeRef: ref }) }),
  fc.record({ virtualRouter: fc.record({ virtualRouterRef: ref }) }),
);
const serviceSpec = fc.record({ awsName, provider }, { requiredKeys: [] });
const SPECS = { VirtualNode: nodeSpec, VirtualRouter: routerSpec, VirtualService: serviceSpec };

const source: fc.Arbitrary<VirtualSource> = fc.constantFrom(...sourceKinds).chain((kind) =>
  fc.tuple(place, fc.integer({ min: 0, max: 3 }), SPECS[kind]).map(([where, order, spec]) => {
    const stored = { id: { kind, ...where }, creationOrder: order, generation: 1, spec, kind };
    return stored;
  }),
);
const member: fc.Arbitrary<Member> = fc
  .tuple(place, labels, fc.option(fc.constantFrom('a/x', 'a/y'), { nil: undefined }))
  .map(([where, own, boundTo]) => ({
    id: { kind: 'Dataplane', ...where, zone: where.zone || 'east' },
    labels: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
    ...(boundTo === undefined ? {} : { boundTo }),
  }));
type Step = { put: VirtualSource } | { drop: Identity } | { join: Member } | { leave: Identity };
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: source.map((put) => ({ put })) },
  { weight: 2, arbitrary: source.map(({ id }) => ({ drop: id })) },
  { weight: 2, arbitrary: member.map((join) => ({ join })) },
  { weight: 1, arbitrary: member.map(({ id }) => ({ leave: id })) },
);

/** Returns the contents of a table, by key. */
function whole(table: AppMeshTable, members: Iterable<Member>): Map<ResourceKey, string> {
  const said = new Map<ResourceKey, string>();
  for (const key of [...table.keys()].sort()) said.set(key, JSON.stringify(table.compile(key)));
  for (const { id } of members) said.set(identityKey(id), JSON.stringify(table.binding(id) ?? null));
  return said;
}

it('after random changes a table is as one built from nothing, and what changed had been announced', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
      const table = new AppMeshTable();
      const sources = new Map<string, VirtualSource>();
      const members = new Map<string, Member>();
      let before = new Map<ResourceKey, string>();
      for (const one of steps) {
        const touched =
          'put' in one
            ? (sources.set(identityKey(one.put.id), one.put), table.put(one.put))
            : 'drop' in one
              ? (sources.delete(identityKey(one.drop)), table.remove(one.drop))
              : 'join' in one
                ? (members.set(identityKey(one.join.id), one.join), table.putMember(one.join))
                : (members.delete(identityKey(one.leave)), table.removeMember(one.leave));
        const after = whole(table, members.values());
        const changed = [...after].filter(([key, text]) => before.get(key) !== text).map(([key]) => key);
        expect(changed.filter((key) => !touched.sources.has(key) && !touched.members.has(key))).toEqual([]);
        before = after;
      }
      const fresh = new AppMeshTable();
      for (const one of [...members.values()].reverse()) fresh.putMember(one);
      for (const one of [...sources.values()].reverse()) fresh.put(one);
      expect(whole(fresh, members.values())).toEqual(before);
    }),
    { numRuns: 1_000 },
  );
});

it('of those that want one name at App Mesh that meet in a zone, one is compiled, and the first that the global made', () => {
  fc.assert(
    fc.property(fc.array(source, { minLength: 2, maxLength: 12 }), (given) => {
      const sources = [...new Map(given.map((one) => [identityKey(one.id), one])).values()];
      const views = ['east', 'west'].map((zone) => {
        const table = new AppMeshTable();
        for (const one of sources) if (one.id.zone === '' || one.id.zone === zone) table.put(one);
        return { zone, table };
      });
      const all = new AppMeshTable();
      for (const one of sources) all.put(one);
      for (const { id } of sources) {
        const key = identityKey(id);
        const seen = views.filter(({ zone }) => id.zone === '' || id.zone === zone);
        for (const { table } of seen)
          expect(table.compile(key)?.conditions[0]).toEqual(all.compile(key)?.conditions[0]);
      }
    }),
    { numRuns: 300 },
  );
});
