import fc from 'fast-check';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { Identity, Resource } from '@causeway/resources';
import { HeldFills } from '../../../../test/support/held-fills';
import { ResourceIndex, type IndexReader } from '../resource-index';
import type { StoreChange } from '../resource-store';
import type { Derivation } from './derivation';
import { DerivedTable, fillInSlices, type FillRunner } from './derived-table';
import { followIndex } from './follow-index';
import { fillAtOnce, noteInto } from '../../testing/fill-at-once';

const idOf = (name: string): Identity => ({ kind: 'Thing', mesh: '', zone: '', namespace: '', name });

function thing(name: string, team: string): Resource {
  const origin = { incarnation: 'test', revision: 1, committedAt: 0 };
  const times = { creationOrder: 1, createdAt: 0, modifiedAt: 0 };
  const id = idOf(name);
  return { id, uid: name, labels: { team }, spec: {}, generation: 1, ...times, revision: 1, origin, freed: [] };
}

const teamOf = ({ labels }: Resource): string => labels['team'] ?? '';

/** An index that a test writes. */
class Things {
  readonly index = new ResourceIndex();
  private revision = 0;

  load(...resources: readonly Resource[]): void {
    this.revision += 1;
    this.index.load({ point: { incarnation: 'test', revision: this.revision }, resources, tombstones: [] });
  }

  write(changes: readonly { readonly name: string; readonly team?: string | undefined }[]): void {
    this.revision += 1;
    const { revision } = this;
    this.index.apply({
      revision,
      changes: changes.map(({ name, team }): StoreChange => {
        if (team !== undefined) return { type: 'put', resource: thing(name, team) };
        return { type: 'delete', tombstone: { id: idOf(name), revision, deletedAt: 0, freed: [] } };
      }),
    });
  }
}

/** The names of each team. Changes are the teams that have other names. */
type Teams = Map<string, Set<string>>;

/** A table, and how many resources were read for it. */
function teams(index: IndexReader): Derivation<Teams, ReadonlySet<string>> & { reads: number } {
  const add = (table: Teams, resource: Resource): void => {
    self.reads += 1;
    const names = table.get(teamOf(resource)) ?? new Set();
    table.set(teamOf(resource), names.add(resource.id.name));
  };
  const remove = (table: Teams, resource: Resource): void => {
    const names = table.get(teamOf(resource));
    names?.delete(resource.id.name);
    if (names?.size === 0) table.delete(teamOf(resource));
  };
  const self = {
    reads: 0,
    empty: (): Teams => new Map(),
    *fill(table: Teams) {
      for (const resource of index.ofKind('Thing')) yield add(table, resource);
    },
    apply(table: Teams, { changes }: Parameters<Derivation<Teams, never>['apply']>[1]) {
      for (const { before, after } of changes) {
        if (before) remove(table, before);
        if (after) add(table, after);
      }
      const changed = changes
        .flatMap(({ before, after }) => [before, after])
        .flatMap((one) => (one ? [teamOf(one)] : []));
      return changed.length > 0 ? new Set(changed) : undefined;
    },
    costOf: (_: Teams, { changes }: Parameters<Derivation<Teams, never>['apply']>[1]) => changes.length,
  };
  return self;
}

/** Sizes of teams by name, read from the table of teams. Changes are names. */
interface Sizes {
  readonly teams: Teams;
  readonly byName: Map<string, number>;
}

function sizes(index: IndexReader, source: DerivedTable<Teams, ReadonlySet<string>>) {
  const read = ({ teams: of, byName }: Sizes, { id, ...resource }: Resource): void =>
    void byName.set(id.name, of.get(teamOf({ id, ...resource }))?.size ?? -1);
  const derivation: Derivation<Sizes, ReadonlySet<string>, ReadonlySet<string>> = {
    empty: () => ({ teams: source.served, byName: new Map() }),
    *fill(table) {
      for (const resource of index.ofKind('Thing')) yield read(table, resource);
    },
    apply(table, { changes }, changed) {
      const names = new Set(changes.map(({ id }) => id.name));
      for (const team of changed.flatMap((each) => [...each]))
        for (const name of table.teams.get(team) ?? []) names.add(name);
      for (const name of names) {
        const resource = index.get(idOf(name));
        if (resource) read(table, resource);
        else table.byName.delete(name);
      }
      return names.size > 0 ? names : undefined;
    },
    estimateCost: (_, { changes }) => changes.length,
  };
  return derivation;
}

function made({ index }: Things, run: FillRunner, maxAtOnce?: number) {
  const derivation = teams(index);
  const source = new DerivedTable({ index, run, maxAtOnce, derivation });
  const table = new DerivedTable({ index, run, maxAtOnce, source, derivation: sizes(index, source) });
  return { source, table, derivation };
}

const sorted = (table: ReadonlyMap<string, number>): [string, number][] => [...table].sort();

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const team = fc.constantFrom('x', 'y');
const write = fc.record({ name, team: fc.option(team, { nil: undefined }) });
const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ writes: fc.uniqueArray(write, { maxLength: 4, selector: (one) => one.name }) }) },
  { weight: 5, arbitrary: fc.record({ steps: fc.nat(8) }) },
  fc.record({ load: fc.uniqueArray(fc.record({ name, team }), { selector: (one) => one.name }) }),
  fc.record({ refill: fc.boolean() }),
);

