import type { Kind } from '@causeway/resources';
import type { Prng } from '../../simulation/engine/prng';
import type { TextShape } from '../entry-point';
import { fewTexts, numbered, repeated } from './texts';

/** The part of JSON Schema that kinds use. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly title?: string;
}

/** A field of a document that hostile JSON can be put into. */
interface Place {
  readonly at: string;
  readonly schema: Schema;
  /** The whole document with this JSON in the field. */
  readonly around: (json: string) => string;
}

const DEEPEST = 8;

/** Hostile documents of a kind, as JSON text: every field that its schema names, and the envelope. */
export function bodyShapes(kind: Kind, draw: Prng): TextShape[] {
  const envelope = envelopeOf(kind);
  const inSpec = placesOf(kind.spec, 'spec', (json) => envelope({ spec: json }), 0);
  return [...inSpec.flatMap((place) => fillings(place, draw)), ...envelopeShapes(kind, envelope)];
}

/** A document of the kind with raw JSON for some of its parts. */
function envelopeOf(kind: Kind): (parts: Readonly<Record<string, string>>) => string {
  return (parts) => {
    const scope = kind.scope === 'mesh' ? { mesh: '"default"' } : {};
    const all = {
      type: JSON.stringify(kind.name),
      ...scope,
      name: '"a"',
      spec: JSON.stringify(exampleOf(kind)),
      ...parts,
    };
    return objectText(Object.entries(all));
  };
}

function exampleOf(kind: Kind): unknown {
  const { examples }: { readonly examples?: readonly unknown[] } = kind.spec;
  return examples?.[0] ?? smallest(kind.spec, 0);
}

function placesOf(schema: Schema, at: string, around: Place['around'], depth: number): Place[] {
  if (depth > DEEPEST) return [];
  const here = { at, schema, around };
  const branches = (schema.anyOf ?? []).flatMap((branch) => placesOf(branch, at, around, depth + 1));
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, field]) => {
    const others = (schema.required ?? []).filter((name) => name !== key);
    const rest = others.map((name) => [name, JSON.stringify(smallest(schema.properties?.[name] ?? {}, 0))] as const);
    return placesOf(field, `${at}.${key}`, (json) => around(objectText([...rest, [key, json]])), depth + 1);
  });
  const values = Object.values(schema.patternProperties ?? {}).flatMap((value) =>
    placesOf(value, `${at}.*`, (json) => around(`{"a":${json}}`), depth + 1),
  );
  const items = schema.items ? placesOf(schema.items, `${at}[0]`, (json) => around(`[${json}]`), depth + 1) : [];
  return [...(schema.anyOf ? [] : [here]), ...branches, ...fields, ...values, ...items];
}

function fillings({ at, schema, around }: Place, draw: Prng): TextShape[] {
  const filling = (name: string, json: (size: number) => string): TextShape => ({
    name: `${at}: ${name}`,
    make: (size) => around(json(Math.max(1, size - around('').length))),
  });
  const list = (name: string, item: (i: number) => string): TextShape =>
    filling(`list of ${name}`, (size) => `[${numbered(size - 2, item)}]`);
  const map = (name: string, entry: (i: number) => string): TextShape =>
    filling(`object of ${name}`, (size) => `{${numbered(size - 2, entry)}}`);
  switch (schema.type) {
    case 'array': {
      const items = schema.items ?? {};
      const good = JSON.stringify(smallest(items, 0));
      return [
        list('{}', () => '{}'),
        list('equal items', () => good),
        list('different items', (i) => JSON.stringify(smallest(items, i))),
        list('unknown fields', (i) => `{"f${i}":1}`),
        list('null', () => 'null'),
        list('texts', (i) => `"x${i}"`),
        list('[]', () => '[]'),
      ];
    }
    case 'string':
      return fewTexts(draw).map(({ name, make }) =>
        filling(
          name,
          (size) =>
            JSON.stringify(make(size - 2))
              .slice(0, size)
              .replace(/\\*"?$/, '') + '"',
        ),
      );
    case 'object':
      return [
        map('keys', (i) => `"k${i}":"v"`),
        map('odd keys', (i) => `"${i}\\"]. {{":"v"`),
        map('objects', (i) => `"k${i}":{}`),
        ...nearKeys(schema, map),
      ];
    case 'integer':
    case 'number':
      return [
        filling('digits', (size) => repeated('9', size)),
        filling('text', (size) => `"${repeated('9', size - 2)}"`),
      ];
    case 'boolean':
      return [list('true', () => 'true')];
    default:
      return [
        list('{}', () => '{}'),
        map('objects', (i) => `"k${i}":{"a":[1]}`),
        filling('depth', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2)),
        filling('depth within bounds', (size) => numberedDeep(size)),
      ];
  }
}

