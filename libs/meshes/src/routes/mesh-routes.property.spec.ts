import fc from 'fast-check';
import { parentStatuses, routeKinds, type ChangeSet, type BindingTable } from '@causeway/routing';
import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import { noteInto } from '@causeway/store/testing';
import { HeldFills } from '../../../../test/support/held-fills';
import { meshesOf } from '../../../../test/support/meshes';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { FollowedRoutes } from './followed-routes';
import { MeshRoutes } from './mesh-routes';

const MESHES = ['default', 'other'];
const NAMESPACES = ['a', 'b'];
const NAMES = ['x', 'y'];

/** Values that a peer or an older store may have left in place of a valid one. */
const anything = fc.oneof(fc.constant(null), fc.string(), fc.integer(), fc.constant([]), fc.constant({ a: [null] }));
const orAnything = <T>(good: fc.Arbitrary<T>) => fc.oneof({ weight: 9, arbitrary: good }, anything);
const ref = fc.record(
  {
    kind: orAnything(fc.constantFrom('Service', 'MeshMultiZoneService', 'Gateway')),
    name: orAnything(fc.constantFrom(...NAMES)),
    namespace: orAnything(fc.constantFrom(...NAMESPACES)),
    port: orAnything(fc.constantFrom(80, 81)),
  },
  { requiredKeys: ['kind', 'name'] },
);
const match = fc.record(
  {
    path: orAnything(
      fc.record({ type: fc.constantFrom('Exact', 'RegularExpression', 'Odd'), value: fc.constant('/(p') }),
    ),
    headers: orAnything(fc.array(fc.record({ name: orAnything(fc.constant('h')) }, { requiredKeys: [] }))),
    method: orAnything(fc.constant('GET')),
  },
  { requiredKeys: [] },
);
const rule = fc.record(
  { matches: orAnything(fc.array(orAnything(match), { maxLength: 2 })), backendRefs: orAnything(fc.array(ref)) },
  { requiredKeys: [] },
);
const routeSpec = fc.record(
  {
    parentRefs: orAnything(fc.array(orAnything(ref), { maxLength: 3 })),
    hostnames: orAnything(fc.array(fc.constant('h.example'))),
    rules: orAnything(fc.array(orAnything(rule), { maxLength: 3 })),
  },
  { requiredKeys: [] },
);
const serviceSpec = fc.record({ ports: orAnything(fc.subarray([80, 81]).map((all) => all.map((port) => ({ port })))) });
const allowed = fc.record(
  {
    namespaces: fc.constantFrom({ from: 'Same' }, { from: 'Selector', selector: { matchLabels: { team: 'a' } } }),
    kinds: fc.constant([{ kind: 'HTTPRoute' }]),
  },
  { requiredKeys: [] },
);
const grantSpec = fc.record({
  from: orAnything(fc.constant([{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'a' }])),
  to: fc.constant([{ group: '', kind: 'Service' }]),
});
const listener = { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } };

const place = fc.record({
  mesh: fc.constantFrom(...MESHES),
  namespace: fc.constantFrom(...NAMESPACES),
  zone: fc.constantFrom('west', 'east', ''),
  creationOrder: fc.integer({ min: 0, max: 3 }),
});
const member = (kind: string, spec: fc.Arbitrary<unknown>): fc.Arbitrary<Resource> =>
  fc
    .tuple(fc.constantFrom(...NAMES), spec, place)
    .map(([name, given, where]) => sketch(kind, name, given as JsonObject, where));
const global = (kind: string, names: readonly string[], spec: fc.Arbitrary<JsonObject>): fc.Arbitrary<Resource> =>
  fc
    .tuple(fc.constantFrom(...names), spec, fc.constantFrom('a', 'b'))
    .map(([name, given, team]) => sketch(kind, name, given, { labels: { team } }));
