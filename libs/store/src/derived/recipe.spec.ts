import type { JsonObject, Resource } from '@causeway/resources';
import { HeldFills } from '../../../../test/support/held-fills';
import { ResourceIndex, type IndexReader } from '../resource-index';
import type { Derivation } from './derivation';
import { DerivedTable, type FillRunner } from './derived-table';
import { fillAtOnce, noteInto } from '../../testing/fill-at-once';

/** Names of the Zones that are disabled. */
class DisabledZones extends DerivedTable<Set<string>, readonly string[]> {
  constructor(index: IndexReader, run: FillRunner) {
    super({ index, run, derivation: disabledZonesIn(index) });
  }

  has(zone: string): boolean {
    return this.served.has(zone);
  }
}

function disabledZonesIn(index: IndexReader): Derivation<Set<string>, readonly string[]> {
  const put = (zones: Set<string>, { id, spec }: Resource): unknown =>
    spec['enabled'] === false ? zones.add(id.name) : zones.delete(id.name);
  return {
    empty: () => new Set(),
    *fill(zones) {
      for (const zone of index.ofKind('Zone')) yield put(zones, zone);
    },
    apply(zones, { changes }) {
      const names: string[] = [];
      for (const { id, after } of changes) {
        if (id.kind !== 'Zone') continue;
        if (after) put(zones, after);
        else zones.delete(id.name);
        names.push(id.name);
      }
      return names.length > 0 ? names : undefined;
    },
  };
}

function zone(name: string, spec: JsonObject): Resource {
  const id = { kind: 'Zone', mesh: '', zone: '', namespace: '', name };
  const origin = { incarnation: 'test', revision: 1, committedAt: 0 };
  const times = { creationOrder: 1, createdAt: 0, modifiedAt: 0 };
  return { id, uid: name, labels: {}, spec, generation: 1, ...times, revision: 1, origin, freed: [] };
}

const DISABLED = { enabled: false };

describe('the recipe of a derived table', () => {
  it.each([
    { name: 'none', zones: {}, want: [] },
    { name: 'an enabled zone', zones: { east: { enabled: true } }, want: [] },
    { name: 'a disabled zone', zones: { east: DISABLED, west: {} }, want: ['east'] },
  ])('$name', ({ zones, want }) => {
    const index = new ResourceIndex();
    const resources = Object.entries(zones).map(([name, spec]) => zone(name, spec));
    index.load({ point: { incarnation: 'test', revision: 1 }, resources, tombstones: [] });
    const table = new DisabledZones(index, fillAtOnce);
    expect(['east', 'west'].filter((each) => table.has(each))).toEqual(want);
  });

  it('follows changes, also those between two steps', () => {
    const index = new ResourceIndex();
    const point = { incarnation: 'test', revision: 1 };
    index.load({ point, resources: [zone('east', {}), zone('west', {})], tombstones: [] });
    const fills = new HeldFills();
    const table = new DisabledZones(index, fills.run);
    fills.take();
    index.apply({ revision: 2, changes: [{ type: 'put', resource: zone('east', DISABLED) }] });
    fills.finish();
    const heard: unknown[] = [];
    table.subscribe(noteInto(heard));
    index.apply({ revision: 3, changes: [{ type: 'put', resource: zone('west', DISABLED) }] });
    expect([['east', 'west'].filter((each) => table.has(each)), heard]).toEqual([['east', 'west'], [['west']]]);
  });
});