describe('a derived table', () => {
  it('equals one that is filled from nothing, and its listeners hear of every difference, whatever comes between the slices', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), fc.constantFrom(0, 2, undefined), (actions, maxAtOnce) => {
        const things = new Things();
        const fills = new HeldFills();
        const { source, table } = made(things, fills.run, maxAtOnce);
        let heard = new Set<string>();
        const hear = (names: Iterable<string>): void => void (heard = new Set([...heard, ...names]));
        table.subscribe({ reload: () => hear('abcde'), apply: hear });
        let before = new Map(table.served.byName);
        const look = (): void => {
          const { byName } = table.served;
          const different = [...new Set([...before.keys(), ...byName.keys()])].filter(
            (each) => before.get(each) !== byName.get(each),
          );
          expect(different.filter((each) => !heard.has(each))).toEqual([]);
          [before, heard] = [new Map(byName), new Set()];
        };
        things.load();
        for (const one of actions) {
          if ('writes' in one) things.write(one.writes);
          else if ('load' in one) things.load(...one.load.map((each) => thing(each.name, each.team)));
          else if ('refill' in one) (one.refill ? source : table).refill();
          else for (let n = 0; n < one.steps; n++) fills.take();
          look();
        }
        fills.finish();
        look();
        expect([source.isCurrent, table.isCurrent]).toEqual([true, true]);
        const fresh = made(things, fillAtOnce).table;
        expect(sorted(table.served.byName)).toEqual(sorted(fresh.served.byName));
      }),
      { numRuns: 500 },
    );
  });

  it.each([1_000, 8_000])('costs one read for one change of %d', (count) => {
    const things = new Things();
    things.load(...Array.from({ length: count }, (_, i) => thing(`t${i}`, `team${i}`)));
    const { source, derivation } = made(things, fillAtOnce);
    expect(derivation.reads).toBe(count);
    const heard: unknown[] = [];
    source.subscribe(noteInto(heard));
    things.write([{ name: 't7', team: 'other' }]);
    expect([derivation.reads, heard]).toEqual([count + 1, [new Set(['team7', 'other'])]]);
  });

  it('is served as it was while it is filled anew, and is announced once', async () => {
    const things = new Things();
    things.load(thing('a', 'x'));
    const fills = new HeldFills();
    const { source, table } = made(things, fills.run);
    const loaded = Promise.all([source.whenLoaded(), table.whenLoaded()]);
    fills.finish();
    await loaded;
    const heard: unknown[] = [];
    source.subscribe(noteInto(heard));
    things.load(thing('b', 'y'), thing('c', 'y'));
    fills.take();
    things.write([{ name: 'd', team: 'x' }]);
    expect([[...source.served.keys()], source.isCurrent, table.isCurrent, heard]).toEqual([['x'], false, false, []]);
    fills.finish();
    expect([[...source.served.keys()].sort(), table.isCurrent, heard]).toEqual([['x', 'y'], true, ['reload']]);
    expect(sorted(table.served.byName)).toEqual(
      sorted(new Map([...'bcd'].map((each) => [each, each === 'd' ? 1 : 2]))),
    );
  });

  it('applies an event and what that changed in its source as one', () => {
    const things = new Things();
    things.load(thing('a', 'x'), thing('b', 'x'));
    const { table } = made(things, fillAtOnce);
    const heard: unknown[] = [];
    table.subscribe(noteInto(heard));
    things.write([{ name: 'c', team: 'x' }]);
    expect(heard).toEqual([new Set(['c', 'a', 'b'])]);
  });

  it('applies changes from outside the index: at once, or where they cost too much by filling it anew', () => {
    const things = new Things();
    const { source } = made(things, fillAtOnce);
    const heard: unknown[] = [];
    source.subscribe(noteInto(heard));
    const outside = (cost: number): void => source.change((table) => (table.clear(), new Set(['x'])), cost);
    outside(1);
    things.load(thing('a', 'x'));
    outside(1);
    outside(1_001);
    expect([heard, source.served.size]).toEqual([['reload', new Set(['x']), 'reload'], 1]);
  });

  it('gives up a fill at its end, and hears of nothing then', () => {
    const things = new Things();
    things.load(thing('a', 'x'));
    const fills = new HeldFills();
    const { source, derivation } = made(things, fills.run);
    source.close();
    things.write([{ name: 'b', team: 'x' }]);
    fills.finish();
    expect([derivation.reads, source.hasLoaded, source.served.size]).toEqual([1, false, 0]);
  });

  it('is filled in slices that give the event loop back; what a step throws is logged, and the table stays', async () => {
    const clock = new FakeClock();
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => void logged.push(message) };
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    let taken = 0;
    const steps = function* (): Generator<void> {
      for (; taken < 3; taken++) yield clock.advance(5);
      throw new Error('no such step');
    };
    fillInSlices({ clock, logger, failure: 'things cannot be read' })(steps());
    const seen = [taken];
    for (let i = 0; i < 4; i++) {
      await turn();
      seen.push(taken);
    }
    expect([seen, logged]).toEqual([[0, 1, 2, 3, 3], ['things cannot be read']]);
  });
});

it('followIndex tells a reload from changes', () => {
  const things = new Things();
  const heard: unknown[] = [];
  const stop = followIndex(things.index, {
    reload: () => heard.push('reload'),
    apply: (changes) => heard.push(changes.map(({ id }) => id.name)),
  });
  things.load();
  things.write([{ name: 'a', team: 'x' }]);
  stop();
  things.load();
  expect(heard).toEqual(['reload', ['a']]);
});
