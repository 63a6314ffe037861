import { Dataplane, Mesh } from '@causeway/proto-gen';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import type { JsonObject } from '@causeway/resources';
import type { KumaOptions } from './translation';
import { kumaTranslation } from './translations';

const options: KumaOptions = { meshServicesMode: 'Everywhere' };

describe('translation of specs to Kuma', () => {
  const cases: readonly (readonly [string, string, JsonObject, JsonObject])[] = [
    [
      'the seed’s generator',
      'HostnameGenerator',
      { selector: { meshService: { labels: { app: 'x' } } }, template: '{{ name }}.{{label "app"}}.{{name}}.mesh' },
      {
        selector: { meshService: { matchLabels: { app: 'x' } } },
        template: '{{ .DisplayName }}.{{label "app"}}.{{ .DisplayName }}.mesh',
      },
    ],
    [
      'a generator in Kuma’s syntax',
      'HostnameGenerator',
      {
        selector: { meshExternalService: { matchLabels: {} } },
        template: '{{ .Name }}.mesh',
        extension: { type: 'x' },
      },
      {
        selector: { meshExternalService: { matchLabels: {} } },
        template: '{{ .Name }}.mesh',
        extension: { type: 'x' },
      },
    ],
    [
      'a generator for all',
      'HostnameGenerator',
      { selector: { meshMultiZoneService: {} }, template: 'x' },
      { selector: { meshMultiZoneService: {} }, template: 'x' },
    ],
    [
      'a service without defaults',
      'MeshService',
      {
        selector: { dataplaneTags: { a: 'b' } },
        ports: [{ port: 80 }, { port: 81, targetPort: 'web', appProtocol: 'http' }],
        export: { mode: 'All' },
      },
      {
        selector: { dataplaneTags: { a: 'b' } },
        ports: [
          { port: 80, targetPort: 80, appProtocol: 'tcp' },
          { port: 81, targetPort: 'web', appProtocol: 'http' },
        ],
      },
    ],
    [
      'a multizone service',
      'MeshMultiZoneService',
      { selector: { meshService: { labels: { app: 'x' } } }, ports: [{ port: 80 }] },
      { selector: { meshService: { matchLabels: { app: 'x' } } }, ports: [{ port: 80, appProtocol: 'tcp' }] },
    ],
    [
      'an external service',
      'MeshExternalService',
      { match: { port: 443 }, endpoints: [] },
      { match: { type: 'HostnameGenerator', protocol: 'tcp', port: 443 }, endpoints: [] },
    ],
    ['a mesh of ours', 'Mesh', { description: 'x' }, { description: 'x', meshServices: { mode: 'Everywhere' } }],
    ['a mesh with a mode', 'Mesh', { meshServices: { mode: 'Exclusive' } }, { meshServices: { mode: 'Exclusive' } }],
    ['a mesh of Kuma without a mode', 'Mesh', { meshServices: {} }, { meshServices: {} }],
    [
      'an authority that each zone makes',
      'MeshIdentity',
      { selector: {}, provider: { type: 'Bundled' } },
      {
        selector: {},
        provider: { type: 'Bundled', bundled: { insecureAllowSelfSigned: true, autogenerate: { enabled: true } } },
      },
    ],
    [
      'an authority that each zone makes, of a lifetime',
      'MeshIdentity',
      {
        provider: {
          type: 'Bundled',
          bundled: { insecureAllowSelfSigned: false, certificateParameters: { expiry: '1h' } },
        },
      },
      {
        provider: {
          type: 'Bundled',
          bundled: {
            insecureAllowSelfSigned: false,
            certificateParameters: { expiry: '1h' },
            autogenerate: { enabled: true },
          },
        },
      },
    ],
    [
      "the operator's authority",
      'MeshIdentity',
      { provider: { type: 'Bundled', bundled: { ca: { certificate: { type: 'Secret' } } } } },
      { provider: { type: 'Bundled', bundled: { ca: { certificate: { type: 'Secret' } } } } },
    ],
    ['SPIRE', 'MeshIdentity', { provider: { type: 'Spire' } }, { provider: { type: 'Spire', spire: {} } }],
    ['an identity of a later Kuma', 'MeshIdentity', { provider: { type: 'X' } }, { provider: { type: 'X' } }],
    [
      'an insight',
      'DataplaneInsight',
      { subscriptions: [{ id: 'a', generation: 7 }], mTLS: { issuedBackend: 'ca' } },
      { subscriptions: [{ id: 'a' }], mTLS: { issuedBackend: 'ca' } },
    ],
  ];

  it.each(cases)('%s', (_, kind, ours, kumas) => {
    expect(kumaTranslation(kind).toKumaSpec?.(ours, options)).toEqual(kumas);
  });

  it('leaves a service that needs no defaults as it is', () => {
    const spec = { ports: [{ port: 1, targetPort: 1, appProtocol: 'tcp' }] };
    expect(kumaTranslation('MeshService').toKumaSpec?.(spec, options)).toBe(spec);
  });
});

