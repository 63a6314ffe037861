import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shippedPolicies } from '@causeway/policies';
import {
  compileSchema,
  FieldPath,
  HTTP_ROLE,
  httpProblem,
  httpViolations,
  type HttpRole,
  type Schema,
} from '@causeway/resources';
import { coreKinds } from './core-kinds';

/** A text in the specs of a kind: its place, as `HTTPRoute.rules[].name`, and its schema. */
interface TextPlace {
  readonly place: string;
  readonly steps: readonly string[];
  readonly schema: Schema;
  readonly isKey: boolean;
}

function* textsOf(schema: Schema, steps: readonly string[]): Generator<TextPlace> {
  const found = (of: Schema, isKey: boolean): TextPlace => ({ place: placeOf(steps), steps, schema: of, isKey });
  const isClosed = schema.enum !== undefined || schema.const !== undefined;
  if (schema.type === 'string' && !isClosed) yield found(schema, false);
  if (schema.propertyNames) yield found(schema.propertyNames, true);
  for (const branch of schema.anyOf ?? []) yield* textsOf(branch, steps);
  if (schema.items) yield* textsOf(schema.items, [...steps, '[]']);
  for (const [key, inner] of Object.entries(schema.properties ?? {})) yield* textsOf(inner, [...steps, key]);
  for (const inner of Object.values(schema.patternProperties ?? {})) yield* textsOf(inner, [...steps, '*']);
}

function placeOf(steps: readonly string[]): string {
  return steps.reduce((text, step) => (step === '[]' || text === '' ? text + step : `${text}.${step}`), '');
}

const kinds = [
  ...coreKinds.kinds.map(({ name, spec }) => ({ name, spec })),
  ...shippedPolicies.map(({ kind, schema }) => ({ name: kind, spec: schema })),
];
const texts = kinds.flatMap(({ name, spec }) =>
  [...textsOf(spec, [])].map((text) => ({ ...text, root: spec, place: [name, text.place].filter(Boolean).join('.') })),
);

/** Paths of files and of identities. */
const OF_NO_REQUEST: readonly string[] = [
  'VirtualNode.logging.accessLog.file.path',
  'MeshIdentity.spiffeID.path',
  'MeshIdentity.provider.bundled.ca.certificate.file.path',
  'MeshIdentity.provider.bundled.ca.privateKey.file.path',
];

/** Fields whose schema has the check of the rule: shipped policies are declared by their JSON, which has no roles. */
const bySchema: ReadonlyMap<string, HttpRole> = new Map([
  ...['request', 'response'].flatMap((side) => [
    [`HeaderPolicy.${side}.set`, 'changed header'] as const,
    [`HeaderPolicy.${side}.add`, 'changed header'] as const,
    [`HeaderPolicy.${side}.remove`, 'changed header'] as const,
    [`HeaderPolicy.${side}.set.*`, 'header value'] as const,
    [`HeaderPolicy.${side}.add.*`, 'header value'] as const,
  ]),
  ...['filters[]', 'backendRefs[].filters[]'].flatMap((list) => [
    [`HTTPRoute.rules[].${list}.requestRedirect.hostname`, 'header value'] as const,
    [`HTTPRoute.rules[].${list}.urlRewrite.hostname`, 'header value'] as const,
  ]),
  ...['header', 'cookie', 'queryParameter'].map((by) => [`LoadBalancingPolicy.hash[].${by}`, 'matched name'] as const),
  ...['allow', 'deny'].flatMap((list) => [
    [`AccessPolicy.${list}.*.to[].methods[]`, 'matched name'] as const,
    [`AccessPolicy.${list}.*.to[].paths[].value`, 'matched path'] as const,
  ]),
]);

const BAD: Readonly<Record<HttpRole, readonly string[]>> = {
  'changed header': ['Content-Length', 'transfer-encoding', 'x-envoy-a', ':path'],
  'header value': ['a\r\nb: c', 'a\0'],
  'new path': ['/a\r\nb', '/%c0%af', '/a b'],
  'matched name': ['a\nb', ':path'],
  'matched text': ['a\r\nb'],
  'matched path': ['/a\nb', '/%e0%80%af'],
};

/** Whether a schema by itself takes a text of two lines. */
function takesLines({ [HTTP_ROLE]: _, ...schema }: Schema, isKey: boolean): boolean {
  const { fits } = compileSchema({ ...schema, ...(isKey && { type: 'string' }) });
  return ['a\nb', 'a\r\nb', '/a\nb', 'abc.example\n', 'spiffe://a/b\n'].some(fits);
}

const FILE = join(__dirname, '..', 'testdata', 'texts-of-several-lines.golden.txt');

describe('every text of every kind', () => {
  it('is part of requests and has a role there, is one line by its schema, or is known to be neither', () => {
    const open = texts.filter(({ schema, isKey }) => schema[HTTP_ROLE] === undefined && takesLines(schema, isKey));
    const list = `${open.map(({ place, isKey }) => (isKey ? `${place} (keys)` : place)).join('\n')}\n`;
    if (process.env['UPDATE_GOLDEN'] || !existsSync(FILE)) writeFileSync(FILE, list);
    // A new text of requests gets a role (libs/resources/src/schema/http-rule.ts), others a pattern; the rest is added here.
    expect(list).toBe(readFileSync(FILE, 'utf8'));
  });

  it('that is called as something of requests has a role, or is asked by its schema', () => {
    const named = texts.filter(({ steps }) =>
      /header|path|metadata|query|cookie|url|method/i.test(steps.slice(-3).join('.')),
    );
    const without = named.filter(({ schema, place }) => schema[HTTP_ROLE] === undefined && !bySchema.has(place));
    expect(without.map(({ place }) => place)).toEqual(OF_NO_REQUEST);
  });

  it.each([...bySchema])('%s refuses by its schema what the rule refuses as a %s', (place, role) => {
    const found = texts.filter((text) => text.place === place && text.isKey === (role === 'changed header'));
    expect(found).not.toEqual([]);
    for (const { schema, isKey } of found) {
      const { fits } = compileSchema({ ...schema, ...(isKey && { type: 'string' }) });
      expect(BAD[role].filter(fits)).toEqual([]);
    }
  });

  const withRole = texts.filter(({ schema }) => schema[HTTP_ROLE] !== undefined);

  it.each(withRole.map(({ place, ...text }) => [place, text] as const))('%s goes through the rule', (_, text) => {
    const role = text.schema[HTTP_ROLE];
    if (role === undefined) throw new Error('has none');
    const bad = BAD[role];
    expect(bad.filter((one) => httpProblem(role, one) === undefined)).toEqual([]);
    for (const one of bad) {
      const found = httpViolations(text.root, valueAt(text.steps, one), FieldPath.at('spec'));
      expect(found.map(({ rule }) => rule)).toContain('not-allowed');
    }
  });
});

function valueAt([step, ...rest]: readonly string[], text: string): unknown {
  if (step === undefined) return text;
  return step === '[]' ? [valueAt(rest, text)] : { [step === '*' ? 'a' : step]: valueAt(rest, text) };
}
