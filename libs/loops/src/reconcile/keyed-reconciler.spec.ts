import { globalIdentity, identityKey, type JsonObject, type Resource, type ResourceKey } from '@causeway/resources';
import { SLICE } from '@causeway/runtime';
import type { Change, IndexChange, PatchChange, IndexReader, WriteResult } from '@causeway/store';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { RESCAN } from './followed-keys';
import { KeyedLoop, NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from './keyed-reconciler';

// CONTRIBUTING.md shows these two verbatim; test/docs/recipes.spec.ts compares them.
function planServiceCount({ id, revision, status }: Resource, services: number): PatchChange | undefined {
  if (status?.['services'] === services) return undefined;
  return { type: 'patch', id, expect: revision, status: { ...status, services } };
}

/** Writes into the status of every Mesh how many MeshServices it has. */
class ServiceCountReconciler implements KeyedReconciler {
  readonly name = 'service-count';

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind('Mesh')) yield [identityKey(id)];
  }

  listKeys({ id, key }: IndexChange): Keys {
    if (id.kind === 'MeshService') return [identityKey(globalIdentity('Mesh', id.mesh))];
    return id.kind === 'Mesh' ? [key] : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader): ReconcileResult | undefined {
    const mesh = index.byIdentityKey(key);
    if (!mesh) return undefined;
    const services = [...index.ofKind('MeshService')].filter(({ id }) => id.mesh === mesh.id.name);
    return { change: planServiceCount(mesh, services.length) };
  }
}

const mesh = (name: string): Change => put(globalIdentity('Mesh', name), {});
const service = (name: string): Change => put(idOf('MeshService', name), { ports: [{ port: 80 }] });

describe('planServiceCount', () => {
  const row = (status: JsonObject | undefined): Resource => ({
    id: globalIdentity('Mesh', 'default'),
    uid: 'u',
    labels: {},
    spec: {},
    revision: 7,
    freed: [],
    generation: 1,
    creationOrder: 1,
    createdAt: 0,
    modifiedAt: 0,
    origin: { incarnation: 'one', revision: 1, committedAt: 0 },
    ...(status ? { status } : {}),
  });

  it.each<[string, JsonObject | undefined, number, JsonObject | undefined]>([
    ['no status', undefined, 2, { services: 2 }],
    ['another number', { services: 1 }, 2, { services: 2 }],
    ['keeps what others wrote', { beat: 5 }, 0, { beat: 5, services: 0 }],
    ['already written', { services: 2 }, 2, undefined],
  ])('%s', (_, status, services, want) => {
    const change = planServiceCount(row(status), services);
    expect(change?.status).toEqual(want);
    if (change) expect(change.expect).toBe(7);
  });
});

