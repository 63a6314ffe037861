import fc from 'fast-check';
import { coreKinds } from '@causeway/kinds';
import { Invalid, isJsonObject, type ControlPlane, type JsonObject, type JsonValue } from '@causeway/resources';
import { decodeDocument } from './document/decode-document';
import { validateDraft, type ValidatedDraft } from './validate-draft';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: false };

/** One good document of every kind, with many fields, for mutations to break. */
const seeds: readonly JsonObject[] = [
  {
    type: 'Mesh',
    name: 'a',
    spec: { description: 'x', namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] } },
  },
  { type: 'Namespace', name: 'a', labels: { a: 'b' } },
  { type: 'Zone', name: 'a', spec: { enabled: true, auth: 'none', lost: { policy: 'keep', after: '5m' } } },
  {
    type: 'Dataplane',
    name: 'a',
    networking: {
      address: '10.0.0.1',
      inbound: [{ port: 80, tags: { 'kuma.io/service': 'web' }, serviceProbe: { interval: '1s', tcp: {} } }],
      outbound: [{ port: 1, backendRef: { kind: 'MeshService', name: 'b', port: 2 } }],
      listeners: [{ type: 'ZoneIngress', address: '10.0.0.1', port: 3 }],
      transparentProxying: { reachableBackends: { refs: [{ kind: 'MeshService', name: 'x' }] } },
      admin: { port: 9901 },
    },
  },
  {
    type: 'MeshService',
    name: 'a',
    namespace: 'b',
    spec: {
      selector: { dataplaneTags: { a: 'b' } },
      ports: [{ port: 1, name: 'x', targetPort: 'y' }],
      export: { mode: 'Subset', zones: ['w'] },
    },
  },
  {
    type: 'MeshMultiZoneService',
    mesh: 'm',
    name: 'a',
    spec: { selector: { meshService: { labels: { a: 'b' } } }, ports: [{ port: 1 }] },
  },
  {
    type: 'MeshExternalService',
    name: 'a',
    spec: {
      match: { port: 1 },
      endpoints: [{ address: 'a.b', port: 1 }],
      tls: {
        version: { min: 'TLS12', max: 'TLS13' },
        verification: { subjectAltNames: [{ value: 'x' }], caCert: { secret: 's' } },
      },
    },
  },
  { type: 'HostnameGenerator', name: 'a', spec: { selector: { meshService: {} }, template: '{{ name }}.mesh' } },
  { type: 'Secret', name: 'a', data: 'dGVzdA==' },
  { apiVersion: 'v1', kind: 'GlobalSecret', metadata: { name: 'a', labels: { a: 'b' } }, spec: { data: 'dGVzdA==' } },
];

/** Puts `value` at the place that `steps` pick, one step a level; a place that is no container is replaced. */
function mutate(document: JsonValue | undefined, steps: readonly number[], value: JsonValue): JsonValue {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (Array.isArray(document) && document.length > 0) {
    const at = step % document.length;
    return document.map((item: JsonValue, i) => (i === at ? mutate(item, rest, value) : item));
  }
  if (!isJsonObject(document)) return value;
  const keys = Object.keys(document);
  const key = keys[step % (keys.length + 1)] ?? `new${step}`;
  return { ...document, [key]: mutate(document[key], rest, value) };
}

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value): JsonValue => JSON.parse(JSON.stringify(value))),
  fc.constantFrom<JsonValue>(
    null,
    '',
    0,
    -1,
    65536,
    1e308,
    true,
    [],
    {},
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    '{{ name }}',
  ),
);
const mutated = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(fc.array(fc.nat(20), { maxLength: 6 }), anything), { maxLength: 3 }),
  )
  .map(([seed, changes]) =>
    changes.reduce<JsonValue>((document, [steps, value]) => mutate(document, steps, value), seed),
  );

/** The validated draft of a document, or undefined if the document is refused as a whole. Any other error fails the test. */
function validated(body: unknown): ValidatedDraft | undefined {
  try {
    return validateDraft(decodeDocument(coreKinds, body), east);
  } catch (error) {
    if (error instanceof Invalid && error.violations.length > 0) return undefined;
    throw error;
  }
}

describe('any document', () => {
  it.each<[string, fc.Arbitrary<unknown>]>([
    ['made of anything', fc.oneof(anything, fc.object({ maxDepth: 4 }))],
    ['made of a good one', mutated],
  ])('%s is stored or refused with reasons, never more', (_, documents) => {
    fc.assert(
      fc.property(documents, (body) => {
        const draft = validated(body);
        for (const { field, reason } of draft?.violations.first ?? []) {
          expect(typeof field).toBe('string');
          expect(reason).not.toBe('does not fit its schema');
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('that is good stays as it is when it is sent again', () => {
    fc.assert(
      fc.property(mutated, (body) => {
        const first = validated(body);
        if (!first || first.violations.total > 0) return;
        const { kind, mesh, namespace, name } = first.id;
        const again = {
          type: kind,
          ...(mesh === '' ? {} : { mesh }),
          ...(namespace === '' ? {} : { namespace }),
          name,
          labels: first.labels,
          spec: first.spec,
        };
        const second = validated(again);
        expect(second).toMatchObject({ id: first.id, labels: first.labels, spec: first.spec });
        expect(second?.violations.first).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of the seeds is good', () => {
    for (const seed of seeds) expect(validated(seed)?.violations.first).toEqual([]);
  });
});
