import { Type } from 'typebox';
import { defineKind } from '../kind/define-kind';
import { ReplacedFields } from './valid-subset';
import { compileSchema } from './compiled-schema';
import { Sync } from '../kind/sync-rule';
import { FieldPath } from '../violation';

const strict = { additionalProperties: false };

const Port = Type.Object(
  { number: Type.Integer({ minimum: 1, maximum: 9 }), name: Type.Optional(Type.String({ minLength: 1 })) },
  strict,
);

const Thing = Type.Object(
  {
    title: Type.String({ minLength: 1 }),
    ports: Type.Array(Port, { minItems: 1 }),
    tags: Type.Optional(Type.Record(Type.String(), Type.String())),
    target: Type.Optional(Type.Object({ kind: Type.Enum(['A', 'B']), port: Type.Optional(Type.Integer()) }, strict)),
    either: Type.Optional(Type.Union([Type.Integer(), Type.String()])),
  },
  strict,
);

const good = { title: 'web', ports: [{ number: 1 }] };
const schema = compileSchema(Thing);

function sound(value: unknown): [value: unknown, replaced: readonly string[]] {
  const part = schema.validSubset(value, FieldPath.at('spec'));
  return [part.value, part.replaced.list()];
}

describe('the valid subset of a value', () => {
  it.each<[string, unknown, unknown, string[]]>([
    ['all of a good one', good, good, []],
    ['all but unknown fields', { ...good, x: 1, ports: [{ number: 1, y: 2 }] }, good, []],
    ['all but optional fields that do not fit', { ...good, tags: 5, either: true }, good, ['spec.tags', 'spec.either']],
    ['the good entries of a map', { ...good, tags: { a: 1, b: 'c' } }, { ...good, tags: { b: 'c' } }, ['spec.tags.a']],
    ['the rest where a required one is missing', { ports: good.ports }, { ...good, title: 'x0' }, ['spec.title']],
    [
      'a list whose items keep their places, with numbers that stand nowhere else',
      { ...good, ports: [{ number: 0 }, { number: 1 }, 7, { number: 2, name: '' }] },
      { ...good, ports: [{ number: 3 }, { number: 1 }, { number: 4 }, { number: 2 }] },
      ['spec.ports[0].number', 'spec.ports[2]', 'spec.ports[3].name'],
    ],
    ['an empty list filled up', { ...good, ports: [] }, { ...good, ports: [{ number: 1 }] }, ['spec.ports']],
    [
      'nothing beside an unknown kind, which decides how the others are meant',
      { ...good, target: { kind: 'C', port: 5 } },
      { ...good, target: { kind: 'A', port: 5 } },
      ['spec.target', 'spec.target.kind'],
    ],
    ['a stand-in of what is no object at all', 5, { title: 'x0', ports: [{ number: 1 }] }, ['spec']],
  ])('is %s', (_, value, want, replaced) => {
    expect(sound(value)).toEqual([want, replaced]);
    expect(schema.fits(want)).toBe(true);
  });

  it('lets the rules of a kind speak of it, and of nothing else', () => {
    const kind = defineKind({
      name: 'Thing',
      plural: 'things',
      shortName: 'th',
      scope: 'global',
      sync: Sync.bothWays,
      spec: Thing,
      validate: (spec, at) => [
        at.field('title').violation(`is ${spec.title}`),
        ...spec.ports.map((port, i) => at.field('ports').index(i).field('number').violation(`is ${port.number}`)),
      ],
    });
    const found = kind.check({ title: '', ports: [{ number: 10 }, { number: 2 }] }, FieldPath.at('spec')).first;
    expect(found.map(({ field, reason }) => `${field}: ${reason}`)).toEqual([
      'spec.title: must not be empty',
      'spec.ports[0].number: must be 1 to 9; got 10',
      'spec.ports[1].number: is 2',
    ]);
  });

  it.each<[string, string, boolean]>([
    ['spec.a', 'spec.a', true],
    ['spec.a', 'spec.a.b', true],
    ['spec.a[1]', 'spec.a', true],
    ['spec.a["b.c"]', 'spec.a', true],
    ['spec.a', 'spec.ab', false],
    ['spec.a', 'spec.b.a', false],
    ['', 'spec', false],
  ])('%s and %s overlap: %s', (one, other, want) => {
    const overlap = (replaced: string, field: string): boolean => {
      const fields = new ReplacedFields();
      fields.add(FieldPath.at(replaced));
      return fields.concern(field);
    };
    expect([overlap(one, other), overlap(other, one)]).toEqual([want, want]);
  });
});

describe('what judging a value that does not fit costs', () => {
  /** A value that counts how often its fields are read. */
  const counted = (length: number): { readonly value: unknown; readonly reads: () => number } => {
    let reads = 0;
    const item = (): object =>
      new Proxy({}, { getOwnPropertyDescriptor: () => (reads++, undefined), ownKeys: () => (reads++, []) });
    return { value: { title: 'web', ports: Array.from({ length }, item) }, reads: () => reads };
  };
  const readsOf = (length: number): number => {
    const { value, reads } = counted(length);
    schema.validSubset(value, FieldPath.at('spec'));
    return reads();
  };

  it('grows as the value does', () => {
    expect(readsOf(4_000)).toBeLessThanOrEqual(2 * readsOf(2_000) + 20);
  });

  it('gives each of very many missing numbers one of its own', () => {
    const ports = Array.from({ length: 60_000 }, () => ({}));
    const { value } = schema.validSubset({ title: 'web', ports }, FieldPath.at('spec'));
    const numbers = new Set(Object(value).ports.map(({ number }: { number: number }) => number));
    expect(numbers.size).toBe(60_000);
  });

  it('asks of each violation once whether its field was replaced', () => {
    const fields = new ReplacedFields();
    for (let i = 0; i < 60_000; i++) fields.add(FieldPath.at('spec').field('ports').index(i).field('port'));
    const asked = Array.from({ length: 60_000 }, (_, i) => fields.concern(`spec.ports[${i}].name`));
    expect(asked).not.toContain(true);
    expect(fields.concern('spec.ports[59999].port')).toBe(true);
  });
});
