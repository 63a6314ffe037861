import { DEFAULT_MESH_OWNER } from '@causeway/meshes';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, identityKey, type Identity, type Resource, type Tombstone } from '@causeway/resources';
import { SLICE } from '@causeway/runtime';
import { ResourceIndex, type Change } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { dataplane, EAST, idOf, LoopHarness, put, remove, tagged } from '../../../test/support/loop-harness';
import { createConditionsReconciler } from './conditions/conditions-reconciler';
import type { ControlLoop } from '@causeway/loops';
import { ROWS_PER_SLICE } from './vip/vip-reconciler';
import { createZoneReconcilers } from './zone-reconcilers';
import { meshesOf } from '../../../test/support/meshes';

const RANGES = {
  MeshService: '241.0.0.0/8',
  MeshExternalService: '242.0.0.0/8',
  MeshMultiZoneService: '243.0.0.0/8',
};
/** Most keys that `planBatch` checks in one plan, and most reads of one check here. */
const MAX_CHECKS = 10_000;
const READS_PER_CHECK = 3;
/** Rows that a loop walks over in one plan, where they cost it little. */
const WALKS: Readonly<Record<string, number>> = { vip: ROWS_PER_SLICE };

/** An index that counts what is read from it. */
class CountingIndex extends ResourceIndex {
  /** Rows handed out one after the other. */
  walked = 0;
  /** Rows asked for by name. */
  looked = 0;

  override *ofKind(kind: string): Iterable<Resource> {
    for (const row of super.ofKind(kind)) {
      this.walked += 1;
      yield row;
    }
  }

  override *tombstones(): Iterable<Tombstone> {
    for (const stone of super.tombstones()) {
      this.walked += 1;
      yield stone;
    }
  }

  override byIdentityKey(key: string): Resource | undefined {
    this.looked += 1;
    return super.byIdentityKey(key);
  }

  override get(id: Identity): Resource | undefined {
    return this.byIdentityKey(identityKey(id));
  }
}

const generator = (name: string, template: string): Change =>
  put(globalIdentity('HostnameGenerator', name), { selector: { meshService: {} }, template });

const multizone = (name: string, app: string): Change =>
  put(idOf('MeshMultiZoneService', name, { zone: '' }), { selector: { meshService: { matchLabels: { app } } } });

const mesh = put(globalIdentity('Mesh', 'default'), {});

const service = (name: string, app: string): Change =>
  put(idOf('MeshService', name), { selector: { dataplaneTags: { app } }, ports: [{ port: 80 }] }, { app });

/** `count` services of so many apps, as many Dataplanes, and what names them. */
function crowd(count: number, apps: number): readonly Change[] {
  const each = Array.from({ length: count }, (_, i) => [
    service(`service-${i}`, `app-${i % apps}`),
    dataplane(`proxy-${i}`, [{ port: 80, tags: { 'kuma.io/service': `tagged-${i}`, app: `app-${i % apps}` } }]),
  ]);
  return [mesh, generator('names', '{{ name }}.mesh'), multizone('all', 'app-1'), ...each.flat()];
}

async function indexed(changes: readonly Change[]): Promise<CountingIndex> {
  const store = new MemoryStore(new MemoryDisk());
  await store.write({ changes, onRefusal: 'abort' });
  const gone = changes
    .filter(({ id }) => id.kind === 'MeshService')
    .map(({ id }) => ({ ...id, name: `${id.name}-gone` }));
  await store.write({ changes: gone.map((id) => put(id, {})), onRefusal: 'abort' });
  await store.write({ changes: gone.map(remove), onRefusal: 'abort' });
  const index = new CountingIndex();
  index.load(await store.snapshot());
  return index;
}

/** Returns the reads of the index in each plan until the loop writes or has nothing more to check. */
function readsOfPlans(loop: ControlLoop, index: CountingIndex): { walked: number; looked: number }[] {
  const reads: { walked: number; looked: number }[] = [];
  loop.reset(index);
  for (let more = true; more;) {
    [index.walked, index.looked] = [0, 0];
    const plan = loop.plan(0, 0);
    reads.push({ walked: index.walked, looked: index.looked });
    more = plan?.more === true && !(loop.name === 'hostname' && plan.changes.length > 0);
  }
  return reads;
}

/** Every mesh exists and none selects a namespace. */
const EVERY_MESH = { exists: () => true, state: () => undefined, owner: DEFAULT_MESH_OWNER, listCandidates: () => [] };

describe('however much there is, between two turns of the event loop', () => {
  let index: CountingIndex;
  beforeAll(async () => {
    index = await indexed(crowd(12_000, 6_000));
  });

  const loops = [
    ...createZoneReconcilers({ cp: EAST, ranges: RANGES }),
    createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes: EVERY_MESH }),
  ];
  test.each(loops.map((loop) => [loop.name, loop] as const))('%s reads a bounded number of rows', (_, loop) => {
    [index.walked, index.looked] = [0, 0];
    loop.reset(index);
    expect([index.walked, index.looked]).toEqual([0, 0]);
    const reads = readsOfPlans(loop, index);
    const walks = WALKS[loop.name] ?? SLICE;
    expect(Math.max(...reads.map(({ walked }) => walked))).toBeLessThanOrEqual(walks + 1);
    expect(Math.max(...reads.map(({ looked }) => looked))).toBeLessThanOrEqual(walks + MAX_CHECKS * READS_PER_CHECK);
    expect(reads.reduce((sum, { walked }) => sum + walked, 0)).toBeGreaterThan(12_000);
  });
});

describe('what changes between two slices', () => {
  const harness = new LoopHarness();
  afterAll(() => harness.stop());

  it('is neither missed nor taken twice: a resync afterwards finds nothing', async () => {
    await harness.write(...crowd(2_100, 420));
    const replica = harness.replica();
    const conditions = createConditionsReconciler({ cp: EAST, registry: coreKinds, meshes: meshesOf(replica.index) });
    const runner = await replica.lead([...createZoneReconcilers({ cp: EAST, ranges: RANGES }), conditions]);
    for (let step = 0; step < 25; step++) {
      await runner.step();
      await harness.write(
        remove(idOf('MeshService', `service-${step * 37}`)),
        remove(idOf('Dataplane', `proxy-${step * 31 + 1}`)),
        service(`service-${step * 37 + 2}`, `app-${step}`),
        service(`late-${step}`, 'late'),
        dataplane(`proxy-${step * 31 + 3}`, [{ ...tagged(`moved-${step}`, 80), address: '10.9.9.9' }]),
        generator(`late-${step % 3}`, `{{ name }}.late-${step}.mesh`),
        multizone('late', `app-${step}`),
        ...(step % 10 === 5 ? [remove(mesh.id)] : [mesh]),
      );
    }
    await replica.settle();
    harness.clock.advance(600_000);
    await replica.settle();
    expect(runner.stats.resyncs).toBe(1);
    const found = Object.entries(runner.stats.loops).map(([name, { differences, errors }]) => [
      name,
      differences,
      errors,
    ]);
    expect(found).toEqual(Object.keys(runner.stats.loops).map((name) => [name, 0, 0]));
    expect(Object.values(runner.stats.loops).every(({ written }) => written > 0)).toBe(true);
  });
});
