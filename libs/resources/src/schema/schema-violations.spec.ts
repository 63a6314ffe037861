import { Type, type TSchema } from 'typebox';
import { compileSchema } from './compiled-schema';
import { FieldPath, Violations } from '../violation';

const strict = { additionalProperties: false };

function reasonsOf(schema: TSchema, value: unknown): string[] {
  const found = new Violations();
  compileSchema(schema).check(value, FieldPath.at('spec'), found);
  return found.first.map(({ field, reason }) => `${field}: ${reason}`);
}

const Thing = Type.Object(
  {
    name: Type.String({ minLength: 2, maxLength: 4 }),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    tags: Type.Optional(Type.Record(Type.String(), Type.String())),
    items: Type.Optional(Type.Array(Type.Object({ on: Type.Boolean() }, strict), { minItems: 1, maxItems: 2 })),
    mode: Type.Optional(Type.Enum(['a', 'b'])),
    either: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })])),
    age: Type.Optional(Type.String({ title: 'a duration such as 5s', pattern: '^[0-9]+s$' })),
    code: Type.Optional(Type.String({ pattern: '^x$' })),
    size: Type.Optional(Type.Number({ minimum: 0 })),
  },
  strict,
);

describe('the violations of a value that does not fit a schema', () => {
  it.each<[string, unknown, string[]]>([
    [
      'a good one',
      { name: 'abc', port: 1, tags: { a: 'b' }, items: [{ on: true }], mode: 'a', either: 'x', size: 0 },
      [],
    ],
    ['no object', 5, ['spec: must be an object; got 5']],
    ['null', null, ['spec: must be an object; got null']],
    ['a list', [], ['spec: must be an object; got a list']],
    ['nothing required', {}, ['spec.name: is required']],
    [
      'unknown fields',
      { name: 'abc', prot: 1, zzz: 2 },
      ['spec.prot: is not a known field; did you mean "port"?', 'spec.zzz: is not a known field'],
    ],
    ['lengths', { name: 'a' }, ['spec.name: must have at least 2 characters']],
    ['lengths in code points', { name: '😀😀😀😀😀' }, ['spec.name: must not be longer than 4 characters, has 5']],
    ['more lengths', { name: 'abcde' }, ['spec.name: must not be longer than 4 characters, has 5']],
    ['emptiness', { name: '' }, ['spec.name: must not be empty']],
    [
      'everything at once, in the order of the document',
      {
        size: -1,
        port: 10,
        name: 7,
        tags: { a: 1, 'b.c': null },
        items: [{ on: 1 }, {}],
        mode: 'c',
        either: 0,
        age: '5',
        code: 'y',
      },
      [
        'spec.size: must be at least 0; got -1',
        'spec.port: must be 1 to 9; got 10',
        'spec.name: must be a string; got 7',
        'spec.tags.a: must be a string; got 1',
        'spec.tags["b.c"]: must be a string; got null',
        'spec.items[0].on: must be true or false; got 1',
        'spec.items[1].on: is required',
        'spec.mode: must be one of a, b; got "c"',
        'spec.either: must be at least 1; got 0',
        'spec.age: must be a duration such as 5s; got "5"',
        'spec.code: must match ^x$; got "y"',
      ],
    ],
    ['few items', { name: 'abc', items: [] }, ['spec.items: must have at least 1 item']],
    [
      'many items',
      { name: 'abc', items: [{ on: true }, { on: true }, { on: true }] },
      ['spec.items: must have at most 2 items, has 3'],
    ],
    ['neither branch', { name: 'abc', either: true }, ['spec.either: must be a whole number or a string; got true']],
    ['a fraction', { name: 'abc', port: 1.5 }, ['spec.port: must be a whole number; got 1.5']],
    [
      'a long value',
      { name: 'abc', mode: 'x'.repeat(100) },
      [`spec.mode: must be one of a, b; got "${'x'.repeat(76)}..."`],
    ],
  ])('%s', (_, value, want) => {
    expect(reasonsOf(Thing, value)).toEqual(want);
  });

  it('never lets a value pass without a word that the schema refuses', () => {
    const odd = Type.Object({ a: Type.Array(Type.Integer(), { uniqueItems: true }) }, strict);
    expect(reasonsOf(odd, { a: [1, 1] })).toEqual(['spec: does not fit its schema']);
  });
});