const resource: fc.Arbitrary<Resource> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...routeKinds).chain((kind) => member(kind, routeSpec)) },
  { weight: 3, arbitrary: member('MeshService', serviceSpec) },
  member('MeshMultiZoneService', serviceSpec),
  member('Gateway', fc.record({ listeners: orAnything(fc.constant([listener])) })),
  member('ReferenceGrant', grantSpec),
  global('Namespace', NAMESPACES, fc.constant({})),
  global(
    'MeshParameters',
    ['p'],
    allowed.map((allowedRoutes): JsonObject => ({ allowedRoutes })),
  ),
  global(
    'Mesh',
    MESHES,
    fc.constantFrom<JsonObject>(
      {},
      { controllerName: 'x.io/y' },
      { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' } },
    ),
  ),
);
const step = fc.record({ resource, gone: fc.boolean() });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Returns in words all that a table derives from the index. */
function whole(table: BindingTable, { index }: TrafficZone): Map<string, string> {
  const said = new Map<string, string>();
  for (const kind of ['MeshService', 'MeshMultiZoneService', 'Gateway']) {
    for (const { id } of index.ofKind(kind)) {
      const frontend = table.frontend(id);
      for (const group of frontend ? table.listGroups(frontend) : []) {
        const bindings = frontend ? [...table.group(frontend, group).bindings] : [];
        const words = bindings
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([port, binding]) => {
            const texts = binding.entries.map(({ route, rule: { name }, match: { text } }) => [route.key, name, text]);
            return [port, binding.kind, binding.routes.map(({ key, spec }) => [key, spec]), texts];
          });
        said.set(`${identityKey(id)} ${group}`, JSON.stringify([frontend?.ports, frontend?.headless, words]));
      }
    }
  }
  for (const kind of routeKinds) {
    for (const { id } of index.ofKind(kind)) {
      const route = table.route(identityKey(id));
      if (route) said.set(identityKey(id), JSON.stringify([route.spec, parentStatuses(table, route)]));
    }
  }
  return said;
}

function fresh(zone: TrafficZone): BindingTable {
  const routes = new MeshRoutes({ index: zone.index, meshes: meshesOf(zone.index), zone: 'west' });
  for (const _ of routes.load());
  return routes.table;
}

function write(zone: TrafficZone, { resource: one, gone }: Step): void {
  if (gone) zone.delete(one);
  else zone.put(one);
}

const steps = fc.array(step, { minLength: 1, maxLength: 30 });

it('whatever is stored, and in whatever order it comes, a followed table is as one built from nothing', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const zone = new TrafficZone();
      const routes = new MeshRoutes({ index: zone.index, meshes: meshesOf(zone.index), zone: 'west' });
      for (const _ of routes.load());
      let affected: ChangeSet = { groups: [], routes: [], frontends: [] };
      zone.index.subscribe((event) => void (affected = routes.apply(event)));
      let before = new Map<string, string>();
      for (const one of given) {
        write(zone, one);
        const announced = new Set([
          ...affected.routes,
          ...affected.groups.map(({ frontend, group }) => `${frontend} ${group}`),
        ]);
        const after = whole(routes.table, zone);
        expect([...after].filter(([key, text]) => before.get(key) !== text && !announced.has(key))).toEqual([]);
        before = after;
        // A repeated event changes nothing.
        write(zone, one);
        expect(whole(routes.table, zone)).toEqual(after);
      }
      expect(whole(fresh(zone), zone)).toEqual(before);
    }),
    { numRuns: 300 },
  );
});

it('the same resources in another order, and in one batch, give the same table', () => {
  fc.assert(
    fc.property(fc.uniqueArray(resource, { maxLength: 25, selector: ({ id }) => identityKey(id) }), (resources) => {
      const [one, other, once] = [new TrafficZone(), new TrafficZone(), new TrafficZone()];
      const tables = [one, other, once].map((zone) => {
        const routes = new MeshRoutes({ index: zone.index, meshes: meshesOf(zone.index), zone: 'west' });
        for (const _ of routes.load());
        zone.index.subscribe((event) => void routes.apply(event));
        return routes.table;
      });
      for (const each of resources) one.put(each);
      for (const each of [...resources].reverse()) other.put(each);
      once.put(...resources);
      const [first, ...others] = tables.map((table) => [...whole(table, one)].sort());
      for (const each of others) expect(each).toEqual(first);
    }),
    { numRuns: 200 },
  );
});

it('what comes between the steps of a load is in the table after it, and a second load gives up the first', () => {
  fc.assert(
    fc.property(steps, steps, fc.nat({ max: 20 }), (first, later, pause) => {
      const zone = new TrafficZone();
      for (const one of first) write(zone, one);
      const fills = new HeldFills();
      const followed = new FollowedRoutes({
        index: zone.index,
        meshes: meshesOf(zone.index),
        zone: 'west',
        maxAtOnce: 10,
        run: fills.run,
      });
      const received: unknown[] = [];
      followed.subscribe(noteInto(received));
      for (const one of later) {
        for (let i = 0; i < pause; i += 1) fills.takeNewest();
        write(zone, one);
        if (!followed.hasLoaded) expect(received).toEqual([]);
      }
      fills.finish();
      expect([followed.isCurrent, received[0]]).toEqual([true, 'reload']);
      expect(whole(followed.table, zone)).toEqual(whole(fresh(zone), zone));
      followed.close();
    }),
    { numRuns: 200 },
  );
});
