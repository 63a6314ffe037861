import { FieldPath, isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { coreKinds } from '../core-kinds';
import { MeshExternalService } from '../mesh-external-service';
import { readExternalTrust, unreadableTrust } from './external-tls';

/** Names of fields that configure trust. */
const TRUST = /^(tls|mtls|verification|validation|caCert|clientCert|clientKey|subjectAltNames)$/;

/**
 * Fields of kinds that name trusted peers, and the result of an unknown form there. A kind whose schema has another such field must be added here,
 * with the test that proves that it lets nobody in.
 */
const HELD: Readonly<Record<string, string>> = {
  'MeshExternalService.tls': 'no endpoints: below',
  'Mesh.mtls': 'no authority: libs/controllers/src/trust/mesh-authority-loop.spec.ts',
  'MeshParameters.mtls': 'nobody may call: libs/meshes/src/meshes.spec.ts',
  'MeshParameters.mtlsOverrides[].mtls': 'nobody may call: libs/meshes/src/meshes.spec.ts',
  'Gateway.listeners[].tls': 'nothing: no Gateway is run',
  'VirtualNode.listeners[].tls': 'nothing: refused, and not read (libs/kinds/src/app-mesh/app-mesh-kinds.spec.ts)',
  'VirtualNode.backends[].virtualService.clientPolicy.tls': 'the same',
  'VirtualNode.backendDefaults.clientPolicy.tls': 'the same',
};

const objectIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The outermost places of trust in a schema. */
function* places(schema: unknown, path: readonly string[]): Generator<string> {
  const { properties, items, anyOf } = objectIn(schema);
  for (const [field, value] of Object.entries(objectIn(properties)))
    if (TRUST.test(field)) yield [...path, field].join('.');
    else yield* places(value, [...path, field]);
  if (items !== undefined) yield* places(items, [...path.slice(0, -1), `${path.at(-1) ?? ''}[]`]);
  if (isJsonArray(anyOf)) for (const part of anyOf) yield* places(part, path);
}

it('every place of every kind that says whom to believe is known', () => {
  const found = coreKinds.kinds.flatMap(({ name, spec }) => [...places(JSON.parse(JSON.stringify(spec)), [name])]);
  expect([...new Set(found)].sort()).toEqual(Object.keys(HELD).sort());
});

const AT = FieldPath.at('spec');
const PEM = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n';
const KEY = '-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n';
/** A document with every field of the schema but one form of source each. */
const whole: JsonObject = {
  enabled: true,
  version: { min: 'TLS12', max: 'TLS13' },
  allowRenegotiation: false,
  verification: {
    mode: 'Secured',
    serverName: 'api.example',
    subjectAltNames: [{ type: 'Exact', value: 'api.example' }],
    caCert: { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } },
    clientCert: { inlineString: PEM },
    clientKey: { type: 'InsecureInline', insecureInline: { value: KEY } },
  },
};
const lookup = (name: string) =>
  name === 'ca' ? ({ ok: true, data: PEM } as const) : ({ ok: false, reason: `no ${name}` } as const);

/** Forms that a later version, or another program, may write in place of a value. */
const UNKNOWN: readonly JsonValue[] = ['FromTheFuture', 7, true, [], ['x'], {}, { fromTheFuture: true }];

/** The document with each value replaced by each unknown form, and each object with one field more. */
function* variants(
  value: JsonValue,
  put: (value: JsonValue) => JsonObject,
  path: string,
): Generator<[string, JsonObject]> {
  for (const unknown of UNKNOWN) yield [`${path} = ${JSON.stringify(unknown)}`, put(unknown)];
  if (isJsonArray(value))
    for (const [i, item] of value.entries())
      yield* variants(item, (next) => put(value.map((each, at) => (at === i ? next : each))), `${path}[${i}]`);
  if (!isJsonObject(value)) return;
  yield [`${path} with one field more`, put({ ...value, fromTheFuture: {} })];
  for (const [field, item] of Object.entries(value))
    yield* variants(item ?? '', (next) => put({ ...value, [field]: next }), path === '' ? field : `${path}.${field}`);
}

describe('TLS of a MeshExternalService in forms that this version does not know', () => {
  const known = readExternalTrust({ tls: whole }, lookup);

  it('is read whole where it is known', () => {
    expect(known).toMatchObject({
      type: 'tls',
      tls: { verify: { type: 'authority', authority: PEM, names: [{ match: 'exact' }] } },
    });
  });

  const all = [...variants(whole, (value) => ({ tls: value }), '')];

  it('is walked: every field of the schema has its variants', () => {
    expect(all.length).toBeGreaterThan(150);
    const fields = Object.keys(objectIn(JSON.parse(JSON.stringify(MeshExternalService.spec)))['properties'] ?? {});
    expect(fields).toContain('tls');
  });

  it('is closed in each of them, or says just what is asked: never less', () => {
    const open = all.flatMap(([name, spec]): readonly string[] => {
      const trust = readExternalTrust(spec, lookup);
      if (trust.type === 'problem') return [];
      const violations = unreadableTrust(spec);
      // A value that passes the rules of the kind is no unknown form: a text if any text is allowed, a list without names.
      const isKnown = MeshExternalService.check({ match: { port: 1 }, ...spec }, AT).total === 0 && !violations;
      const check = trust.type === 'tls' ? trust.tls.verify : undefined;
      return isKnown && check?.type === 'authority' && check.authority === PEM ? [] : [name];
    });
    // Empty documents are known: no TLS, and the authorities of the machine.
    expect(open).toEqual([' = {}', 'verification = {}']);
  });
});
