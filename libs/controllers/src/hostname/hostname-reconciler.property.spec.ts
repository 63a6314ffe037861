import * as fc from 'fast-check';
import { identityKey, type Identity } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { east, generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';
import { ClaimsView } from '@causeway/queries/testing';
import { NAMED_KINDS } from './zone-claims';

/** One thing that happens to a zone. */
type ZoneEvent =
  | { readonly type: 'user'; readonly change: Change }
  | { readonly type: 'turn' }
  /** Between the plan and its write a user relabels a service that the plan writes, so that this row is refused. */
  | { readonly type: 'race'; readonly pick: number; readonly x: string }
  /** Another leader begins; the plan of the old one is lost. */
  | { readonly type: 'take-over' }
  /** The leader dies after its write was committed and before it knows. */
  | { readonly type: 'crash' };

const ids: readonly Identity[] = [
  service('a'),
  service('b'),
  service('c', { zone: 'west' }),
  service('a', { kind: 'MeshExternalService' }),
  service('d', { mesh: 'other' }),
];
const id = fc.constantFrom(...ids);
const field = fc.constantFrom('meshService', 'meshService', 'meshExternalService');
const template = fc.constantFrom('n.mesh', '{{ name }}.mesh', '{{ label "x" }}.mesh', 'a.mesh');
const value = fc.constantFrom('a', 'b', 'n', 'A');
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(id, value).map(([to, x]) => put(to, { x })) },
  { weight: 2, arbitrary: id.map((of): Change => ({ type: 'delete', id: of, expect: 'any' })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('g', 'h'), template, fc.constantFrom('', 'east'), field)
      .map(([name, text, zone, of]) => generator(name, text, { zone, selector: { [of]: {} } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('g', 'h'), fc.constantFrom('', 'east'))
      .map(([name, zone]): Change => ({ type: 'delete', id: generator(name, 'x', { zone }).id, expect: 'any' })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Change>(mesh('other'), { type: 'delete', id: mesh('other').id, expect: 'any' }),
  },
);
const happening: fc.Arbitrary<ZoneEvent> = fc.oneof(
  { weight: 5, arbitrary: change.map((each): ZoneEvent => ({ type: 'user', change: each })) },
  { weight: 5, arbitrary: fc.constant<ZoneEvent>({ type: 'turn' }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('race' as const), pick: fc.nat(4), x: value }) },
  { weight: 1, arbitrary: fc.constant<ZoneEvent>({ type: 'take-over' }) },
  { weight: 1, arbitrary: fc.constant<ZoneEvent>({ type: 'crash' }) },
);

async function happen(zone: NamingZone, what: ZoneEvent): Promise<void> {
  const write = (each: Change): Promise<unknown> => zone.store.write({ changes: [each], onRefusal: 'skip' });
  if (what.type === 'user') await write(what.change).then(() => zone.follow());
  if (what.type === 'turn') await zone.turn();
  if (what.type === 'race') {
    await zone.turn(async (planned) => {
      const victim = planned[what.pick % planned.length];
      if (victim) await write(put(victim.id, { x: what.x }));
    });
    zone.follow();
  }
  if (what.type === 'take-over') zone.takeOver();
  if (what.type === 'crash') {
    const changes = zone.loop.plan()?.changes ?? [];
    if (changes.length > 0) await zone.store.write({ changes, onRefusal: 'skip' });
    zone.follow();
    zone.takeOver();
  }
}

/** Returns the hostnames that two services show as Available at once in the committed state. */
async function sharedNames(zone: NamingZone): Promise<string[]> {
  const owner = new Map<string, string>();
  const shared: string[] = [];
  for (const row of (await zone.store.snapshot()).resources) {
    if (!NAMED_KINDS.includes(row.id.kind)) continue;
    for (const { hostname = '', status } of await zone.addresses(row.id)) {
      const place = `${row.id.mesh} ${hostname}`;
      if (status !== 'Available') continue;
      if ((owner.get(place) ?? identityKey(row.id)) !== identityKey(row.id)) shared.push(place);
      owner.set(place, identityKey(row.id));
    }
  }
  return shared;
}

const start: readonly Change[] = [
  mesh('default'),
  mesh('other'),
  ...ids.map((each) => put(each, { x: 'a' })),
  generator('g', '{{ label "x" }}.mesh'),
];

test('I3 holds at every commit, whatever happens in between, and in the end every service has what the claims say', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 40 }), async (story) => {
      const zone = await new NamingZone().start(...start);
      for (const what of story) {
        await happen(zone, what);
        expect(await sharedNames(zone)).toEqual([]);
      }
      for (let turns = 0; (await zone.turn()).length > 0; turns++) {
        expect(await sharedNames(zone)).toEqual([]);
        expect(turns).toBeLessThan(10);
      }
      const claims = await new ClaimsView(zone.index, east).table(new AbortController().signal);
      for (const each of ids)
        expect(await zone.addresses(each)).toEqual(zone.index.get(each) ? claims.listAddresses(identityKey(each)) : []);
    }),
    { numRuns: 100 },
  );
});

test('a claim never flaps: each settled name changes hands only when its inputs change', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 15 }), async (changes) => {
      const zone = await new NamingZone().start(...start);
      await zone.settle();
      for (const each of changes) {
        await happen(zone, { type: 'user', change: each });
        await zone.settle();
        const { writes } = zone;
        // Nothing new happens: leaders change, events repeat known states.
        zone.takeOver();
        await zone.settle();
        const known = zone.index.get(ids[0] ?? service('a'));
        if (known)
          await zone.user({ type: 'put', id: known.id, expect: 'any', labels: known.labels, spec: known.spec });
        await zone.settle();
        expect(zone.writes).toBe(writes);
      }
    }),
    { numRuns: 40 },
  );
});