describe('status of a service', () => {
  const ours: JsonObject = {
    vip: { ip: '241.0.0.1', type: 'Kuma' },
    addresses: [
      { hostname: 'redis.mesh', status: 'Available', origin: { kind: 'HostnameGenerator', name: 'all' } },
      {
        hostname: 'cache.mesh',
        status: 'NotAvailable',
        origin: { kind: 'HostnameGenerator', name: 'team' },
        reason: 'clash with …',
      },
      { status: 'NotAvailable', origin: { kind: 'HostnameGenerator', name: 'bad' }, reason: 'label app is missing' },
    ],
    dataplaneProxies: { total: 2, connected: 0, healthy: 1 },
  };
  const names = {
    addresses: [{ hostname: 'redis.mesh', origin: 'HostnameGenerator', hostnameGeneratorRef: { coreName: 'all' } }],
    hostnameGenerators: [
      { hostnameGeneratorRef: { coreName: 'all' }, conditions: [condition('True', 'Generated', '')] },
      { hostnameGeneratorRef: { coreName: 'team' }, conditions: [condition('False', 'Collision', 'clash with …')] },
      {
        hostnameGeneratorRef: { coreName: 'bad' },
        conditions: [condition('False', 'TemplateError', 'label app is missing')],
      },
    ],
  };

  it.each([
    ['MeshService', { ...names, vips: [{ ip: '241.0.0.1' }], tls: {}, dataplaneProxies: { total: 2, healthy: 1 } }],
    ['MeshMultiZoneService', { ...names, vips: [{ ip: '241.0.0.1' }] }],
    ['MeshExternalService', { ...names, vip: { ip: '241.0.0.1' } }],
  ])('%s has Kuma’s shape', (kind, kumas) => {
    expect(kumaTranslation(kind).toKumaStatus?.(ours)).toEqual(kumas);
  });

  it.each([
    ['MeshService', { tls: {}, dataplaneProxies: {} }],
    ['MeshMultiZoneService', {}],
    ['MeshExternalService', { vip: {} }],
  ])('%s without anything is what Kuma sends', (kind, kumas) => {
    expect(kumaTranslation(kind).toKumaStatus?.({})).toEqual(kumas);
  });

  it.each(['MeshService', 'MeshExternalService'])(
    '%s is read again but for the hostname of a claim that lost',
    (kind) => {
      const { toKumaStatus, fromKumaStatus } = kumaTranslation(kind);
      const read = fromKumaStatus?.(toKumaStatus?.(ours) ?? {}, {});
      expect(read).toMatchObject({ vip: ours['vip'] });
      expect(read?.['addresses']).toEqual([
        { hostname: 'redis.mesh', status: 'Available', origin: { kind: 'HostnameGenerator', name: 'all' } },
        { status: 'NotAvailable', origin: { kind: 'HostnameGenerator', name: 'team' }, reason: 'clash with …' },
        { status: 'NotAvailable', origin: { kind: 'HostnameGenerator', name: 'bad' }, reason: 'label app is missing' },
      ]);
    },
  );

  it.each([
    ['kubernetes', 'Kubernetes'],
    ['universal', 'Kuma'],
  ])('a VIP of env %s is of type %s', (env, type) => {
    const read = kumaTranslation('MeshService').fromKumaStatus?.(
      { vips: [{ ip: '10.0.0.1' }], tls: { status: 'Ready' } },
      { 'kuma.io/env': env },
    );
    expect(read).toEqual({ vip: { ip: '10.0.0.1', type }, tls: { status: 'Ready' } });
  });

  it('is empty if Kuma has set nothing yet', () => {
    expect(kumaTranslation('MeshExternalService').fromKumaStatus?.({ vip: {} }, {})).toEqual({});
  });
});

