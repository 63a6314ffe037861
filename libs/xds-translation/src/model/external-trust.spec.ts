import type { JsonObject, Resource } from '@causeway/resources';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import type { Destination } from './destination';
import { TrafficModel } from '../tables/traffic-model';

const KEY = '-----BEGIN PRIVATE KEY-----\nTUlJQ2tleQ==\n-----END PRIVATE KEY-----\n';
const NAME = 'kri_extsvc_default_west__api_443';
const FOR_API = { usedBy: [{ kind: 'MeshExternalService', name: 'api' }] };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const secret = (name: string, text: string, more: JsonObject = {}, zone = ''): Resource =>
  sketch('Secret', name, { data: base64(text), ...more }, { zone });
const egress = sketch('ZoneEgress', 'out', { networking: { address: '10.0.0.9', port: 10002 } });

/** The service `api` of zone west with this TLS. */
function api(tls: unknown, status: JsonObject = {}): Resource {
  const spec: JsonObject = JSON.parse(
    JSON.stringify({ match: { port: 443 }, endpoints: [{ address: '192.0.2.1', port: 443 }], tls }),
  );
  return sketch('MeshExternalService', 'api', spec, { status });
}
const verified = (verification: unknown): Resource => api({ enabled: true, verification });

function destination(...resources: readonly Resource[]): Destination {
  const zone = new TrafficZone(resources);
  const model = new TrafficModel(zone.index, 'west', zone.access);
  for (const _ of model.load());
  const found = model.destination(NAME);
  if (!found) throw new Error('no destination');
  return found;
}

const hosts = ({ external }: Destination): readonly string[] => (external?.endpoints ?? []).map(({ host }) => host);
const authority = ({ external }: Destination): string => {
  const check = external?.tls?.verify;
  return check?.type === 'authority' ? check.authority.trim() : 'none';
};

describe('the Secret of a service outside the mesh', () => {
  it.each<[string, JsonObject]>([
    ['lists nobody', {}],
    ['has an empty list', { usedBy: [] }],
    ['lists another service', { usedBy: [{ kind: 'MeshExternalService', name: 'mail' }] }],
    ['lists another kind', { usedBy: [{ kind: 'MeshIdentity', name: 'api' }] }],
    ['lists that of another zone', { usedBy: [{ kind: 'MeshExternalService', name: 'api', zone: 'east' }] }],
    ['lists another namespace', { usedBy: [{ kind: 'MeshExternalService', namespace: 'pay', name: 'api' }] }],
    ['has a list of an unknown form', { usedBy: 'MeshExternalService/api' }],
  ])('that %s is given to nobody: there are no endpoints', (_, spec) => {
    const found = destination(secret('ca', EAST_AUTHORITY, spec), verified({ caCert: { secret: 'ca' } }));
    expect(hosts(found)).toEqual([]);
    expect(found.external?.problem?.reason).toBe(
      'no Secret "ca" of the mesh lists MeshExternalService "api" in spec.usedBy',
    );
    expect(found.external?.tls).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['its name', { kind: 'MeshExternalService', name: 'api' }],
    ['every name', { kind: 'MeshExternalService', name: '*' }],
    ['its zone', { kind: 'MeshExternalService', name: 'api', zone: 'west' }],
    ['every namespace', { kind: 'MeshExternalService', namespace: '*', name: 'api' }],
    ['the namespace in which it stands', { kind: 'MeshExternalService', namespace: 'default', name: 'api' }],
  ])('is given to a service that it lists by %s', (_, entry) => {
    const found = destination(
      secret('ca', EAST_AUTHORITY, { usedBy: [entry] }),
      verified({ caCert: { secret: 'ca' } }),
    );
    expect([hosts(found), authority(found)]).toEqual([['192.0.2.1'], EAST_AUTHORITY.trim()]);
  });

  it('is that of the zone where that of the global does not list the service', () => {
    const own = secret('ca', NEXT_EAST_AUTHORITY, FOR_API, 'west');
    const found = destination(secret('ca', EAST_AUTHORITY), own, verified({ caCert: { secret: 'ca' } }));
    expect(authority(found)).toBe(NEXT_EAST_AUTHORITY.trim());
  });

  it('gives its certificates only where certificates are expected', () => {
    const mixed = secret('ca', `hello\n${KEY}${EAST_AUTHORITY}`, FOR_API);
    const found = destination(mixed, verified({ caCert: { secret: 'ca' } }));
    expect(authority(found)).toBe(EAST_AUTHORITY.trim());
    expect(JSON.stringify(found)).not.toContain('PRIVATE KEY');
    expect(JSON.stringify(found)).not.toContain('hello');
  });

  it.each([
    ['a private key', KEY],
    ['no PEM', 'password'],
    ['a certificate that is none', '-----BEGIN CERTIFICATE-----\npass word!\n-----END CERTIFICATE-----\n'],
  ])('that holds %s is no authority: there are no endpoints', (_, text) => {
    const found = destination(secret('ca', text, FOR_API), verified({ caCert: { secret: 'ca' } }));
    expect(hosts(found)).toEqual([]);
    expect(found.external?.problem?.reason).toMatch(/must hold a certificate/);
    expect(JSON.stringify(found)).not.toMatch(/PRIVATE|pass/);
  });
});

