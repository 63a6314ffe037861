import fc from 'fast-check';
import {
  globalIdentity,
  identityKey,
  type JsonObject,
  type Resource,
  type ResourceKey,
  type Tombstone,
} from '@causeway/resources';
import { DerivedTable, ResourceIndex, type Derivation, type FillRunner, type IndexReader } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { HeldFills } from '../../../../test/support/held-fills';
import { ListenedTable } from '../../../../test/support/listened-table';
import { storedResource } from '../../../../test/support/loop-harness';
import { FollowedKeys, keysOfTable, RESCAN, type KeySource } from './followed-keys';
import { KeyedLoop, type KeyedReconciler, type Keys, type ReconcileResult } from './keyed-reconciler';

const NAMES = ['a', 'b', 'c', 'd'];
const mesh = (name: string, team: string): Resource => storedResource(globalIdentity('Mesh', name), { spec: { team } });
const tombstone = (name: string, revision: number): Tombstone => ({
  id: globalIdentity('Mesh', name),
  revision,
  deletedAt: 0,
  freed: [],
});
const meshKey = (name: string): ResourceKey => identityKey(globalIdentity('Mesh', name));

const readTeam = ({ team }: JsonObject): string => (typeof team === 'string' ? team : '');

type Teams = Map<ResourceKey, string>;

/** The team of each Mesh. */
function teamsIn(index: IndexReader): Derivation<Teams, Keys> {
  return {
    empty: () => new Map(),
    *fill(teams) {
      for (const { id, spec } of index.ofKind('Mesh')) yield teams.set(identityKey(id), readTeam(spec));
    },
    apply(teams, { changes }) {
      for (const { key, after } of changes) {
        if (after) teams.set(key, readTeam(after.spec));
        else teams.delete(key);
      }
      return changes.map(({ key }) => key);
    },
    estimateCost: (_, { changes }) => changes.length,
  };
}

/** A reconciler that decides by the table alone: a decision stays until the table announces that it is stale. */
class TeamReconciler implements KeyedReconciler {
  readonly name = 'teams';
  readonly sources: readonly KeySource[];
  readonly decided = new Map<ResourceKey, string>();

  constructor(private readonly teams: DerivedTable<Teams, Keys>) {
    this.sources = [keysOfTable(teams, (keys) => keys)];
  }

  *seed(index: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
    if (reason === 'reset') this.decided.clear();
    yield [...this.decided.keys()];
    for (const { id } of index.ofKind('Mesh')) yield [identityKey(id)];
  }

  listKeys(): Keys {
    return [];
  }

  reconcile(key: ResourceKey): ReconcileResult | undefined {
    if (!this.teams.hasLoaded) throw new Error('nothing is to be decided before the table is loaded');
    const team = this.teams.served.get(key);
    if (team === undefined) this.decided.delete(key);
    else this.decided.set(key, team);
    return undefined;
  }
}

/** A loop over a table, moved step by step. */
class LoopOverTable {
  readonly index = new ResourceIndex();
  readonly reconciler: TeamReconciler;
  private readonly loop: KeyedLoop;
  private revision = 1;

  constructor(run: FillRunner, maxAtOnce?: number) {
    const teams = new DerivedTable({ index: this.index, run, maxAtOnce, derivation: teamsIn(this.index) });
    this.reconciler = new TeamReconciler(teams);
    this.loop = new KeyedLoop(this.reconciler);
    this.index.subscribe((event) => (event.reloaded ? this.loop.reset(this.index) : this.loop.observe(event)));
  }

  load(resources: readonly Resource[]): void {
    this.revision += 1;
    this.index.load({ point: { incarnation: 'test', revision: this.revision }, resources, tombstones: [] });
  }

  write(resources: readonly Resource[], removed: readonly string[]): void {
    this.revision += 1;
    const { revision } = this;
    const gone = removed.filter((name) => this.index.byIdentityKey(meshKey(name)));
    const changes = [
      ...resources.map((resource) => ({ type: 'put' as const, resource: { ...resource, revision } })),
      ...gone.map((name) => ({ type: 'delete' as const, tombstone: tombstone(name, revision) })),
    ];
    this.index.apply({ revision, changes });
  }

  /** Plans once; true where more is to be planned. */
  plan(): boolean {
    return this.loop.plan(0)?.more === true;
  }

  settle(): [string, string][] {
    for (let plans = 0; this.plan(); plans++) if (plans > 100) throw new Error('it never settles');
    return [...this.reconciler.decided].sort();
  }
}

const some = fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 4 });
const team = fc.constantFrom('x', 'y', 'z');
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: some, team, removed: some }) },
  { weight: 4, arbitrary: fc.record({ steps: fc.nat(6) }) },
  { weight: 3, arbitrary: fc.record({ plans: fc.nat(3) }) },
  fc.record({ load: some, team }),
);

describe('a loop that follows a derived table', () => {
  it('decides as one that begins with all, whatever bursts and reloads come between its plans and the slices', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), fc.constantFrom(0, 2, undefined), (actions, maxAtOnce) => {
        const fills = new HeldFills();
        const loop = new LoopOverTable(fills.run, maxAtOnce);
        loop.load([mesh('a', 'x')]);
        for (const one of actions) {
          if ('put' in one) {
            const removed = one.removed.filter((name) => !one.put.includes(name));
            const changed = one.put.map((name) => mesh(name, one.team));
            loop.write(changed, removed);
          } else if ('load' in one) loop.load(one.load.map((name) => mesh(name, one.team)));
          else if ('steps' in one) for (let n = 0; n < one.steps; n++) fills.take();
          else for (let n = 0; n < one.plans; n++) loop.plan();
        }
        fills.finish();
        const fresh = new LoopOverTable(fillAtOnce);
        fresh.load([...loop.index.ofKind('Mesh')]);
        expect(loop.settle()).toEqual(fresh.settle());
      }),
      { numRuns: 500 },
    );
  });

  it('decides nothing before the table was loaded, and looks again when nothing announces that it was', () => {
    const fills = new HeldFills();
    const loop = new LoopOverTable(fills.run);
    loop.load([mesh('a', 'x')]);
    expect(loop.settle()).toEqual([]);
    fills.finish();
    expect(loop.settle()).toEqual([[meshKey('a'), 'x']]);
  });
});

describe('FollowedKeys', () => {
  it('collects each key once until it is taken, a reload as RESCAN, and nothing after the term', () => {
    const term = new AbortController();
    const [one, two] = [new ListenedTable<Keys>(), new ListenedTable<Keys>()];
    const keys = new FollowedKeys(
      [
        keysOfTable(one, (changed) => changed),
        keysOfTable(
          two,
          (changed) => changed,
          () => [meshKey('d')],
        ),
      ],
      term,
    );
    one.announce([meshKey('a'), meshKey('b')]);
    two.announce([meshKey('a')]);
    expect([keys.take(), keys.take()]).toEqual([[meshKey('a'), meshKey('b')], []]);
    one.reload();
    two.reload();
    two.hasLoaded = false;
    expect([keys.take(), keys.hasLoaded]).toEqual([[RESCAN, meshKey('d')], false]);
    term.abort();
    one.announce([meshKey('a')]);
    expect([keys.take(), one.followerCount]).toEqual([[], 0]);
  });
});
