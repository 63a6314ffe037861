import { Type } from 'typebox';
import { defineKind } from './define-kind';
import { Registry } from './registry';
import { Sync } from './sync-rule';
import { FieldPath } from '../violation';

const Thing = defineKind({
  name: 'Thing',
  plural: 'things',
  shortName: 'th',
  aliases: [{ name: 'XThing', plural: 'xthings', apiVersion: 'x.io/v1', required: ['size'] }],
  scope: 'global',
  sync: Sync.fromGlobal,
  spec: Type.Object({ size: Type.Optional(Type.Integer({ default: 3 })) }, { additionalProperties: false }),
  validate: (spec, at) => (spec.size === 7 ? [at.field('size').violation('must not be seven')] : []),
  warn: ({ name, spec }) => (spec.size === 8 ? [`${name} is eight`] : []),
});

describe('defineKind', () => {
  const at = FieldPath.at('spec');

  it('fills usual values in', () => {
    expect(Thing).toMatchObject({
      namespaced: false,
      writer: 'owner',
      confidential: false,
      serverOwned: [],
      immutable: [],
      apiVersion: 'kuma.io/v1alpha1',
    });
    expect(Object.isFrozen(Thing)).toBe(true);
  });

  it('checks by schema and by rules, rules also beside an unknown field', () => {
    expect(Thing.check({ size: 7 }, at).first).toEqual([
      { field: 'spec.size', reason: 'must not be seven', rule: 'invalid' },
    ]);
    expect(Thing.check({ size: 7, sise: 1 }, at).first.map((v) => v.field)).toEqual(['spec.sise', 'spec.size']);
    expect(Thing.check({ size: 'x' }, at).total).toBe(1);
  });

  it('fills defaults in and warns', () => {
    expect(Thing.withDefaults({})).toEqual({ size: 3 });
    expect(Thing.warnings('it', { size: 8 })).toEqual(['it is eight']);
    expect(Thing.warnings('it', { size: 'x' })).toEqual([]);
  });

  it('never repeats values of a confidential kind', () => {
    const Hidden = defineKind({
      name: 'Hidden',
      plural: 'hiddens',
      shortName: 'hi',
      scope: 'global',
      sync: Sync.secrets,
      confidential: true,
      spec: Type.Object({ data: Type.Enum(['a']) }),
    });
    expect(Hidden.check({ data: 'secret' }, at).first).toEqual([
      { field: 'spec.data', reason: 'must be one of a', rule: 'not-one-of' },
    ]);
    expect(Hidden.shapeViolation({ data: 5 }, at)?.reason).toBe('must be a string');
  });
});

describe('Registry', () => {
  const Other = defineKind({
    ...Thing,
    name: 'Other',
    plural: 'others',
    shortName: 'ot',
    aliases: [],
    spec: Type.Object({}),
    validate: () => [],
    warn: () => [],
  });
  const registry = new Registry([Thing, Other]);

  it('finds kinds by name, alias and noun', () => {
    expect(registry.kind('Thing')).toBe(Thing);
    expect(registry.kind('XThing')).toBe(Thing);
    expect(registry.kind('things')).toBeUndefined();
    expect(registry.noun('things')).toBe(Thing);
    expect(registry.noun('ot')).toBe(Other);
    expect(['thing', 'xthing', 'xthings'].map((noun) => registry.noun(noun))).toEqual([Thing, Thing, Thing]);
    expect(registry.noun('constructor')).toBeUndefined();
  });

  it('T000-02 tells an alias from the name of its kind', () => {
    const [alias] = Thing.aliases;
    expect(['XThing', 'Thing', 'x'].map((name) => registry.named(name)?.alias)).toEqual([alias, undefined, undefined]);
    expect(registry.collection('xthings')).toEqual({ kind: Thing, alias });
    expect(registry.collection('things')).toEqual({ kind: Thing });
    expect(registry.collection('th')).toBeUndefined();
  });

  it('suggests what was most likely meant', () => {
    expect(registry.suggestKind('Thng')).toBe('Thing');
    expect(registry.suggestNoun('thigns')).toBe('things');
    expect(registry.suggestKind('Elephant')).toBeUndefined();
  });

  it('refuses two kinds of one name', () => {
    expect(
      () =>
        new Registry([
          Thing,
          defineKind({
            ...Other,
            name: 'X',
            shortName: 'things',
            plural: 'xs',
            spec: Type.Object({}),
            validate: () => [],
            warn: () => [],
          }),
        ]),
    ).toThrow('kinds Thing and X are both called "things"');
  });
});
