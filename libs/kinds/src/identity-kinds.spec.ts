import { FieldPath } from '@causeway/resources';
import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from '../../../test/support/certificates';
import { coreKinds } from './core-kinds';

/** The violations of a spec, as `field: reason`. */
function violations(kind: string, spec: unknown): readonly string[] {
  const found = coreKinds.kind(kind)?.check(spec, FieldPath.at('spec')).first ?? [];
  return found.map(({ field, reason }) => `${field}: ${reason}`);
}

const bundled = { type: 'Bundled' };
const labels = { dataplane: { matchLabels: {} } };
const identity = (spiffeID: object, rest: object = {}) => ({
  selector: labels,
  spiffeID,
  provider: bundled,
  ...rest,
});
const source = { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } };
const provider = (rest: object) => ({ selector: labels, provider: { ...bundled, bundled: rest } });

describe('a MeshIdentity', () => {
  it.each<[string, object]>([
    ['with defaults', identity({})],
    [
      "with Kuma's own templates",
      identity({ trustDomain: '{{ .Mesh }}.{{.Zone}}.mesh.local', path: '/{{ .Workload }}' }),
    ],
    ['of one trust domain for all zones', identity({ trustDomain: 'prod.example_1.com' })],
    ['by namespace', identity({ path: '/ns/{{ .Namespace }}/{{ .Workload }}' })],
    ['of a label beside the workload', identity({ path: '/{{ label "team" }}/{{ .Workload }}' })],
    [
      'of one workload',
      identity({ path: '/db' }, { selector: { dataplane: { matchLabels: { 'kuma.io/workload': 'db' } } } }),
    ],
    ['with an authority from Secrets', provider({ ca: { certificate: source, privateKey: source } })],
    ['that Kuma wrote', provider({ autogenerate: { enabled: true }, certificateParameters: { expiry: '24h0m0s' } })],
    ['of SPIRE', { provider: { type: 'Spire', spire: { agent: { timeout: '1s' } } } }],
  ])('%s is accepted', (_, spec) => {
    expect(violations('MeshIdentity', spec)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no provider', { selector: labels }, 'spec.provider: is required'],
    [
      'a path without the workload',
      identity({ path: '/everybody' }),
      'spec.spiffeID.path: must have {{ .Workload }}, or two workloads get one id; or select one by the label kuma.io/workload; got "/everybody"',
    ],
    [
      'placeholders that run together',
      identity({ path: '/{{ .Namespace }}-{{ .Workload }}' }),
      'spec.spiffeID.path: two placeholders need a "/" between them: "a-b" and "c" would give the same as "a" and "b-c"',
    ],
    [
      'an unknown variable',
      identity({ path: '/{{ .Workloud }}' }),
      'spec.spiffeID.path: {{ .Workloud }}: did you mean {{ .Workload }}? Only {{ .Workload }}, {{ label "x" }}, {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }} are known',
    ],
    [
      'a label in the trust domain',
      identity({ trustDomain: '{{ label "team" }}' }),
      'spec.spiffeID.trustDomain: {{ label "team" }}: only {{ .Mesh }}, {{ .Zone }} are known',
    ],
    [
      'braces without a partner',
      identity({ path: '/{{ .Workload }' }),
      'spec.spiffeID.path: braces without a partner in "/{{ .Workload }"; a placeholder is one of {{ .Workload }}, {{ label "x" }}, {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}',
    ],
    [
      'upper case in the trust domain',
      identity({ trustDomain: 'Prod.{{ .Zone }}' }),
      'spec.spiffeID.trustDomain: only a-z, 0-9, ".", "-" and "_" are allowed, at least one; got "Prod.{{ .Zone }}"',
    ],
    [
      'a path in the trust domain',
      identity({ trustDomain: '{{ .Zone }}/x' }),
      'spec.spiffeID.trustDomain: only a-z, 0-9, ".", "-" and "_" are allowed, at least one; got "{{ .Zone }}/x"',
    ],
    [
      'a path without a slash',
      identity({ path: '{{ .Workload }}' }),
      'spec.spiffeID.path: it must start with "/"; got "{{ .Workload }}"',
    ],
    [
      'a path that climbs',
      identity({ path: '/../{{ .Workload }}' }),
      'spec.spiffeID.path: "." and ".." are no segments; got "/../{{ .Workload }}"',
    ],
    [
      'a path that ends with a slash',
      identity({ path: '/{{ .Workload }}/' }),
      'spec.spiffeID.path: it has an empty segment; got "/{{ .Workload }}/"',
    ],
    [
      'an unknown provider',
      { provider: { type: 'Vault' } },
      'spec.provider.type: must be one of Bundled, Spire; got "Vault"',
    ],
    [
      'settings of the other provider',
      { provider: { type: 'Spire', bundled: {} } },
      'spec.provider.bundled: must be left out with type Spire',
    ],
    [
      'an authority beside a generated one',
      provider({ autogenerate: { enabled: true }, ca: { certificate: source, privateKey: source } }),
      'spec.provider.bundled.ca: must be left out with autogenerate.enabled',
    ],
    [
      'no authority at all',
      provider({ autogenerate: { enabled: false } }),
      'spec.provider.bundled.ca: is required without autogenerate',
    ],
    [
      'an authority without its key',
      provider({ ca: { certificate: source } }),
      'spec.provider.bundled.ca.privateKey: is required',
    ],
    [
      'a key in the document',
      provider({
        ca: { certificate: source, privateKey: { type: 'InsecureInline', insecureInline: { value: 'secret' } } },
      }),
      'spec.provider.bundled.ca.privateKey.insecureInline: must not hold a key: a MeshIdentity goes to every zone; name a Secret',
    ],
    [
      'a source of another type',
      provider({ ca: { certificate: { type: 'File', envVar: { name: 'CA' } }, privateKey: source } }),
      'spec.provider.bundled.ca.certificate.file: is required with type File',
    ],
    [
      'a lifetime that is none',
      provider({ certificateParameters: { expiry: '24 hours' } }),
      'spec.provider.bundled.certificateParameters.expiry: must be a duration such as 24h, 1h30m, 10s; got "24 hours"',
    ],
  ])('%s is refused', (_, spec, want) => {
    expect(violations('MeshIdentity', spec)[0]).toBe(want);
  });

  it('warns of what selects nothing, of one trust domain for all zones, and of ids that owners choose', () => {
    const warnings = (spec: unknown) => coreKinds.kind('MeshIdentity')?.warnings('x', spec);
    expect(warnings(identity({}))).toEqual([]);
    expect(
      warnings({ spiffeID: { trustDomain: 'all', path: '/{{ label "t" }}/{{ .Workload }}' }, provider: bundled }),
    ).toEqual([
      'spec.selector.dataplane: there is none, so no Dataplane is selected',
      'spec.spiffeID.trustDomain: is without {{ .Zone }}, so the workloads of two zones share one trust domain',
      'spec.spiffeID.path: reads label "t", which service owners can set; ids can be taken by relabelling',
    ]);
  });
});

describe('a MeshTrust', () => {
  const trust = (...pems: readonly string[]) => ({
    trustDomain: 'default.east.mesh.local',
    caBundles: pems.map((value) => ({ type: 'Pem', pem: { value } })),
  });
  const BEGIN = '-----BEGIN CERTIFICATE-----\n';
  const END = '-----END CERTIFICATE-----\n';
  const key = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n';

  it.each<[string, object]>([
    ['one authority', trust(EAST_AUTHORITY)],
    ['two in one bundle, with text between them', trust(`# old\n${EAST_AUTHORITY}\n# new\n${NEXT_EAST_AUTHORITY}`)],
    ['two bundles', trust(EAST_AUTHORITY, NEXT_EAST_AUTHORITY)],
    ['its origin', { ...trust(EAST_AUTHORITY), origin: { kri: 'kri_mid_default_east__identity_' } }],
  ])('with %s is accepted', (_, spec) => {
    expect(violations('MeshTrust', spec)).toEqual([]);
  });

  it.each<[string, object, readonly string[]]>([
    ['no bundle', trust(), ['spec.caBundles: must have at least 1 item']],
    [
      'a bundle without text',
      { ...trust(), caBundles: [{ type: 'Pem' }] },
      ['spec.caBundles[0].pem: is required with type Pem'],
    ],
    ['text without a certificate', trust('x'), ['spec.caBundles[0].pem.value: must have a PEM certificate; got none']],
    [
      'a certificate that is cut off',
      trust(EAST_AUTHORITY, `${EAST_AUTHORITY}${BEGIN}MIIB`),
      ['spec.caBundles[1].pem.value: certificate 1 has no end'],
    ],
    ['garbage', trust(`${BEGIN}AAAA\n${END}`), ['spec.caBundles[0].pem.value: certificate 0 cannot be parsed']],
    [
      'a certificate that may sign no other',
      trust(`${EAST_AUTHORITY}${LEAF_CERTIFICATE}`),
      ['spec.caBundles[0].pem.value: certificate 1 is not of a certificate authority: CN=leaf'],
    ],
    [
      'a key',
      trust(`${EAST_AUTHORITY}${key}`),
      ['spec.caBundles[0].pem.value: must have certificates only; got PRIVATE KEY'],
    ],
    [
      'more certificates than anybody has',
      trust(EAST_AUTHORITY.repeat(65)),
      ['spec.caBundles: must have at most 64 certificates, have 65'],
    ],
    [
      'a trust domain that is none',
      { ...trust(EAST_AUTHORITY), trustDomain: 'spiffe://east' },
      [
        'spec.trustDomain: is not a trust domain: only a-z, 0-9, ".", "-" and "_" are allowed, at least one; got "spiffe://east"',
      ],
    ],
    [
      'a placeholder in its trust domain',
      { ...trust(EAST_AUTHORITY), trustDomain: '{{ .Mesh }}' },
      [
        'spec.trustDomain: is not a trust domain: only a-z, 0-9, ".", "-" and "_" are allowed, at least one; got "{{ .Mesh }}"',
      ],
    ],
  ])('with %s is refused', (_, spec, want) => {
    expect(violations('MeshTrust', spec)).toEqual(want);
  });

  it('never repeats what may be a key', () => {
    const [said = ''] = violations('MeshTrust', trust(key));
    expect(said).not.toContain('c2VjcmV0');
  });
});

describe('where a zone is entered', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['an IPv4 address', { address: '192.0.2.1', port: 10001 }, []],
    ['an IPv6 address', { address: '2001:db8::1', port: 1 }, []],
    ['a host name', { address: 'ingress.east.example.com', port: 65535 }, []],
    ['no port', { address: 'a' }, ['spec.port: is required']],
    ['port 0', { address: 'a', port: 0 }, ['spec.port: must be 1 to 65535; got 0']],
    [
      'a URL',
      { address: 'https://a', port: 1 },
      ['spec.address: must be an IP address or a host name; got "https://a"'],
    ],
    [
      'an address and a port',
      { address: 'a:1', port: 1 },
      ['spec.address: must be an IP address or a host name; got "a:1"'],
    ],
    [
      'a number too large',
      { address: '10.0.0.256', port: 1 },
      ['spec.address: must be an IP address or a host name; got "10.0.0.256"'],
    ],
    ['every address', { address: '0.0.0.0', port: 1 }, ['spec.address: must not be 0.0.0.0 or ::; got "0.0.0.0"']],
  ])('MeshZoneAddress of %s', (_, spec, want) => {
    expect(violations('MeshZoneAddress', spec)).toEqual(want);
  });

  it.each<[string, object, readonly string[]]>([
    ['its listener', { address: '10.0.0.1', port: 10001 }, []],
    ['an advertised pair', { address: '10.0.0.1', port: 1, advertisedAddress: 'a.example', advertisedPort: 2 }, []],
    ['no port', { address: '10.0.0.1' }, ['spec.networking.port: is required']],
    [
      'half a pair',
      { port: 1, advertisedAddress: 'a.example' },
      ['spec.networking.advertisedPort: is required with advertisedAddress'],
    ],
    [
      'the other half',
      { port: 1, advertisedPort: 2 },
      ['spec.networking.advertisedAddress: is required with advertisedPort'],
    ],
    [
      'an address that is none',
      { address: 'not-valid!', port: 1 },
      ['spec.networking.address: must be an IP address or a host name; got "not-valid!"'],
    ],
  ])('ZoneIngress with %s', (_, networking, want) => {
    expect(violations('ZoneIngress', { networking })).toEqual(want);
  });

  it.each<[string, object, readonly string[]]>([
    ['its listener', { address: '10.0.0.1', port: 10002, admin: { port: 9901 } }, []],
    ['no port', { address: '10.0.0.1' }, ['spec.networking.port: is required']],
    [
      'an advertised pair, which only an ingress has',
      { address: '10.0.0.1', port: 1, advertisedPort: 2 },
      ['spec.networking.advertisedPort: is not a known field'],
    ],
    [
      'an address that is none',
      { address: 'not-valid!', port: 1 },
      ['spec.networking.address: must be an IP address or a host name; got "not-valid!"'],
    ],
  ])('ZoneEgress with %s', (_, networking, want) => {
    expect(violations('ZoneEgress', { networking })).toEqual(want);
  });
});

