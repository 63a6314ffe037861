import fc from 'fast-check';
import {
  identityKey,
  isJsonObject,
  type Identity,
  type JsonObject,
  type JsonValue,
  type ResourceKey,
} from '@causeway/resources';
import { mergeStrategies, type MergeStrategy, type Strategy } from '../model/levels';
import { createPolicy, type Policy } from '../model/policy';
import { Fold } from './fold';
import { listLeaves } from '../model/traced';

const idOf = (name: string): Identity => ({ kind: 'P', mesh: 'm', zone: '', namespace: 'ns', name });
const keyOf = (name: string): ResourceKey => identityKey(idOf(name));

function policy(name: string, strategy: MergeStrategy, spec: JsonObject): Policy {
  const id = idOf(name);
  return createPolicy({ key: identityKey(id), id, creationOrder: 1, generation: 1, targetRefs: [], strategy, spec });
}

const folded = (...policies: readonly Policy[]): Fold | undefined => Fold.roots().of(policies);

/** RFC 7386, as its text has it. */
function merged(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, JsonValue | undefined> = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) if (value !== undefined) result[key] = merged(result[key], value);
  return result;
}

function pair(strategy: Strategy, established: JsonValue, challenger: JsonValue): JsonValue {
  if (strategy === 'AtomicDefaults') return challenger;
  if (strategy === 'AtomicOverrides') return established;
  return strategy === 'PatchDefaults' ? merged(established, challenger) : merged(challenger, established);
}

/** Folds as the specification decides (2.1 B). */
const fromTheLeaf = (all: readonly Policy[]): JsonValue =>
  all
    .slice(0, -1)
    .reduceRight((below: JsonValue, { strategy, spec }) => pair(strategy, spec, below), all.at(-1)?.spec ?? {});

/** Folds as the seed's flowchart says literally (2.1 F): the result of two takes the strategy of the more specific one. */
const fromTheRoot = (all: readonly Policy[]): JsonValue =>
  all.slice(1).reduce<{ spec: JsonValue; strategy: Strategy }>(
    (above, { spec, strategy }) => ({
      spec: pair(above.strategy, above.spec, spec),
      strategy,
    }),
    { spec: all[0]?.spec ?? {}, strategy: all[0]?.strategy ?? 'AtomicDefaults' },
  ).spec;

type Vector = readonly [
  name: string,
  a: MergeStrategy | undefined,
  b: MergeStrategy,
  specs: readonly JsonObject[],
  want: JsonObject,
  flowchart: JsonObject,
];
const vectors: readonly Vector[] = [
  ['V1', 'AtomicOverrides', 'AtomicDefaults', [{ c: 1 }, { c: 2 }, { c: 3 }], { c: 1 }, { c: 3 }],
  ['V2', 'PatchOverrides', 'AtomicDefaults', [{ a: 1 }, { b: 2 }, { a: 3, d: 3 }], { a: 1, d: 3 }, { a: 3, d: 3 }],
  ['V3', 'PatchDefaults', 'AtomicDefaults', [{ a: 1, b: 1 }, { b: 2 }, { d: 3 }], { a: 1, b: 1, d: 3 }, { d: 3 }],
  ['V4', 'PatchDefaults', 'PatchOverrides', [{ a: 1 }, { b: 2 }, { a: 3 }], { a: 3, b: 2 }, { a: 1, b: 2 }],
  ['V5', 'AtomicOverrides', 'PatchOverrides', [{ a: 1 }, { b: 2 }, { d: 3 }], { a: 1 }, { a: 1, d: 3 }],
  ['V6', 'AtomicDefaults', 'PatchDefaults', [{ a: 1 }, { b: 2 }, { d: 3 }], { b: 2, d: 3 }, { b: 2, d: 3 }],
  ['V7', 'AtomicDefaults', 'AtomicOverrides', [{ a: 1 }, { b: 2 }, { d: 3 }], { b: 2 }, { b: 2 }],
  ['V8', undefined, 'PatchOverrides', [{ a: 2 }, { a: 3, d: 3 }], { a: 2, d: 3 }, { a: 2, d: 3 }],
];

