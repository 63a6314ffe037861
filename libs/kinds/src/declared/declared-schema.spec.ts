import { FieldPath, interpretSchema, Violations } from '@causeway/resources';
import {
  declaredSchema,
  DEFAULT_SCHEMA_BOUNDS,
  MAX_SCHEMA_DEPTH,
  MAX_SCHEMAS,
  schemaKeywords,
} from './declared-schema';

const at = FieldPath.at('schema');
const faultsOf = (schema: unknown): string[] =>
  declaredSchema(schema, at).violations.map(({ field, rule }) => `${field} ${rule}`);
const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

function checked(schema: unknown, value: unknown): string[] {
  const read = declaredSchema(schema, at);
  expect(read.violations).toEqual([]);
  const found = new Violations();
  interpretSchema(read.schema).check(value, FieldPath.at('spec'), found);
  return found.first.map(({ field, rule }) => `${field} ${rule}`);
}

describe('the schema of a definition', () => {
  it('takes the keywords that docs/reference/policies.md lists, and annotations', () => {
    const everything = object(
      {
        text: {
          type: 'string',
          minLength: 1,
          maxLength: 9,
          pattern: '^a',
          not: { pattern: 'z$' },
          title: 't',
          description: 'd',
        },
        whole: { type: 'integer', minimum: 0, maximum: 10, multipleOf: 2 },
        number: { type: 'number' },
        yes: { type: 'boolean', examples: [true] },
        list: { type: 'array', items: { enum: ['a', 1, true] }, minItems: 1, maxItems: 2 },
        map: {
          type: 'object',
          additionalProperties: { const: 'x' },
          propertyNames: { pattern: '^k' },
          minProperties: 1,
          maxProperties: 2,
        },
        either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        any: { type: 'object', additionalProperties: true },
      },
      { required: ['text'] },
    );
    const good = {
      text: 'ab',
      whole: 4,
      number: 1.5,
      yes: true,
      list: ['a', 1],
      map: { k1: 'x' },
      either: 3,
      any: { a: [null] },
    };
    expect(checked(everything, good)).toEqual([]);
    const bad = {
      text: 'az',
      whole: 3,
      number: '1',
      yes: 0,
      list: ['b'],
      map: { l: 'x' },
      either: [],
      any: 5,
      more: 1,
    };
    expect(checked(everything, bad).sort()).toEqual(
      [
        'spec.any wrong-type',
        'spec.either wrong-type',
        'spec.list[0] not-one-of',
        'spec.map.l wrong-form',
        'spec.more unknown-field',
        'spec.number wrong-type',
        'spec.text wrong-form',
        'spec.whole wrong-form',
        'spec.yes wrong-type',
      ].sort(),
    );
    expect(Object.values(schemaKeywords).flat()).toHaveLength(19);
  });

  it.each<[string, unknown, string[]]>([
    ['no object', 'x', ['schema wrong-type']],
    ['no type', {}, ['schema.type required']],
    ['another type at its top', { type: 'string' }, ['schema.type not-one-of']],
    ['several types', object({ a: { type: ['string', 'null'] } }), ['schema.properties.a.type not-one-of']],
    [
      '$ref',
      object({ a: { $ref: '#/$defs/b' } }),
      ['schema.properties.a["$ref"] unknown-field', 'schema.properties.a.type required'],
    ],
    ['format', object({ a: { type: 'string', format: 'uri' } }), ['schema.properties.a.format unknown-field']],
    ['a default', object({ a: { type: 'string', default: 'x' } }), ['schema.properties.a.default not-allowed']],
    [
      'a pattern of JavaScript',
      object({ a: { type: 'string', pattern: '(?=a)' } }),
      ['schema.properties.a.pattern wrong-form'],
    ],
    ['a list without items', object({ a: { type: 'array' } }), ['schema.properties.a.items required']],
    ['a required field that is none', object({}, { required: ['b'] }), ['schema.required[0] not-one-of']],
    [
      'a bound above the largest',
      object({ a: { type: 'string', maxLength: 1e9 } }),
      ['schema.properties.a.maxLength out-of-range'],
    ],
    [
      'a bound that is no number',
      object({ a: { type: 'integer', minimum: '1' } }),
      ['schema.properties.a.minimum wrong-type'],
    ],
    [
      'bounds that nothing fits',
      object({
        a: { type: 'string', minLength: 9, maxLength: 3 },
        b: { type: 'number', minimum: 0.5, maximum: 0 },
        c: { type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 1 },
        d: { type: 'string', minLength: DEFAULT_SCHEMA_BOUNDS.maxLength + 1 },
        e: { type: 'string', minLength: 3, maxLength: 3 },
      }),
      [
        'schema.properties.a.minLength out-of-range',
        'schema.properties.b.minimum out-of-range',
        'schema.properties.c.minItems out-of-range',
        'schema.properties.d.minLength out-of-range',
      ],
    ],
    [
      'values of another type',
      object({
        a: { type: 'integer', enum: [1, 1.5, 'x'] },
        b: { type: 'string', const: 3 },
        c: { type: 'number', enum: [1.5] },
      }),
      [
        'schema.properties.a.enum[1] wrong-type',
        'schema.properties.a.enum[2] wrong-type',
        'schema.properties.b.const wrong-type',
      ],
    ],
    ['an empty enum', object({ a: { enum: [] } }), ['schema.properties.a.enum wrong-type']],
    ['null as a value', object({ a: { const: null } }), ['schema.properties.a.const wrong-type']],
  ])('refuses %s', (_, schema, want) => {
    expect(faultsOf(schema)).toEqual(want);
  });

  it.each<[string, object, string]>([
    ['a type', { type: 'strng' }, 'must be one of object, array, string, integer, number, boolean; got "strng"'],
    ['a bound', { type: 'integer', minimum: '1' }, 'must be a number; got "1"'],
    ['a required field', object({}, { required: ['b'] }), 'must name a field of properties; got "b"'],
    ['crossed bounds', { type: 'integer', minimum: 9, maximum: 3 }, 'must not be above maximum, which is 3; got 9'],
    ['a value', { type: 'integer', enum: ['a'] }, 'must be of the type integer; got "a"'],
    ['null', { const: null }, 'must be a text, a number, true or false; got null'],
    ['what is long', { type: 'string', pattern: ['x'.repeat(99)] }, `must be a text; got ["${'x'.repeat(75)}...`],
  ])('names the value that it refuses: %s', (_, schema, want) => {
    const [violation] = declaredSchema(object({ a: schema }), at).violations;
    expect(violation?.reason).toBe(want);
  });

  it.each(['targetRefs', 'targetRef', 'defaults', 'overrides', 'strategy'])('T004-03 refuses the field %s', (name) => {
    expect(faultsOf(object({ [name]: { type: 'string' } }))).toEqual([`schema.properties.${name} not-allowed`]);
    expect(faultsOf(object({ inner: object({ [name]: { type: 'string' } }) }))).toEqual([]);
  });

  it('gives every text, list and map a bound', () => {
    const schema = object({
      text: { type: 'string' },
      list: { type: 'array', items: { type: 'integer' } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
    });
    expect(
      checked(schema, { text: 'x'.repeat(1_025), list: Array(129).fill(1), map: { ['k'.repeat(254)]: 'v' } }),
    ).toEqual(['spec.text too-long', 'spec.list too-many', expect.stringMatching(/^spec\.map\[.* too-long$/)]);
  });

  it('bounds depth and number of schemas', () => {
    let deep: object = { type: 'string' };
    for (let i = 0; i < MAX_SCHEMA_DEPTH; i++) deep = object({ a: deep });
    expect(faultsOf(deep)).toEqual([expect.stringMatching(/too-deep$/)]);
    const many = object(
      Object.fromEntries(Array.from({ length: MAX_SCHEMAS }, (_, i) => [`f${i}`, { type: 'string' }])),
    );
    expect(faultsOf(many)).toEqual([expect.stringMatching(/too-many$/)]);
  });

  it('searches patterns in linear time, and has them in no regular expression of JavaScript', () => {
    const schema = object({ a: { type: 'string', pattern: '(a+)+$', maxLength: 32_768 } });
    expect(checked(schema, { a: `${'a'.repeat(30_000)}b` })).toEqual(['spec.a wrong-form']);
    expect(checked(object({ a: { type: 'string', pattern: 'b' } }), { a: 'abc' })).toEqual([]);
    expect(checked(object({ a: { type: 'string', pattern: '^b|c$' } }), { a: 'abd' })).toEqual(['spec.a wrong-form']);
  });
});
