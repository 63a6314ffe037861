import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { coreKinds } from '@causeway/kinds';
import { FieldPath, type JsonObject } from '@causeway/resources';

/* The table of refused fields in docs/reference/app-mesh.md must list the fields that the kinds refuse. */

const [, section = ''] = readFileSync(join(__dirname, '../../docs/reference/app-mesh.md'), 'utf8').split(
  '## Fields that are refused\n',
);
const [table = ''] = section.split('\n## ');
const named = new Set(
  table
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => line.split('|')[1]?.match(/\w+/g) ?? []),
);

const portMapping = { port: 80, protocol: 'http' };
const action = { weightedTargets: [{ virtualNodeRef: { name: 'a' }, weight: 1 }] };
const listener = (more: JsonObject): JsonObject => ({ listeners: [{ portMapping, ...more }] });
const second = { unit: 's', value: 1 };
const routes = (body: JsonObject): JsonObject => ({
  listeners: [{ portMapping }],
  routes: [{ name: 'a', ...body }],
});
const http = (match: JsonObject): JsonObject => routes({ httpRoute: { match: { prefix: '/', ...match }, action } });

/** A field, and a document that is refused for it alone. */
const REFUSED: readonly (readonly [field: string, kind: string, spec: JsonObject])[] = [
  [
    'matchExpressions',
    'VirtualNode',
    { podSelector: { matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }] } },
  ],
  [
    'healthCheck',
    'VirtualNode',
    listener({
      healthCheck: {
        healthyThreshold: 2,
        unhealthyThreshold: 2,
        intervalMillis: 5_000,
        timeoutMillis: 2_000,
        protocol: 'http',
      },
    }),
  ],
  ['connectionPool', 'VirtualNode', listener({ connectionPool: { http: { maxConnections: 1 } } })],
  ['timeout', 'VirtualNode', listener({ timeout: { http: { perRequest: second } } })],
  ['logging', 'VirtualNode', { logging: {} }],
  ['backendGroups', 'VirtualNode', { backendGroups: [] }],
  ['meshRef', 'VirtualNode', { meshRef: { name: 'm' } }],
  ['timeout', 'VirtualRouter', routes({ tcpRoute: { action, timeout: { idle: second } } })],
  ['scheme', 'VirtualRouter', http({ scheme: 'http' })],
  ['invert', 'VirtualRouter', http({ headers: [{ name: 'a', match: { exact: 'b' }, invert: true }] })],
  ['range', 'VirtualRouter', http({ headers: [{ name: 'a', match: { range: { start: 1, end: 2 } } }] })],
];

describe('docs/reference/app-mesh.md', () => {
  it.each(REFUSED)('names %s, which is refused', (field, kind, spec) => {
    const id = { kind, mesh: 'm', zone: '', namespace: 'n', name: 'x' };
    const found = coreKinds.kind(kind)?.checkAt(id, spec, FieldPath.at('spec')).first;
    expect(found?.map((violation) => violation.field).filter((path) => path.endsWith(`.${field}`))).not.toEqual([]);
    expect(named.has(field)).toBe(true);
  });
});