describe('the fold of policies', () => {
  it.each(vectors)('T004-19 %s', (...[, a, b, specs, want, flowchart]) => {
    const strategies = [...(a ? [a] : []), b, 'AtomicDefaults' as const];
    const all = specs.map((spec, i) => policy(`p${i}`, strategies[i] ?? 'AtomicDefaults', spec));
    expect(folded(...all)?.spec).toEqual(want);
    // The left fold has the result that must not be.
    expect(fromTheRoot(all)).toEqual(flowchart);
  });

  it('T004-25, T004-26 four ways of two to become one', () => {
    const of = (strategy: MergeStrategy) =>
      folded(policy('a', strategy, { x: 1, y: 1 }), policy('b', 'AtomicDefaults', { y: 2 }));
    expect(mergeStrategies.map((strategy) => of(strategy)?.spec)).toEqual([
      { y: 2 },
      { x: 1, y: 1 },
      { x: 1, y: 2 },
      { y: 1, x: 1 },
    ]);
  });

  it.each<readonly [string, JsonObject, JsonObject, JsonObject]>([
    ['nested objects field by field', { a: { b: 1, c: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ['lists as a whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
    ['an object in place of a scalar', { a: 1 }, { a: { b: 2 } }, { a: { b: 2 } }],
    ['a scalar in place of an object', { a: { b: 1 } }, { a: 2 }, { a: 2 }],
    ['an empty object over an object', { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    ['an empty object over a scalar', { a: 1 }, { a: {} }, { a: {} }],
    ['keys with slashes and tildes', { 'a/b': 1, '~': 1 }, { 'a/b': 2 }, { 'a/b': 2, '~': 1 }],
    ['keys that objects have anyway', { constructor: 1 }, { toString: 2 }, { constructor: 1, toString: 2 }],
  ])('T004-27 a patch merges %s', (_, above, below, want) => {
    expect(folded(policy('a', 'PatchDefaults', above), policy('b', 'AtomicDefaults', below))?.spec).toEqual(want);
  });

  it('T004-40 each value knows whose it is, by a pointer that escapes its key', () => {
    const fold = folded(
      policy('a', 'PatchDefaults', { 'x/y': 1, '~z': { w: 1 } }),
      policy('b', 'AtomicOverrides', { '~z': { v: [1] } }),
    );
    expect([...(fold?.sources ?? [])]).toEqual([
      ['/x~1y', { policy: keyOf('a'), strategy: 'PatchDefaults' }],
      ['/~0z/w', { policy: keyOf('a'), strategy: 'PatchDefaults' }],
      ['/~0z/v', { policy: keyOf('b'), strategy: 'AtomicOverrides' }],
    ]);
  });

  it('T004-46, T004-47, T004-48 what survives is judged by whose it is, never by equal values', () => {
    const [a, b] = [policy('a', 'AtomicDefaults', { x: 1 }), policy('b', 'AtomicDefaults', { x: 1 })];
    const fold = folded(a, b);
    expect([fold?.getScopeState(a), fold?.getScopeState(b)]).toEqual(['Overridden', 'Enforced']);
    const c = policy('c', 'PatchOverrides', { y: 1 });
    const d = policy('d', 'AtomicDefaults', { x: 1, y: 2 });
    expect([folded(c, d)?.getScopeState(d), folded(c, d)?.getScopeFields(d)]).toEqual([
      'PartiallyEnforced',
      { enforced: ['/x'], superseded: ['/y'] },
    ]);
  });

  /** Two houses in which the owner, the tenants and the guests decide about colours. */
  it.each<readonly [string, readonly MergeStrategy[], JsonObject]>([
    [
      'defaults of the owner give way to the tenant’s',
      ['PatchDefaults', 'PatchDefaults', 'PatchDefaults', 'PatchDefaults'],
      { wall: 'guest', door: 'tenant', roof: 'owner', floor: 'flat' },
    ],
    [
      'overrides of the owner hold against all below',
      ['PatchOverrides', 'PatchDefaults', 'PatchOverrides', 'PatchDefaults'],
      { wall: 'owner', door: 'tenant', roof: 'owner', floor: 'flat' },
    ],
  ])('house colours: %s', (_, strategies, want) => {
    const specs: readonly JsonObject[] = [
      { wall: 'owner', roof: 'owner' },
      { floor: 'flat', wall: 'flat' },
      { door: 'tenant', wall: 'tenant' },
      { wall: 'guest' },
    ];
    const all = specs.map((spec, i) => policy(`p${i}`, strategies[i] ?? 'AtomicDefaults', spec));
    expect(folded(...all)?.spec).toEqual(want);
  });

  const strategy = fc.constantFrom(...mergeStrategies);
  const leaf = fc.oneof(fc.nat(2), fc.constant([1]), fc.constant({}));
  const value = fc.oneof(leaf, fc.dictionary(fc.constantFrom('p', 'q/', '~'), leaf, { minKeys: 1, maxKeys: 2 }));
  const spec = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { minKeys: 1, maxKeys: 3 });
  const stack = fc
    .array(fc.tuple(strategy, spec), { minLength: 1, maxLength: 6 })
    .map((all) => all.map(([how, what], i) => policy(`p${i}`, how, what as JsonObject)));

  it('is what merging one after the other from the leaf is, each leaf from one policy that has it', () => {
    fc.assert(
      fc.property(stack, (all) => {
        const fold = folded(...all);
        expect(fold?.spec).toEqual(fromTheLeaf(all));
        for (const [pointer, source] of fold?.sources ?? []) {
          const owner = all.find(({ key }) => key === source.policy);
          expect(owner && [...listLeaves(owner.traced)].map(([at]) => at)).toContain(pointer);
        }
        const surviving = all.reduce((sum, one) => sum + (fold?.surviving(one) ?? 0), 0);
        expect(surviving).toBe(fold?.sources.size);
      }),
      { numRuns: 1_000 },
    );
  });

  it('keeps the law: A override > B override > C override > C default > B default > A default', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom<MergeStrategy>('AtomicDefaults', 'AtomicOverrides'), { minLength: 1, maxLength: 6 }),
        (all) => {
          const policies = all.map((how, i) => policy(`p${i}`, how, { from: i }));
          const firstOverride = all.indexOf('AtomicOverrides');
          // The last policy's own strategy applies to no other policy, so that it wins as a default too.
          const winner = firstOverride < 0 ? all.length - 1 : firstOverride;
          expect(folded(...policies)?.spec).toEqual({ from: winner });
        },
      ),
    );
  });
});
