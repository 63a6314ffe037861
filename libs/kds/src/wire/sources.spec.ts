import type { JsonObject, Resource } from '@causeway/resources';
import { coreKinds } from '@causeway/kinds';
import { sketch } from '../../../../test/support/traffic-zone';
import { computeDialect, Extension, KUMA_DIALECT, sourcesView, type Dialect } from './dialect';
import { CAUSEWAY_DIALECT, KUMA_3_DIALECT } from '../../testing/dialects';
import { findGlobalSourceForm, findZoneSourceForm } from './kuma-version';
import { ResourceEncoder } from './resource-encoder';
import { encodeResponse } from './response';
import { decodeResponse } from '../../testing/decode-response';
import { unsupportedByKuma } from './unsupported';

const OLDER_DIALECT = computeDialect(Object.values(Extension).filter((each) => each !== Extension.sources));
const PEM = '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n';
const service = (verification: JsonObject, enabled = true): Resource =>
  sketch(
    'MeshExternalService',
    'api',
    { match: { port: 443, type: 'HostnameGenerator', protocol: 'tcp' }, tls: { enabled, verification } },
    { zone: '' },
  );

/** The spec as a peer of the dialect gets it, or why it does not. */
function sent(resource: Resource, dialect: Dialect): JsonObject | string {
  const encoding = new ResourceEncoder({ role: 'global' }).encode(resource, dialect);
  if (!encoding.ok) return encoding.reason;
  const head = { kind: resource.id.kind, nonce: '1', controlPlane: 'global', removed: [] };
  const [received] = decodeResponse(encodeResponse({ ...head, resources: [encoding.resource] }), dialect).resources;
  if (received?.ok !== true) throw new Error('not read');
  return received.resource.spec;
}

const untyped = { caCert: { secret: 'ca' }, clientCert: { inlineString: PEM }, clientKey: { secret: 'key' } };
const typed = {
  caCert: { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } },
  clientCert: { type: 'InsecureInline', insecureInline: { value: PEM } },
  clientKey: { type: 'Secret', secretRef: { kind: 'Secret', name: 'key' } },
};

describe('the sources of certificates', () => {
  it.each<[string, Dialect, JsonObject]>([
    ['Kuma 2.14.3', KUMA_DIALECT, untyped],
    ['Causeway of the version before', OLDER_DIALECT, untyped],
    ['Kuma 3', KUMA_3_DIALECT, typed],
  ])('are sent to %s in its own form, whatever the stored one is', (_, dialect, wanted) => {
    for (const stored of [untyped, typed])
      expect(sent(service(stored), dialect)).toMatchObject({ tls: { enabled: true, verification: wanted } });
    const inline = { caCert: { inline: Buffer.from(PEM).toString('base64') } };
    const spelled = dialect === KUMA_3_DIALECT ? { caCert: typed.clientCert } : inline;
    expect(sent(service(inline), dialect)).toMatchObject({ tls: { verification: spelled } });
  });

  it('are sent to Causeway as they are stored, also those of a later version', () => {
    for (const stored of [untyped, typed, { caCert: { type: 'Vault', vault: { path: 'a' } } }])
      expect(sent(service(stored), CAUSEWAY_DIALECT)).toEqual(service(stored).spec);
  });

  it.each<[string, JsonObject]>([
    ['source', { caCert: { type: 'Vault', vault: { path: 'a' } } }],
    ['file', { caCert: { type: 'File', file: { path: '/ca' } } }],
    ['name', { subjectAltNames: [{ type: 'Regex', value: '.*' }] }],
    ['field', { crl: { secret: 'crl' } }],
  ])(
    'of an unknown %s are not sent to a peer that would read them as absent, and the global says so',
    (_, verification) => {
      for (const dialect of [KUMA_DIALECT, KUMA_3_DIALECT, OLDER_DIALECT])
        expect(sent(service(verification), dialect)).toMatch(/^spec\.tls\.verification\./);
      const kind = coreKinds.kind('MeshExternalService');
      if (!kind) throw new Error('no kind');
      expect(unsupportedByKuma()(service(verification), kind)).toMatch(/^spec\.tls\.verification\./);
      expect(unsupportedByKuma()(service(typed), kind)).toBeUndefined();
      expect(sent(service(verification, false), KUMA_DIALECT)).toMatchObject({ tls: { enabled: false } });
    },
  );
});

it('the users of a Secret are sent to Causeway peers that know them, and never to Kuma', () => {
  const plain = { data: 'Y2E=' };
  const secret = sketch(
    'Secret',
    'ca',
    { ...plain, usedBy: [{ kind: 'MeshExternalService', name: 'api' }] },
    { zone: '' },
  );
  for (const dialect of [KUMA_DIALECT, KUMA_3_DIALECT, OLDER_DIALECT]) expect(sent(secret, dialect)).toEqual(plain);
  expect(sent(secret, CAUSEWAY_DIALECT)).toEqual(secret.spec);
});

it('a peer that had another form before begins with the whole state of these kinds', () => {
  for (const kind of ['Secret', 'MeshExternalService'])
    expect(sourcesView(kind, OLDER_DIALECT)).not.toBe(sourcesView(kind, CAUSEWAY_DIALECT));
  expect(sourcesView('MeshService', OLDER_DIALECT)).toBe(sourcesView('MeshService', CAUSEWAY_DIALECT));
});

it.each([
  ['2.14.3', undefined, 'untyped'],
  ['2.14.5', undefined, 'untyped'],
  ['2.14.6', undefined, 'typed'],
  ['v2.15.0-rc1', undefined, 'typed'],
  ['2.9.10', undefined, 'untyped'],
  ['3.0.0', undefined, 'typed'],
  ['unknown', undefined, 'untyped'],
  ['unknown', 'v3', 'typed'],
  ['2.14.3', 'v3', 'typed'],
])('a zone of Kuma "%s" with the header zone-version %s reads the form %s', (version, zoneVersion, wanted) => {
  expect(findZoneSourceForm({ version, ...(zoneVersion !== undefined && { zoneVersion }) })).toBe(wanted);
});

it.each([
  ['2.14.3', ['zone-token', 'optional-top-level-target-ref'], 'untyped'],
  ['2.14.6', ['zone-token', 'optional-top-level-target-ref'], 'typed'],
  ['unknown', ['zone-token', 'hash-suffix'], 'typed'],
])('a global of Kuma "%s" with the features %j reads the form %s', (version, features, wanted) => {
  expect(findGlobalSourceForm({ version, features })).toBe(wanted);
});
