import { FieldPath, type JsonObject, type Kind, type Resource } from '@causeway/resources';
import { coreKinds } from '../core-kinds';
import { undeclaredKind } from './declared-kind';
import { DefinitionEvaluator, MAX_DECLARED_KINDS } from './evaluate-definitions';
import { isReservedName } from './reserved-names';
import { MetaresourceDefinition } from '../metaresource-definition';

const SPEC = {
  group: 'a.io',
  kind: 'PaintPolicy',
  plural: 'paintpolicies',
  shortName: 'pp',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'all of it' }],
  effectiveTarget: { level: 'Rule', semantics: 'what matches' },
  mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults'],
  schema: {
    type: 'object',
    properties: { colour: { type: 'string' }, deep: { type: 'object', additionalProperties: true } },
    required: ['colour'],
  },
};

function definition(name: string, creationOrder: number, spec: JsonObject = SPEC, origin = 'global'): Resource {
  return {
    id: { kind: 'MetaresourceDefinition', mesh: '', zone: '', namespace: '', name },
    labels: { 'kuma.io/origin': origin },
    spec,
    uid: name,
    generation: 1,
    creationOrder,
    createdAt: 1,
    modifiedAt: 1,
    revision: 1,
    freed: [],
    origin: { incarnation: '', revision: 0, committedAt: 0 },
  };
}

const outcomes = (...definitions: readonly Resource[]): Record<string, string> =>
  Object.fromEntries(
    new DefinitionEvaluator().evaluate(definitions).map((one) => [one.definition.id.name, one.reason]),
  );

describe('which kinds definitions declare', () => {
  it('is decided by age where two want one name, in whatever order they come', () => {
    const [older, newer] = [definition('b', 1), definition('a', 2)];
    const other = definition('c', 3, { ...SPEC, kind: 'OtherPolicy', plural: 'others', shortName: 'pp' });
    const want = { b: 'Accepted', a: 'Conflicted', c: 'Conflicted' };
    expect(outcomes(older, newer, other)).toEqual(want);
    expect(outcomes(other, newer, older)).toEqual(want);
    const [, loser] = new DefinitionEvaluator().evaluate([newer, older]);
    expect(loser?.message).toBe('"paintpolicy" is taken by the MetaresourceDefinition b');
    // A definition without an age is the youngest, and names decide between equals.
    expect(outcomes(definition('x', 0), definition('y', 9))).toEqual({ x: 'Conflicted', y: 'Accepted' });
    expect(outcomes(definition('y', 0), definition('x', 0))).toEqual({ x: 'Accepted', y: 'Conflicted' });
  });

  it('is decided by the global where a zone brings its own', () => {
    expect(outcomes(definition('own', 1, SPEC, 'zone'), definition('copy', 2))).toEqual({
      own: 'Conflicted',
      copy: 'Accepted',
    });
  });

  it('leaves out what breaks a rule or is one too many', () => {
    expect(outcomes(definition('a', 1, { ...SPEC, schema: { type: 'text' } }))).toEqual({ a: 'Invalid' });
    expect(outcomes(definition('a', 1, { ...SPEC, hierarchy: ['Rule', 'Mesh'] }))).toEqual({ a: 'Invalid' });
    const many = Array.from({ length: MAX_DECLARED_KINDS + 1 }, (_, i) =>
      definition(`d${i}`, i + 1, { ...SPEC, kind: `P${i}`, plural: `ps${i}`, shortName: `s${i}` }),
    );
    expect(outcomes(...many)[`d${MAX_DECLARED_KINDS}`]).toBe('TooManyKinds');
  });

  it('keeps the kind of a definition that has not changed', () => {
    const judge = new DefinitionEvaluator();
    const [before] = judge.evaluate([definition('a', 1)]);
    const [after] = judge.evaluate([{ ...definition('a', 1), status: { conditions: [] }, revision: 2 }]);
    const [changed] = judge.evaluate([definition('a', 1, { ...SPEC, writer: 'operator' })]);
    expect(after?.kind).toBe(before?.kind);
    expect([changed?.kind === before?.kind, changed?.kind?.writer]).toEqual([false, 'operator']);
  });
});