describe('specs as protobuf', () => {
  const dataplane: JsonObject = {
    networking: {
      address: '10.0.0.1',
      advertisedAddress: '1.2.3.4',
      inbound: [
        {
          port: 8080,
          servicePort: 80,
          address: '10.0.0.2',
          serviceAddress: '127.0.0.1',
          name: 'web',
          protocol: 'http',
          tags: { 'kuma.io/service': 'web' },
          health: { ready: false },
          state: 'NotReady',
          serviceProbe: { interval: '10s', timeout: '0.500s', unhealthyThreshold: 3, healthyThreshold: 0, tcp: {} },
        },
        { port: 8081, health: { ready: true } },
      ],
      outbound: [
        {
          port: 1000,
          address: '127.0.0.1',
          backendRef: { kind: 'MeshService', name: 'x', port: 80, labels: { a: 'b' } },
        },
        { port: 1, tags: { s: 't' } },
      ],
      gateway: { tags: { 'kuma.io/service': 'gw' }, type: 'BUILTIN' },
      transparentProxying: {
        redirectPortInbound: 15006,
        redirectPortOutbound: 15001,
        directAccessServices: ['*'],
        reachableServices: ['a'],
        ipFamilyMode: 'IPv4',
        reachableBackends: { refs: [{ kind: 'MeshService', name: 'x', namespace: 'y', port: 80, labels: { a: 'b' } }] },
      },
      admin: { port: 9901 },
      listeners: [{ type: 'ZoneIngress', address: '10.0.0.1', port: 10001, name: 'in', state: 'NotReady' }],
    },
  };
  const mesh: JsonObject = {
    mtls: {
      enabledBackend: 'ca',
      backends: [
        {
          name: 'ca',
          type: 'builtin',
          mode: 'PERMISSIVE',
          conf: { a: [1, 'x', { b: null }] },
          dpCert: { rotation: { expiration: '1d' }, requestTimeout: '10s' },
          rootChain: { requestTimeout: '5s' },
        },
      ],
      skipValidation: true,
    },
    networking: { outbound: { passthrough: false } },
    routing: { localityAwareLoadBalancing: true, zoneEgress: true, defaultForbidMeshExternalServiceAccess: true },
    skipCreatingInitialPolicies: ['*'],
    meshServices: { mode: 'Exclusive' },
  };
  const insight: JsonObject = {
    subscriptions: [
      {
        id: 'a',
        controlPlaneInstanceId: 'cp',
        connectTime: '2026-11-21T06:00:00.000Z',
        disconnectTime: '2026-11-21T06:00:01.500Z',
        status: {
          lastUpdateTime: '2026-11-21T06:00:00.000Z',
          total: { responsesSent: 5, responsesAcknowledged: 4, responsesRejected: 1 },
          cds: {},
        },
        version: {
          kumaDp: { version: '2.14.3', kumaCpCompatible: true },
          envoy: { version: '1.38' },
          dependencies: { coredns: '1' },
        },
      },
    ],
    mTLS: { issuedBackend: 'ca', supportedBackends: ['ca'], certificateRegenerations: 2 },
    metadata: { x: 1 },
  };

  it.each([
    ['Dataplane', dataplane],
    ['Mesh', mesh],
    ['DataplaneInsight', insight],
    ['Config', { config: 'x' }],
    ['Secret', { data: 'YWJj' }],
    ['GlobalSecret', {}],
  ])('%s with every field comes back as it was', (kind, spec: JsonObject) => {
    const { proto } = kumaTranslation(kind);
    expect(proto?.decode(proto.encode(spec))).toEqual(spec);
  });

  it('keeps fields that our message does not know, as long as the spec is unchanged', () => {
    const { proto } = kumaTranslation('Dataplane');
    const known = Dataplane.encode(Dataplane.fromJSON({ networking: { address: '10.0.0.1' } })).finish();
    const bytes = Buffer.concat([
      known,
      new BinaryWriter()
        .uint32(2 * 8 + 2)
        .string('metrics')
        .finish(),
    ]);
    const spec = proto?.decode(bytes) ?? {};
    expect(spec).toEqual({ networking: { address: '10.0.0.1' }, '@proto': bytes.toString('base64') });
    expect(proto?.encode(spec)).toEqual(bytes);
    expect(proto?.encode({ ...spec, networking: { address: '10.0.0.2' } })).not.toEqual(bytes);
  });

  it.each(['ZoneIngress', 'ZoneEgress'])(
    'keeps fields of a %s that our message does not know when the global sets its zone',
    (kind) => {
      const { proto, withOriginZone } = kumaTranslation(kind);
      const unknown = new BinaryWriter()
        .uint32(15 * 8 + 2)
        .string('later')
        .finish();
      const known = proto?.encode({ zone: 'west', networking: { port: 10001 } }) ?? new Uint8Array();
      const spec = withOriginZone?.(proto?.decode(Buffer.concat([known, unknown])) ?? {}, 'east') ?? {};
      expect(spec).toMatchObject({ zone: 'east', networking: { port: 10001 } });
      const bytes = Buffer.from(proto?.encode(spec) ?? []);
      expect([bytes.includes(Buffer.from(unknown)), proto?.decode(bytes)['zone']]).toEqual([true, 'east']);
    },
  );

  it.each([
    ['a port below zero', 'Dataplane', { networking: { address: 'a', inbound: [{ port: -1 }] } }],
    ['a port that is no number', 'Dataplane', { networking: { address: 'a', inbound: [{ port: 'http' }] } }],
    ['a state of another name', 'Dataplane', { networking: { address: 'a', inbound: [{ port: 1, state: 'Odd' }] } }],
    [
      'a duration without a unit',
      'Dataplane',
      { networking: { address: 'a', inbound: [{ port: 1, serviceProbe: { interval: '1' } }] } },
    ],
    ['a mode of another name', 'Mesh', { meshServices: { mode: 'Sometimes' } }],
  ])('%s cannot be expressed', (_, kind, spec: JsonObject) => {
    expect(() => kumaTranslation(kind).proto?.encode(spec)).toThrow();
  });

  it('a Mesh leaves out fields that Kuma does not have', () => {
    const translated = kumaTranslation('Mesh').toKumaSpec?.({ controllerName: 'x', description: 'y' }, options) ?? {};
    const bytes = kumaTranslation('Mesh').proto?.encode(translated) ?? new Uint8Array();
    expect(Mesh.toJSON(Mesh.decode(bytes))).toEqual({ meshServices: { mode: 'Everywhere' } });
  });
});

function condition(status: string, reason: string, message: string): JsonObject {
  return { type: 'Generated', status, reason, message };
}