/** Misspelt fields, for which the nearest known name is searched. */
function nearKeys(schema: Schema, map: (name: string, entry: (i: number) => string) => TextShape): TextShape[] {
  const [known] = Object.keys(schema.properties ?? {});
  return known === undefined ? [] : [map('misspelt fields', (i) => `"${known}${i}":1`)];
}

/** Lists of lists that are as deep as a body may be, side by side. */
function numberedDeep(size: number): string {
  const deep = '['.repeat(50) + ']'.repeat(50);
  return `[${numbered(size, () => deep)}]`;
}

function envelopeShapes(kind: Kind, envelope: (parts: Readonly<Record<string, string>>) => string): TextShape[] {
  const shape = (name: string, make: (size: number) => string): TextShape => ({ name, make });
  const labels = (name: string, entry: (i: number) => string): TextShape =>
    shape(`labels: ${name}`, (size) => envelope({ labels: `{${numbered(size, entry)}}` }));
  const k8s = (metadata: (size: number) => string): ((size: number) => string) => {
    const head = { apiVersion: JSON.stringify(kind.apiVersion), kind: JSON.stringify(kind.name), spec: '{}' };
    return (size) => objectText(Object.entries({ ...head, metadata: metadata(size) }));
  };
  return [
    labels('many', (i) => `"k${i}":"v"`),
    labels('computed ones', (i) => `"kuma.io/k${i}":"v"`),
    labels('odd keys', (i) => `"${i}\\"]":"{{"`),
    labels('no texts', (i) => `"k${i}":{}`),
    shape('labels: one long', (size) => envelope({ labels: `{"a":"${repeated('a', size)}"}` })),
    shape('labels: one long key', (size) => envelope({ labels: `{"${repeated('a.', size)}":"a"}` })),
    shape('name: long', (size) => envelope({ name: `"${repeated('a-', size)}"` })),
    shape('mesh: long', (size) => envelope({ mesh: `"${repeated('a', size)}"` })),
    shape('namespace: long', (size) => envelope({ namespace: `"${repeated('a-', size)}"` })),
    shape('type: long', (size) => envelope({ type: `"${repeated('Mesh', size)}"` })),
    shape('unknown fields', (size) => `{"type":"${kind.name}","name":"a",${numbered(size, (i) => `"field${i}":1`)}}`),
    shape('misspelt fields', (size) => `{"type":"${kind.name}","name":"a",${numbered(size, (i) => `"labels${i}":1`)}}`),
    shape('one long unknown field', (size) => `{"type":"${kind.name}","name":"a","${repeated('a', size)}":1}`),
    shape('a key again and again', (size) => `{"type":"${kind.name}",${numbered(size, () => '"name":"a"')}}`),
    shape(
      'k8s labels',
      k8s((size) => `{"name":"a","labels":{${numbered(size, (i) => `"k${i}":"v"`)}}}`),
    ),
    shape(
      'k8s unknown fields',
      k8s((size) => `{"name":"a",${numbered(size, (i) => `"f${i}":"v"`)}}`),
    ),
    shape('a list', (size) => `[${numbered(size, () => '{}')}]`),
    shape('depth', (size) => '{"a":'.repeat(size / 6) + '1' + '}'.repeat(size / 6)),
    shape('NUL in each value', (size) => envelope({ spec: `{${numbered(size, (i) => `"k${i}":"\\u0000"`)}}` })),
    shape('__proto__ in each', (size) => envelope({ spec: `{"a":[${numbered(size, () => '{"__proto__":1}')}]}` })),
  ];
}

function objectText(entries: readonly (readonly [string, string])[]): string {
  return `{${entries.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;
}

/** The smallest value that fits the schema, different for each `n` where it can be. */
function smallest(schema: Schema, n: number): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[n % schema.enum.length];
  if (schema.anyOf?.[0]) return smallest(schema.anyOf[0], n);
  switch (schema.type) {
    case 'object': {
      const fields = (schema.required ?? []).map((key) => [key, smallest(schema.properties?.[key] ?? {}, n)]);
      return Object.fromEntries(fields.length > 0 || !schema.patternProperties ? fields : [[`k${n}`, 'v']]);
    }
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => smallest(schema.items ?? {}, n));
    case 'integer':
    case 'number':
      return Math.min((schema.minimum ?? 0) + n, schema.maximum ?? Infinity);
    case 'boolean':
      return false;
    default:
      return schema.title?.startsWith('a duration') === true ? `${n}s` : `x${n}`;
  }
}
