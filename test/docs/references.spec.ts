import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindsOf } from '@causeway/meshes';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type Writer } from '@causeway/resources';
import { shippedKinds, TrafficZone } from '../support/traffic-zone';

/*
 * docs/reference/references.md lists every reference that a resource can carry. The registry is walked, with the kinds that definitions
 * declare: what has the shape of a reference must be in the table, and each row of the table must be in a schema.
 */

const PAGE = join(__dirname, '../../docs/reference/references.md');
const ROLES: Readonly<Record<Writer, string>> = { owner: 'service-owner', operator: 'mesh-operator', admin: 'admin' };
/** Fields that name another thing by a text alone. */
const NAMING = new Set([
  ...['secret', 'secretName', 'role', 'issuer', 'gatewayClassName', 'controllerName', 'enabledBackend'],
  ...['namespace', 'namespaces', 'namespaceName', 'mesh', 'zone', 'zones', 'serviceName'],
  ...['reachableServices', 'directAccessServices', 'jwksUri', 'caFile'],
]);
/** Objects that name something of the machine that reads them. */
const OF_MACHINE = new Set(['file', 'envVar', 'sds']);
const QUALIFIERS = ['kind', 'group', 'namespace', 'mesh', 'awsName'];

const objectIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const listIn = (value: unknown): readonly JsonValue[] => (isJsonArray(value) ? value : []);

/** The paths of all references in a schema. */
function* references(schema: unknown, path: readonly string[] = []): Generator<string> {
  const { properties, items, anyOf, allOf, patternProperties, additionalProperties } = objectIn(schema);
  const fields = objectIn(properties);
  const name = path.at(-1)?.replace('[]', '') ?? '';
  const isQualified = 'name' in fields && QUALIFIERS.some((field) => field in fields);
  if (isQualified || /Refs?$/.test(name) || OF_MACHINE.has(name)) {
    if (items === undefined) yield path.join('.');
    else yield* references(items, [...path.slice(0, -1), `${name}[]`]);
    return;
  }
  if (NAMING.has(name) && Object.keys(fields).length === 0) {
    yield path.join('.');
    return;
  }
  for (const [field, value] of Object.entries(fields)) yield* references(value, [...path, field]);
  if (items !== undefined) yield* references(items, [...path.slice(0, -1), `${name}[]`]);
  for (const part of [...listIn(anyOf), ...listIn(allOf)]) yield* references(part, path);
  for (const value of [...Object.values(objectIn(patternProperties)), additionalProperties])
    if (isJsonObject(value)) yield* references(value, [...path, '*']);
}

interface Row {
  readonly kinds: readonly string[];
  readonly fields: readonly string[];
  readonly writer: string;
  readonly gives: string;
  readonly check: string;
}

function rows(): readonly Row[] {
  const codes = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [kinds = '', fields = '', writer = '', gives = '', check = ''] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return { kinds: codes(kinds), fields: codes(fields), writer, gives, check };
    });
}

/** `…` stands for any part of a path. */
function fits(pattern: string, path: string): boolean {
  const parts = pattern.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(path);
}

describe('docs/reference/references.md', () => {
  const registry = kindsOf(new TrafficZone(shippedKinds()).index);
  const found = registry.kinds.flatMap((kind) =>
    [...new Set(references(JSON.parse(JSON.stringify(kind.spec))))].map((path) => ({ kind, path })),
  );

  it('walks declared kinds and those of the product', () => {
    expect(registry.kind('AccessPolicy')).toBeDefined();
    expect(found.map(({ kind, path }) => `${kind.name}.${path}`)).toEqual(
      expect.arrayContaining(['MeshExternalService.tls.verification.caCert.secret', 'AccessPolicy.targetRefs[]']),
    );
  });

  it('has each reference of each kind once, with who writes it', () => {
    const wrong = found.flatMap(({ kind, path }) => {
      const fitting = rows().filter(
        ({ kinds, fields }) => kinds.includes(kind.name) && fields.some((field) => fits(field, path)),
      );
      const writer = ROLES[kind.writer];
      if (fitting.length === 1 && fitting[0]?.writer === writer) return [];
      return [`${kind.name} ${path}: ${fitting.length} rows, written by ${writer}`];
    });
    expect(wrong).toEqual([]);
  });

  it('has no row of nothing, and none that does not say what it gives and what checks it', () => {
    const idle = rows().flatMap(({ kinds, fields, gives, check }) => [
      ...kinds.flatMap((name) =>
        fields
          .filter((field) => !found.some(({ kind, path }) => kind.name === name && fits(field, path)))
          .map((field) => `${name} ${field}`),
      ),
      ...(gives === '' || check === '' ? [`${kinds.join()} ${fields.join()}: empty`] : []),
    ]);
    expect(idle).toEqual([]);
  });
});
