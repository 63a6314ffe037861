import { coreKinds } from './core-kinds';
import { FieldPath, type Kind } from '@causeway/resources';

type Part = Readonly<Record<string, unknown>>;

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Places of a schema where a value could be of any size. */
function unbounded(schema: unknown, at: string): string[] {
  if (!isPart(schema)) return [];
  const branches = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
  const properties = isPart(schema['properties']) ? schema['properties'] : {};
  const patterns = isPart(schema['patternProperties']) ? schema['patternProperties'] : {};
  const isMap = Object.keys(patterns).length > 0 || isPart(schema['additionalProperties']);
  const isClosed = schema['additionalProperties'] === false;
  const names = isPart(schema['propertyNames']) ? schema['propertyNames'] : {};
  return [
    ...(schema['type'] === 'string' && !schema['enum'] && schema['maxLength'] === undefined ? [`${at}: text`] : []),
    ...(schema['type'] === 'array' && schema['maxItems'] === undefined ? [`${at}: list`] : []),
    ...(schema['type'] === 'object' && !isClosed && !(isMap && schema['maxProperties'] !== undefined)
      ? [`${at}: map`]
      : []),
    ...(isMap && names['maxLength'] === undefined ? [`${at}: keys`] : []),
    ...branches.flatMap((branch, i) => unbounded(branch, `${at}|${i}`)),
    ...unbounded(schema['items'], `${at}[]`),
    ...unbounded(schema['additionalProperties'], `${at}.*`),
    ...Object.entries(properties).flatMap(([key, inner]) => unbounded(inner, `${at}.${key}`)),
    ...Object.values(patterns).flatMap((inner) => unbounded(inner, `${at}.*`)),
  ];
}

const at = FieldPath.at('spec');

describe('the walk over schemas', () => {
  it('finds what has no bound', () => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: {
        text: { type: 'string' },
        list: { type: 'array', maxItems: 1, items: { type: 'array', items: { const: 1 } } },
        map: { type: 'object', maxProperties: 1, patternProperties: { '^.*$': { type: 'string', maxLength: 1 } } },
        open: { type: 'object', properties: {} },
        either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      },
    };
    expect(unbounded(schema, 'spec')).toEqual([
      'spec.text: text',
      'spec.list[]: list',
      'spec.map: keys',
      'spec.open: map',
      'spec.either|0: text',
    ]);
  });
});

describe.each(coreKinds.kinds.map((kind): [string, Kind] => [kind.name, kind]))('bounds of %s', (_, kind) => {
  it('stand on every list, text and map of its schema', () => {
    expect(unbounded(kind.spec, 'spec')).toEqual([]);
  });

  it('stand on its bytes and labels', () => {
    expect(kind.bounds.bytes).toBeGreaterThan(0);
    expect(kind.bounds.bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(kind.bounds.labels).toBeLessThanOrEqual(128);
  });

  it('are checked first: what is too large is one violation, whatever is in it', () => {
    const many = Object.fromEntries(Array.from({ length: 60_000 }, (_item, i) => [`field-${i}`, 'x'.repeat(20)]));
    const found = kind.check(many, at);
    expect([found.total, found.first[0]?.rule]).toEqual([1, 'too-large']);
  });
});

describe('a list, text or map beyond its bound', () => {
  const service = coreKinds.kind('MeshService');
  const dataplane = coreKinds.kind('Dataplane');
  const generator = coreKinds.kind('HostnameGenerator');
  const list = (length: number): unknown[] => Array.from({ length }, () => ({}));

  it.each<[string, { readonly kind: Kind | undefined; readonly spec: unknown }, string, string]>([
    ['40,000 empty ports', { kind: service, spec: { ports: list(40_000) } }, 'spec.ports', 'too-many'],
    [
      'a template of 6,000 braces',
      { kind: generator, spec: template('{{'.repeat(3_000)) },
      'spec.template',
      'too-long',
    ],
    [
      '200 tags',
      { kind: dataplane, spec: { networking: { address: '10.0.0.1', inbound: [{ port: 1, tags: numbered(200) }] } } },
      'spec.networking.inbound[0].tags',
      'too-many',
    ],
  ])('%s is one violation', (_, { kind, spec }, field, rule) => {
    const found = kind?.check(spec, at);
    expect([found?.total, found?.first[0]?.field, found?.first[0]?.rule]).toEqual([1, field, rule]);
    const fault = kind?.shapeViolation(spec, at);
    expect([fault?.field, fault?.rule]).toEqual([field, rule]);
  });

  it('does not hide what else is wrong', () => {
    const found = service?.check({ ports: list(2_000), export: { mode: 'Subset' } }, at);
    expect(found?.first.map(({ field }) => field)).toEqual(['spec.ports', 'spec.export.zones']);
  });

  it('lists a hundred of very many violations and counts all', () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_item, i) => [`nonsense${i}`, 1]));
    const found = service?.check(fields, at);
    expect([found?.first.length, found?.total]).toEqual([100, 10_000]);
  });

  function template(text: string): unknown {
    return { selector: { meshService: {} }, template: text };
  }

  function numbered(count: number): object {
    return Object.fromEntries(Array.from({ length: count }, (_item, i) => [`tag-${i}`, 'x']));
  }
});

describe('fields that are called like what every object inherits', () => {
  const names = ['constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'];
  const dataplane = coreKinds.kind('Dataplane');

  it.each(names)('a tag called %s stays', (name) => {
    const tags = Object.fromEntries([
      ['kuma.io/service', 'redis'],
      [name, 'kept'],
    ]);
    const spec = { networking: { address: '10.0.0.1', inbound: [{ port: 1, tags }] } };
    const filled = dataplane?.withDefaults(spec);
    expect(filled).toEqual(spec);
    expect(dataplane?.check(filled, at).first.map(({ field }) => field)).toEqual([]);
  });

  it.each(names)('a field called %s is refused', (name) => {
    const spec = { networking: { address: '10.0.0.1' }, [name]: 1 };
    expect(dataplane?.check(dataplane.withDefaults(spec), at).first.map(({ field }) => field)).toEqual([
      `spec.${name}`,
    ]);
  });
});
