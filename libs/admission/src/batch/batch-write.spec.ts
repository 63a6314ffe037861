import { AccessPolicy, localAdmin } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, Invalid, Unavailable, type ControlPlane, type JsonObject } from '@causeway/resources';
import { systemClock, silentLogger } from '@causeway/runtime';
import { followStore, ResourceIndex, type WriteRequest, type WriteResult } from '@causeway/store';
import { MemoryStore } from '@causeway/store/testing';
import { Admission } from '../admission';
import { MAX_BATCH, type BatchOutcome, type BatchWriteProgress, type BatchRequest, type BatchResult } from './batch';
import { meshesOf } from '../../../../test/support/meshes';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const global: ControlPlane = { role: 'global' };

const service = (name: string, port = 80, more: JsonObject = {}): JsonObject => ({
  type: 'MeshService',
  mesh: 'default',
  name,
  spec: { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port }] },
  ...more,
});

/** A store that counts writes, and lets the test in before one of them. */
class WatchedStore extends MemoryStore {
  readonly requests: WriteRequest[] = [];
  before: () => Promise<unknown> = () => Promise.resolve();

  override async write(request: WriteRequest): Promise<WriteResult> {
    this.requests.push(request);
    const { before } = this;
    this.before = () => Promise.resolve();
    await before();
    return super.write(request);
  }
}

/** Admission over a store whose index follows it. */
class Fixture {
  readonly store = new WatchedStore();
  readonly index = new ResourceIndex();
  readonly admission: Admission;
  private readonly ended = new AbortController();
  private readonly following: Promise<void>;

  constructor(controlPlane: ControlPlane = east) {
    const { store, index } = this;
    const clock = systemClock;
    const access = new AccessPolicy({ registry: coreKinds, index, cp: controlPlane });
    this.admission = new Admission({
      registry: coreKinds,
      store,
      index,
      meshes: meshesOf(index),
      clock,
      controlPlane,
      access,
    });
    this.following = followStore(store, index, { clock, logger: silentLogger, signal: this.ended.signal });
  }

  static async open(controlPlane?: ControlPlane): Promise<Fixture> {
    const fixture = new Fixture(controlPlane);
    await fixture.admission.apply({ documents: [], context: { caller: localAdmin } });
    const id = globalIdentity('Mesh', 'default');
    const mesh = { type: 'put', id, expect: 'absent', labels: { 'kuma.io/origin': 'global' }, spec: {} } as const;
    await fixture.store.write({ changes: [mesh], onRefusal: 'abort' });
    fixture.store.requests.length = 0;
    return fixture;
  }

  apply(bodies: readonly unknown[], more: Partial<BatchRequest> = {}): Promise<BatchOutcome> {
    return this.admission.apply({
      documents: bodies.map((body) => ({ body })),
      context: { caller: localAdmin },
      ...more,
    });
  }

  async close(): Promise<void> {
    this.ended.abort();
    await this.following;
    await this.store.close();
  }
}

const outcomes = ({ results }: BatchOutcome): readonly string[] => results.map(({ outcome }) => outcome);
const reasons = (result: BatchResult | undefined): unknown =>
  result?.outcome === 'refused' && result.error instanceof Invalid
    ? result.error.violations.map(({ field, reason }) => `${field}: ${reason}`)
    : result;