describe('KeyedLoop', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(() => {
    harness = new LoopHarness();
    replica = harness.replica();
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const counted = async (name: string): Promise<unknown> =>
    (await harness.get(globalIdentity('Mesh', name)))?.status?.['services'];

  it('reconciles what the seed names, then what changes name, and writes nothing twice', async () => {
    await harness.write(mesh('default'), service('a'));
    await replica.lead([new KeyedLoop(new ServiceCountReconciler())]);
    await replica.settle();
    expect(await counted('default')).toBe(1);
    await apply(service('b'), mesh('other'));
    expect([await counted('default'), await counted('other')]).toEqual([2, 0]);
    await apply(remove(idOf('MeshService', 'a')));
    expect(await counted('default')).toBe(1);
    const { revision } = harness;
    harness.clock.advance(600_000);
    await replica.settle();
    expect(harness.revision).toBe(revision);
  });

  it('ends with the same state in whatever order resources come', async () => {
    const all = [mesh('default'), service('a'), service('b'), service('c')];
    await replica.lead([new KeyedLoop(new ServiceCountReconciler())]);
    for (const change of [...all].reverse()) await apply(change);
    expect(await counted('default')).toBe(3);
  });

  /** A reconciler that notes the keys it is asked about. */
  class Recording implements KeyedReconciler {
    readonly name = 'recording';
    readonly recheckWritten: boolean = false;
    readonly asked: string[] = [];
    readonly seeds: string[] = [];
    walked = 0;
    results: (key: string) => ReconcileResult | undefined = () => undefined;
    keys: (change: IndexChange) => readonly (ResourceKey | typeof RESCAN)[] = () => NO_KEYS;

    constructor(private readonly seeded: readonly Keys[] = []) {}

    seed(_: IndexReader, reason: 'reset' | 'rescan'): Iterable<Keys> {
      this.seeds.push(reason);
      return this.walk();
    }

    listKeys(change: IndexChange): readonly (ResourceKey | typeof RESCAN)[] {
      return this.keys(change);
    }

    reconcile(key: ResourceKey): ReconcileResult | undefined {
      this.asked.push(key);
      return this.results(key);
    }

    private *walk(): Generator<Keys> {
      for (const keys of this.seeded) {
        this.walked += 1;
        yield keys;
      }
    }
  }

  const keyOf = (name: string): ResourceKey => identityKey(globalIdentity('Mesh', name));
  const deletion = (name: string): Change => ({ type: 'delete', id: globalIdentity('Mesh', name), expect: 'any' });
  const result = (...results: WriteResult['results']): WriteResult => ({ revision: 1, results });

  it('walks the seed a slice a plan and decides nothing before its end', () => {
    const seeded = Array.from({ length: SLICE + 1 }, (_, i) => (i === 0 ? [keyOf('b'), keyOf('a')] : NO_KEYS));
    const reconciler = new Recording(seeded);
    const loop = new KeyedLoop(reconciler);
    loop.reset(replica.index);
    expect(reconciler.walked).toBe(0);
    expect(loop.plan(0)).toEqual({ changes: [], more: true });
    expect([reconciler.walked, reconciler.asked]).toEqual([SLICE, []]);
    expect(loop.plan(0)).toEqual({ changes: [], more: false });
    expect(reconciler.asked).toEqual([keyOf('a'), keyOf('b')]);
  });

  it('asks again at the time that a key named, and says when that is', () => {
    const reconciler = new Recording([[keyOf('a')], [keyOf('b')]]);
    reconciler.results = (key) => (key === keyOf('a') ? { dueAt: 100 } : undefined);
    const loop = new KeyedLoop(reconciler);
    loop.reset(replica.index);
    expect(loop.plan(0)).toEqual({ changes: [], more: false, wakeAt: 100 });
    loop.plan(99);
    reconciler.results = () => undefined;
    expect(loop.plan(100)).toEqual({ changes: [], more: false });
    expect(reconciler.asked).toEqual([keyOf('a'), keyOf('b'), keyOf('a')]);
  });

  it.each([
    [false, ['conflict']],
    [true, ['conflict', 'gone', 'written']],
  ])('retries what may be accepted at the next try; recheckWritten %s', (recheckWritten, want) => {
    const reconciler = Object.assign(new Recording(), { recheckWritten });
    const loop = new KeyedLoop(reconciler);
    loop.reset(replica.index);
    loop.plan(0);
    loop.onWritten(
      ['written', 'conflict', 'gone'].map(deletion),
      result(
        { type: 'unchanged', revision: 1, generation: 1, uid: 'u' },
        { type: 'refused', refusal: 'conflict', detail: '' },
        { type: 'refused', refusal: 'unstorable', detail: '' },
      ),
    );
    loop.plan(0);
    expect(reconciler.asked).toEqual(want.map(keyOf));
  });

  it('walks anew when a change asks for it', async () => {
    const reconciler = new Recording([[keyOf('a')]]);
    reconciler.keys = ({ key }) => [RESCAN, key];
    await replica.lead([new KeyedLoop(reconciler)]);
    await replica.settle();
    await apply(mesh('default'));
    expect([reconciler.seeds, reconciler.asked]).toEqual([
      ['reset', 'rescan'],
      [keyOf('a'), keyOf('a'), keyOf('default')],
    ]);
  });
});