describe('the key of a client certificate', () => {
  const pair = { clientCert: { secret: 'cert' }, clientKey: { secret: 'key' } };
  const held = [secret('cert', EAST_AUTHORITY, FOR_API), secret('key', `${EAST_AUTHORITY}${KEY}`, FOR_API)];

  it('goes to an egress alone: without one there are no endpoints', () => {
    const found = destination(...held, verified(pair));
    expect(hosts(found)).toEqual([]);
    expect(JSON.stringify(found)).not.toContain('PRIVATE KEY');
    expect(found.external?.problem).toEqual({
      field: 'spec.tls.verification.clientKey',
      reason: 'needs a ZoneEgress in this zone: a private key is given to egresses only',
    });
  });

  it('is not given to a client where it is written out either', () => {
    const inline = { clientCert: { inlineString: EAST_AUTHORITY }, clientKey: { inlineString: KEY } };
    expect(JSON.stringify(destination(verified(inline)))).not.toContain('PRIVATE KEY');
  });

  it('is given to an egress, without what else stands in its Secret', () => {
    const { external, egress: way } = destination(...held, egress, verified(pair));
    expect(way).toBeDefined();
    expect(external?.tls?.client).toEqual({ certificate: EAST_AUTHORITY, key: KEY });
  });

  it('goes on to clients for a service that had it before the upgrade, and for this key only', () => {
    const before = { keptClientKey: 'Secret key' };
    const tls = { enabled: true, verification: pair };
    expect(hosts(destination(...held, api(tls, before)))).toEqual(['192.0.2.1']);
    const other = { ...pair, clientKey: { secret: 'other' } };
    const more = secret('other', KEY, FOR_API);
    expect(hosts(destination(...held, more, api({ enabled: true, verification: other }, before)))).toEqual([]);
  });
});

describe('trust that cannot be read', () => {
  const typed = (value: JsonObject): JsonObject => ({ caCert: value });
  const both = secret('ca', EAST_AUTHORITY, FOR_API);

  it.each<[string, JsonObject]>([
    ['secret', { secret: 'ca' }],
    ['inlineString', { inlineString: EAST_AUTHORITY }],
    ['inline', { inline: base64(EAST_AUTHORITY) }],
    ['Secret of Kuma 3', { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } }],
    ['InsecureInline of Kuma 3', { type: 'InsecureInline', insecureInline: { value: EAST_AUTHORITY } }],
  ])('is read where it has the form %s', (_, source) => {
    const found = destination(both, verified(typed(source)));
    expect([hosts(found), authority(found)]).toEqual([['192.0.2.1'], EAST_AUTHORITY.trim()]);
  });

  it.each<[string, unknown]>([
    ['an empty source', { enabled: true, verification: { caCert: {} } }],
    ['a source that is a text', { enabled: true, verification: { caCert: 'ca' } }],
    [
      'a source of two forms',
      { enabled: true, verification: { caCert: { secret: 'ca', inlineString: EAST_AUTHORITY } } },
    ],
    ['a source with an unknown field', { enabled: true, verification: { caCert: { secret: 'ca', key: 'ca.crt' } } }],
    ['a file', { enabled: true, verification: { caCert: { type: 'File', file: { path: '/ca.pem' } } } }],
    ['a variable', { enabled: true, verification: { caCert: { type: 'EnvVar', envVar: { name: 'CA' } } } }],
    ['a type without its field', { enabled: true, verification: { caCert: { type: 'Secret' } } }],
    ['an unknown mode', { enabled: true, verification: { mode: 'Pinned' } }],
    ['a mode that is no text', { enabled: true, verification: { mode: 3 } }],
    ['an unknown type of name', { enabled: true, verification: { subjectAltNames: [{ type: 'Regex', value: '.*' }] } }],
    ['names that are no list', { enabled: true, verification: { subjectAltNames: { value: 'a' } } }],
    ['a name without a value', { enabled: true, verification: { subjectAltNames: [{}] } }],
    ['an unknown version', { enabled: true, version: { min: 'TLS14' } }],
    ['a version that is a text', { enabled: true, version: 'TLS12' }],
    [
      'a certificate without its key',
      { enabled: true, verification: { clientCert: { inlineString: EAST_AUTHORITY } } },
    ],
    [
      'an unknown source of a client certificate',
      { enabled: true, verification: { clientCert: { type: 'File' }, clientKey: { type: 'File' } } },
    ],
    ['an unknown field of the verification', { enabled: true, verification: { crl: { secret: 'crl' } } }],
    ['an unknown field of the TLS', { enabled: true, ciphers: ['x'] }],
    ['a verification that is a text', { enabled: true, verification: 'strict' }],
    ['enabled as a text', { enabled: 'true' }],
    ['TLS that is a text', 'on'],
    ['TLS of another form', { mode: 'Strict' }],
  ])('closes: %s gives no endpoints', (_, tls) => {
    const found = destination(both, api(tls));
    expect(hosts(found)).toEqual([]);
    expect(found.external?.problem?.field).toMatch(/^spec\.tls/);
  });

  it.each<[string, unknown]>([
    ['no TLS', undefined],
    ['null', null],
    ['TLS that is off', { enabled: false }],
    ['nulls of a peer', { enabled: true, verification: { mode: 'SkipAll', caCert: null, subjectAltNames: null } }],
  ])('and opens for what is known: %s', (_, tls) => {
    expect(hosts(destination(api(tls)))).toEqual(['192.0.2.1']);
  });
});