describe('Admission.apply', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await Fixture.open()));
  afterEach(() => fixture.close());

  it('creates, updates and leaves alone, with one write, in the order of the documents', async () => {
    const first = await fixture.apply([service('z'), service('a'), service('m')]);
    expect(outcomes(first)).toEqual(['created', 'created', 'created']);
    const orders = await Promise.all(
      first.results.map(async (result) => 'id' in result && result.id && (await fixture.store.get(result.id))),
    );
    const created = orders.map((resource) => (resource ? resource.creationOrder : 0));
    expect(created).toEqual([...created].sort((a, b) => a - b));

    const second = await fixture.apply([service('z'), service('a', 81), service('new')]);
    expect(outcomes(second)).toEqual(['unchanged', 'updated', 'created']);
    expect(fixture.store.requests.map(({ changes }) => changes.length)).toEqual([3, 2]);
    const [unchanged] = second.results;
    expect(unchanged).toMatchObject({ index: 0, etag: expect.stringMatching(/\.1"$/) as unknown });
    expect(second.revision).toBe((await fixture.store.head()).revision);
  });

  it('writes the good documents beside bad ones, and names every field of these', async () => {
    const done = await fixture.apply([service('a'), service('B', 0), 'text', { type: 'Nonsense' }, service('c')]);
    expect(outcomes(done)).toEqual(['created', 'refused', 'refused', 'refused', 'created']);
    expect(reasons(done.results[1])).toEqual([
      expect.stringMatching(/^name: /),
      expect.stringMatching(/^spec\.ports\[0\]\.port: /),
    ]);
    expect(reasons(done.results[2])).toEqual([': the body must be an object']);
    expect(reasons(done.results[3])).toEqual([expect.stringMatching(/^type: /)]);
  });

  it('writes nothing of an atomic batch with a bad document', async () => {
    const before = await fixture.store.head();
    const done = await fixture.apply([service('a'), service('b', 0), service('c')], { atomic: true });
    expect(outcomes(done)).toEqual(['skipped', 'refused', 'skipped']);
    expect([await fixture.store.head(), fixture.store.requests]).toEqual([before, []]);
    expect(outcomes(await fixture.apply([service('a'), service('c')], { atomic: true }))).toEqual([
      'created',
      'created',
    ]);
  });

  it('refuses both documents of one resource and says where the other is', async () => {
    const documents = [
      { body: service('a'), position: { line: 1, column: 1 } },
      { body: service('b'), position: { line: 9, column: 1 } },
      { body: service('a', 81), position: { line: 17, column: 1 } },
    ];
    const done = await fixture.apply([], { documents });
    expect(outcomes(done)).toEqual(['refused', 'created', 'refused']);
    expect(done.results).toMatchObject([{ sameAs: 2, position: { line: 1 } }, {}, { sameAs: 0 }]);
    for (const index of [0, 2])
      expect(reasons(done.results[index])).toEqual([
        'name: MeshService a stands in the batch twice, at line 1 and at line 17; leave one of them out',
      ]);
  });

  it('counts a mesh for the documents behind it and not for those before', async () => {
    const world = await Fixture.open(global);
    const member = { type: 'MeshMultiZoneService', mesh: 'new', name: 'm' };
    const spec = { selector: { meshService: { matchLabels: { a: 'b' } } }, ports: [{ port: 80 }] };
    const early = await world.apply([
      { ...member, spec },
      { type: 'Mesh', name: 'new' },
      { ...member, name: 'n', spec },
    ]);
    expect(outcomes(early)).toEqual(['refused', 'created', 'created']);
    expect(reasons(early.results[0])).toEqual(['mesh: there is no mesh "new"']);
    await world.close();
  });

  it('takes the mesh of the request for documents that name none', async () => {
    const { mesh: _, ...bare } = service('a');
    const done = await fixture.apply([bare, service('b')], { mesh: 'other' });
    expect([reasons(done.results[0]), done.results[1]?.outcome]).toEqual([
      ['mesh: there is no mesh "other"'],
      'created',
    ]);
  });

  it('refuses what is not written here, one document at a time', async () => {
    const done = await fixture.apply([{ type: 'Mesh', name: 'x' }, service('a')]);
    expect(done.results).toMatchObject([{ outcome: 'refused', error: { type: 'Forbidden' } }, { outcome: 'created' }]);
  });

  it('compares on a dry run, writes nothing and shows no secret', async () => {
    await fixture.apply([service('a'), service('same'), { type: 'Secret', name: 's', spec: { data: 'b2xk' } }]);
    const before = await fixture.store.head();
    const secret = { type: 'Secret', name: 's', spec: { data: 'bmV3' } };
    const bodies = [
      service('a', 81, { labels: { team: 'db' } }),
      service('same'),
      service('new'),
      secret,
      service('X'),
    ];
    const done = await fixture.apply(bodies, { dryRun: true, atomic: true });
    expect(await fixture.store.head()).toEqual(before);
    expect(outcomes(done)).toEqual(['updated', 'unchanged', 'created', 'updated', 'refused']);
    expect(done.results[0]).toMatchObject({
      diff: {
        before: { type: 'MeshService', name: 'a', spec: { ports: [{ port: 80 }] } },
        after: { labels: { team: 'db' }, spec: { ports: [{ port: 81 }] } },
      },
    });
    expect(done.results[1]).not.toHaveProperty('diff');
    expect(done.results[2]).not.toHaveProperty('diff.before');
    expect(JSON.stringify(done.results[3])).not.toMatch(/b2xk|bmV3/);
  });

  it.each([[true], [false]])('tries again what met a concurrent write; atomic: %s', async (atomic) => {
    await fixture.apply([service('a'), service('b')]);
    const patched = { ...globalIdentity('MeshService', 'a'), mesh: 'default', zone: 'east', namespace: 'default' };
    fixture.store.before = () =>
      fixture.store.write({
        changes: [{ type: 'patch', id: patched, expect: 'any', status: { by: 'a controller' } }],
        onRefusal: 'abort',
      });
    const done = await fixture.apply([service('a', 81), service('b', 81)], { atomic });
    expect(outcomes(done)).toEqual(['updated', 'updated']);
    expect(await fixture.store.get(patched)).toMatchObject({
      spec: { ports: [{ port: 81 }] },
      status: { by: 'a controller' },
    });
  });

  it('gives up on a resource that somebody else writes all the time', async () => {
    await fixture.apply([service('a'), service('b')]);
    const id = { ...globalIdentity('MeshService', 'a'), mesh: 'default', zone: 'east', namespace: 'default' };
    let n = 0;
    const race = async (): Promise<void> => {
      await fixture.store.write({
        changes: [{ type: 'patch', id, expect: 'any', status: { n: n++ } }],
        onRefusal: 'abort',
      });
      fixture.store.before = race;
    };
    fixture.store.before = race;
    const done = await fixture.apply([service('a', 81), service('b', 81)], { atomic: true });
    expect(done.results).toMatchObject([{ outcome: 'refused', error: { type: 'Conflict' } }, { outcome: 'skipped' }]);
    const each = await fixture.apply([service('a', 81), service('b', 81)]);
    expect(each.results).toMatchObject([{ outcome: 'refused', error: { type: 'Conflict' } }, { outcome: 'updated' }]);
  });

  it('says what is durable when the store goes away in the middle', async () => {
    const real = fixture.store.write.bind(fixture.store);
    fixture.store.write = async (request) => {
      const { results } = await real({ ...request, changes: request.changes.slice(0, 1) });
      expect(results).toHaveLength(1);
      throw new Unavailable('the database is away');
    };
    const done = await fixture.apply([service('a'), service('b'), service('C')]);
    expect(done.results).toMatchObject([
      { outcome: 'created' },
      { outcome: 'refused', error: { type: 'Unavailable' } },
      { outcome: 'refused', error: { type: 'Invalid' } },
    ]);
    fixture.store.write = () => Promise.reject(new Unavailable('the database is away'));
    await expect(fixture.apply([service('d')])).rejects.toBeInstanceOf(Unavailable);
  });

  it('ends before it writes when its client is gone, and not once it has begun', async () => {
    const gone = new AbortController();
    const before = await fixture.store.head();
    gone.abort(new Unavailable('the client is gone'));
    await expect(fixture.apply([service('a')], { signal: gone.signal })).rejects.toThrow('the client is gone');
    expect(await fixture.store.head()).toEqual(before);
    const late = new AbortController();
    fixture.store.before = () => Promise.resolve(late.abort(new Unavailable('the client is gone')));
    expect(outcomes(await fixture.apply([service('a')], { signal: late.signal }))).toEqual(['created']);
  });

  it('takes the largest batch without holding the event loop, says how far it is, and refuses a larger one', async () => {
    const bodies = Array.from({ length: MAX_BATCH }, (_, i) => service(`s-${i}`, i === 7_000 ? 0 : 80));
    const received: BatchWriteProgress[] = [];
    let turns = 0;
    const count = (): void => void (turns++, counting && setImmediate(count));
    let counting = true;
    count();
    const done = await fixture.apply(bodies, { progress: (progress) => received.push(progress) });
    counting = false;
    expect(done.results.filter(({ outcome }) => outcome === 'created')).toHaveLength(MAX_BATCH - 1);
    expect(done.results[7_000]).toMatchObject({ outcome: 'refused', index: 7_000 });
    expect(turns).toBeGreaterThan(10);
    expect(received.at(-1)).toEqual({ checked: MAX_BATCH, written: MAX_BATCH - 1 });
    const checked = received.map((progress) => progress.checked);
    expect(checked).toEqual([...checked].sort((a, b) => a - b));
    await expect(fixture.apply([...bodies, service('more')])).rejects.toThrow('a batch has at most 10000 documents');
  });

  it('lists a bounded number of violations, and one at least for each document', async () => {
    const bad = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`nonsense${i}`, 1]));
    const done = await fixture.apply(Array.from({ length: 200 }, (_, i) => service(`s-${i}`, 80, bad)));
    const counts = done.results.map((result) =>
      result.outcome === 'refused' && result.error instanceof Invalid ? result.error.violations.length : 0,
    );
    expect([counts[0], counts.at(-1)]).toEqual([100, 1]);
    expect(counts.reduce((sum, count) => sum + count)).toBeLessThan(5_300);
  });
});