describe('the names that definitions may not have', () => {
  it('are all of ours, in any case', () => {
    for (const { name, plural, shortName, aliases } of coreKinds.kinds) {
      const words = [name, plural, shortName, ...aliases.flatMap((alias) => [alias.name, alias.plural])];
      expect([name, words.filter((word) => !isReservedName(word))]).toEqual([name, []]);
    }
    expect(['TimeoutPolicy', 'ColorPolicy', 'paints'].filter(isReservedName)).toEqual([]);
    expect(['MeshPaint', 'meshpaints', 'MESHSERVICE'].every(isReservedName)).toBe(true);
  });

  it('are refused where they are written', () => {
    const spec = { ...SPEC, kind: 'Gateway', plural: 'meshpaints', shortName: 'dp' };
    expect(
      MetaresourceDefinition.check(spec, FieldPath.at('spec')).first.map(({ field, rule }) => `${field} ${rule}`),
    ).toEqual(['spec.kind not-allowed', 'spec.plural not-allowed', 'spec.shortName not-allowed']);
  });
});

function kindOf(spec: JsonObject): Kind {
  const [result] = new DefinitionEvaluator().evaluate([definition('paint', 1, spec)]);
  if (!result?.kind) throw new Error(result?.message);
  return result.kind;
}

describe('a declared kind', () => {
  const kind = kindOf(SPEC);
  const at = FieldPath.at('spec');
  const faults = (spec: unknown): string[] =>
    kind.checkAt(id, kind.withDefaults(spec), at).first.map(({ field, rule }) => `${field} ${rule}`);
  const id = { kind: 'PaintPolicy', mesh: 'default', zone: '', namespace: 'default', name: 'p' };
  const refs = { targetRefs: [{ kind: 'Namespace', name: 'default' }] };

  it('is made as other kinds are', () => {
    expect(kind).toMatchObject({
      name: 'PaintPolicy',
      plural: 'paintpolicies',
      shortName: 'pp',
      apiVersion: 'a.io/v1alpha1',
    });
    expect(kind).toMatchObject({ scope: 'mesh', namespaced: true, writer: 'owner', sync: { name: 'routes' } });
  });

  it.each<[string, unknown, string[]]>([
    ['bare', { ...refs, colour: 'red' }, []],
    ['defaults', { ...refs, defaults: { colour: 'red', strategy: 'patch' } }, []],
    ['overrides', { ...refs, overrides: { colour: 'red' } }, []],
    ['T004-01 without targets', { colour: 'red' }, ['spec.targetRefs required']],
    ['T004-01 without a spec proper', refs, ['spec.colour required', 'spec required']],
    ['T004-04 no target', { targetRefs: [], colour: 'red' }, ['spec.targetRefs too-few']],
    [
      'T004-04 17 targets',
      { targetRefs: Array(17).fill({ kind: 'Namespace', name: 'default' }), colour: 'red' },
      ['spec.targetRefs too-many'],
    ],
    ['T004-04 both forms', { ...refs, targetRef: refs.targetRefs[0], colour: 'red' }, ['spec.targetRef not-allowed']],
    ['T004-31 two forms', { ...refs, colour: 'red', defaults: { colour: 'red' } }, ['spec.colour not-allowed']],
    [
      'T004-31 defaults and overrides',
      { ...refs, defaults: { colour: 'red' }, overrides: { colour: 'red' } },
      ['spec.overrides not-allowed'],
    ],
    ['a field that is missing', { ...refs, deep: {} }, ['spec.colour required']],
    ['a field that is missing inside', { ...refs, overrides: { deep: {} } }, ['spec.overrides.colour required']],
    ['a field of another type', { ...refs, colour: 5 }, ['spec.colour wrong-type']],
    ['an unknown field', { ...refs, colour: 'red', color: 'red' }, ['spec.color unknown-field']],
  ])('%s', (_, spec, want) => {
    expect(faults(spec)).toEqual(want);
  });

  it('T004-04 stores targetRef as targetRefs; T004-05 fills in the only kind', () => {
    expect(kind.withDefaults({ targetRef: { name: 'default' }, colour: 'red' })).toEqual({
      targetRefs: [{ group: '', ...refs.targetRefs[0] }],
      colour: 'red',
    });
    const two = kindOf({
      ...SPEC,
      declaredTargets: [...SPEC.declaredTargets, { kind: 'Mesh', semantics: 'm' }],
    });
    expect(two.withDefaults({ targetRefs: [{ name: 'default' }] })).toEqual({ targetRefs: [{ name: 'default' }] });
  });

  it('takes from a peer what another version of the definition allows, within bounds', () => {
    for (const one of [kind, undeclaredKind('PaintPolicy')]) {
      expect(one.shapeViolation({ ...refs, colour: [5], more: 1 }, at)).toBeUndefined();
      expect(one.shapeViolation([], at)?.rule).toBe('wrong-type');
      expect(one.shapeViolation({ a: Array(200_000).fill(0) }, at)?.rule).toBe('too-large');
    }
  });
});
