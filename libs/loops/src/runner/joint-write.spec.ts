import type { JsonObject, Resource } from '@causeway/resources';
import type { Change, PatchChange, ResourceIndex } from '@causeway/store';
import { idOf, LoopHarness, put } from '../../../../test/support/loop-harness';
import { joinPlans, type JointWrite } from './joint-write';

const redis = idOf('MeshService', 'redis');
const kept = { type: 'refused', refusal: 'conflict', detail: 'another control loop writes it now' };

describe('joinPlans', () => {
  let harness: LoopHarness;
  let index: ResourceIndex;
  let row: Resource;
  beforeEach(async () => {
    harness = new LoopHarness();
    const replica = harness.replica();
    index = replica.index;
    await harness.write({ type: 'put', id: redis, expect: 'any', labels: {}, spec: {}, status: { vip: 1, old: 1 } });
    index.load(await replica.store.snapshot());
    const found = await harness.get(redis);
    if (!found) throw new Error('redis does not exist');
    row = found;
  });
  afterEach(() => harness.stop());

  const patch = (rest: Partial<PatchChange>): Change => ({ type: 'patch', id: redis, expect: row.revision, ...rest });
  const status = (rest: JsonObject): Change => patch({ status: { ...row.status, ...rest } });
  const join = (...changes: Change[]): JointWrite =>
    joinPlans(
      changes.map((change) => ({ changes: [change] })),
      index,
    );
  const answers = (joint: JointWrite): unknown[] => {
    const written = { type: 'written', created: false, revision: 9, generation: 1, uid: 'u' } as const;
    const result = { revision: 9, results: joint.changes.map(() => written) };
    return [0, 1].map((plan) => joint.getPlanResult(plan, result).results[0]?.type);
  };

  it('makes one change of two that touch different parts of a resource', () => {
    const joint = join(
      patch({ status: { ...row.status, vip: 2 }, vip: '241.0.0.1' }),
      patch({ status: { vip: 1, addresses: [] }, spec: { state: 'Available' } }),
    );
    expect(joint.changes).toEqual([
      patch({ vip: '241.0.0.1', spec: { state: 'Available' }, status: { vip: 2, addresses: [] } }),
    ]);
    expect(answers(joint)).toEqual(['written', 'written']);
  });

  it.each<[string, () => [Change, Change]]>([
    ['the same part of the status', () => [status({ vip: 2 }), status({ vip: 3 })]],
    ['the same field', () => [patch({ spec: { a: 1 } }), patch({ spec: { a: 2 } })]],
    ['another revision', () => [status({ a: 1 }), { ...status({ b: 1 }), expect: row.revision - 1 }]],
    ['a resource that the first puts or deletes', () => [put(redis, {}), status({ a: 1 })]],
  ])('keeps the later of two back that want %s', (_, changes) => {
    const [first, second] = changes();
    const joint = join(first, second);
    expect(joint.changes).toEqual([first]);
    expect(answers(joint)).toEqual(['written', 'refused']);
    expect(joint.getPlanResult(1, { revision: 9, results: [] })).toEqual({ revision: 9, results: [kept], deferred: 1 });
  });

  it('gives each plan what was answered to its own changes, in their order, and takes all notes', () => {
    const other = put(idOf('MeshService', 'other'), {});
    const entry = { area: 'a', key: 'k', value: {} };
    const joint = joinPlans(
      [{ changes: [status({ a: 1 })], metadata: [entry] }, { changes: [other, status({ b: 1 })] }],
      index,
    );
    expect(joint.metadata).toEqual([entry]);
    const results = [
      { type: 'unchanged', revision: 1, generation: 1, uid: 'redis' },
      { type: 'unchanged', revision: 2, generation: 1, uid: 'other' },
    ] as const;
    expect(joint.getPlanResult(1, { revision: 9, results }).results).toEqual([results[1], results[0]]);
  });
});