describe('Mesh.mtls', () => {
  const backend = { name: 'ca-1', type: 'builtin' };
  const mtls = (...backends: object[]) => ({ mtls: { enabledBackend: 'ca-1', backends } });
  it.each<[string, object]>([
    ['off', { mtls: {} }],
    ['with a backend that is not enabled', { mtls: { backends: [backend] } }],
    ['enabled', mtls(backend)],
    [
      "with Kuma's settings",
      mtls({ ...backend, mode: 'PERMISSIVE', dpCert: { rotation: { expiration: '1d' }, requestTimeout: '10s' } }),
    ],
    ['beside meshServices', { ...mtls(backend), meshServices: { mode: 'Exclusive' } }],
  ])('%s is accepted', (_, spec) => {
    expect(violations('Mesh', spec)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['another type', mtls({ ...backend, type: 'vault' }), 'spec.mtls.backends[0].type: must be builtin; got "vault"'],
    [
      'two backends',
      mtls(backend, { ...backend, name: 'ca-2' }),
      'spec.mtls.backends: must have at most 1 backend, have 2',
    ],
    [
      'a backend that is not there',
      mtls({ ...backend, name: 'ca-2' }),
      'spec.mtls.enabledBackend: must name one of the backends; got "ca-1"',
    ],
    [
      'settings of the authority',
      mtls({ ...backend, conf: { caCert: { RSAbits: 4096 } } }),
      'spec.mtls.backends[0].conf: must be left out: the authority is ECDSA P-256 and lasts 10 years',
    ],
    [
      'a name that is none of a Secret',
      mtls(backend, { ...backend, name: 'A/b' }),
      'spec.mtls.backends[1].name: must be a lower-case DNS label; got "A/b"',
    ],
  ])('%s is refused', (_, spec, want) => {
    expect(violations('Mesh', spec)).toContain(want);
  });
});
