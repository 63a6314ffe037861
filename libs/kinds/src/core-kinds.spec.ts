import { computedLabels, FieldPath, Sync, type ControlPlane, type Kind } from '@causeway/resources';
import { EAST_AUTHORITY } from '../../../test/support/certificates';
import { coreKinds } from './core-kinds';

const spec = FieldPath.at('spec');

/** The smallest good spec of every kind: a kind without one fails the contract. */
const smallest: Readonly<Record<string, unknown>> = {
  Mesh: {},
  MeshParameters: {},
  ConfigMap: { data: {} },
  Namespace: {},
  Zone: {},
  Dataplane: { networking: { address: '10.0.0.1' } },
  MeshService: {},
  MeshMultiZoneService: { selector: { meshService: { matchLabels: { a: 'b' } } }, ports: [{ port: 1 }] },
  MeshExternalService: { match: { port: 1 } },
  HostnameGenerator: { selector: { meshService: {} }, template: '{{ name }}.mesh' },
  HTTPRoute: {},
  GRPCRoute: {},
  TLSRoute: { rules: [{ backendRefs: [{ name: 'a' }] }] },
  TCPRoute: { rules: [{ backendRefs: [{ name: 'a' }] }] },
  UDPRoute: { rules: [{ backendRefs: [{ name: 'a' }] }] },
  Gateway: { gatewayClassName: 'a', listeners: [{ name: 'a', port: 1, protocol: 'HTTP' }] },
  ReferenceGrant: { from: [{ group: '', kind: 'A', namespace: 'a' }], to: [{ group: '', kind: 'A' }] },
  VirtualNode: {},
  VirtualRouter: { listeners: [{ portMapping: { port: 1, protocol: 'http' } }] },
  VirtualService: {},
  MeshNaming: { suffixes: [] },
  MeshIdentity: { provider: { type: 'Bundled' } },
  IdentityPath: { preset: 'Namespaced' },
  MeshTrust: { trustDomain: 'a', caBundles: [{ type: 'Pem', pem: { value: EAST_AUTHORITY } }] },
  MeshZoneAddress: { address: '192.0.2.1', port: 1 },
  ZoneIngress: { networking: { port: 1 } },
  ZoneEgress: { networking: { port: 1 } },
  Secret: { data: 'dGVzdA==' },
  GlobalSecret: { data: 'dGVzdA==' },
  Role: { rules: [{ verbs: ['get'], kinds: ['MeshService'] }] },
  RoleBinding: { role: 'viewer', subjects: [{ kind: 'User', name: 'a' }] },
  AuthenticationConfiguration: {},
  MetaresourceDefinition: {
    group: 'a.io',
    kind: 'PaintPolicy',
    plural: 'paintpolicies',
    hierarchy: ['Mesh', 'Backend'],
    declaredTargets: [{ kind: 'Mesh', semantics: 'a' }],
    effectiveTarget: { level: 'Backend', semantics: 'b' },
    schema: { type: 'object' },
  },
};

/** Kuma's names for its kinds (docs/reference/kuma-rest.md §1.6), our names for the others. */
const nouns: Readonly<Record<string, readonly [plural: string, short: string, scope: string, sync: string]>> = {
  Mesh: ['meshes', 'm', 'global', 'meshWide'],
  MeshParameters: ['meshparameters', 'mp', 'global', 'settings'],
  ConfigMap: ['configmaps', 'cm', 'global/namespace', 'settings'],
  Namespace: ['namespaces', 'ns', 'global', 'settings'],
  Zone: ['zones', 'z', 'global', 'zoneList'],
  Dataplane: ['dataplanes', 'dp', 'mesh/namespace', 'toGlobal'],
  MeshService: ['meshservices', 'msvc', 'mesh/namespace', 'acrossZones'],
  MeshMultiZoneService: ['meshmultizoneservices', 'mzsvc', 'mesh', 'fromGlobal'],
  MeshExternalService: ['meshexternalservices', 'extsvc', 'mesh', 'bothWays'],
  HostnameGenerator: ['hostnamegenerators', 'hg', 'global', 'bothWays'],
  HTTPRoute: ['httproutes', 'httproute', 'mesh/namespace', 'routes'],
  GRPCRoute: ['grpcroutes', 'grpcroute', 'mesh/namespace', 'routes'],
  TLSRoute: ['tlsroutes', 'tlsroute', 'mesh/namespace', 'routes'],
  TCPRoute: ['tcproutes', 'tcproute', 'mesh/namespace', 'routes'],
  UDPRoute: ['udproutes', 'udproute', 'mesh/namespace', 'routes'],
  Gateway: ['gateways', 'gtw', 'mesh/namespace', 'routes'],
  ReferenceGrant: ['referencegrants', 'refgrant', 'mesh/namespace', 'routes'],
  VirtualNode: ['virtualnodes', 'vn', 'mesh/namespace', 'routes'],
  VirtualRouter: ['virtualrouters', 'vr', 'mesh/namespace', 'routes'],
  VirtualService: ['virtualservices', 'vs', 'mesh/namespace', 'routes'],
  MeshNaming: ['meshnamings', 'mn', 'mesh', 'roles'],
  MeshIdentity: ['meshidentities', 'mid', 'mesh', 'bothWays'],
  IdentityPath: ['identitypaths', 'idpath', 'mesh', 'settings'],
  MeshTrust: ['meshtrusts', 'mtrust', 'mesh', 'bothWays'],
  MeshZoneAddress: ['meshzoneaddresses', 'mza', 'mesh', 'zoneAddresses'],
  ZoneIngress: ['zoneingresses', 'zi', 'global', 'zoneAddresses'],
  ZoneEgress: ['zoneegresses', 'ze', 'global', 'toGlobal'],
  Secret: ['secrets', 'sec', 'mesh', 'secrets'],
  GlobalSecret: ['globalsecrets', 'gsec', 'global', 'secrets'],
  Role: ['roles', 'role', 'global', 'roles'],
  RoleBinding: ['rolebindings', 'rb', 'global', 'roles'],
  AuthenticationConfiguration: ['authenticationconfigurations', 'authn', 'global', 'settings'],
  MetaresourceDefinition: ['metaresourcedefinitions', 'mrd', 'global', 'settings'],
};

function fields(kind: Kind, value: unknown): string[] {
  return kind.check(value, spec).first.map((violation) => violation.field);
}

describe('the list of kinds', () => {
  it('is that of docs/design.md §1', () => {
    const listed = coreKinds.kinds.map((kind) => {
      const scope = kind.namespaced ? `${kind.scope}/namespace` : kind.scope;
      return [kind.name, [kind.plural, kind.shortName, scope, kind.sync.name]];
    });
    expect(Object.fromEntries(listed)).toEqual(nouns);
  });

  it('leaves to operators what moves names and meshes, to administrators keys and roles (docs/design.md §6)', () => {
    const by = (writer: string): string[] =>
      coreKinds.kinds.filter((kind) => kind.writer === writer).map((kind) => kind.name);
    expect(by('operator')).toEqual([
      'Mesh',
      'MeshParameters',
      'ConfigMap',
      'Namespace',
      'Zone',
      'HostnameGenerator',
      'Gateway',
      'MeshNaming',
      'MeshIdentity',
      'IdentityPath',
      'MeshTrust',
      'MeshZoneAddress',
      'ZoneIngress',
      'ZoneEgress',
      'MetaresourceDefinition',
    ]);
    expect(by('admin')).toEqual(['Secret', 'GlobalSecret', 'Role', 'RoleBinding', 'AuthenticationConfiguration']);
  });
});

describe.each(coreKinds.kinds.map((kind) => [kind.name, kind] as const))('contract of %s', (_, kind) => {
  const good = smallest[kind.name];

  it('takes its smallest spec, with defaults filled in that change nothing when filled in again', () => {
    const filled = kind.withDefaults(good);
    expect(kind.check(filled, spec).first).toEqual([]);
    expect(kind.withDefaults(filled)).toEqual(filled);
    expect(kind.warnings('name', filled)).toEqual(kind.warnings('name', filled));
  });

  it('does not change what it is given', () => {
    const before = JSON.stringify(good);
    kind.withDefaults(good);
    kind.check(good, spec);
    expect(JSON.stringify(good)).toBe(before);
  });

  it('refuses a field that nobody knows, by its path', () => {
    expect(fields(kind, { ...Object(good), nonsense: 1 })).toEqual(['spec.nonsense']);
  });

  it.each([null, 5, 'text', true, [], [{}]])('refuses %j as a spec', (value) => {
    expect(fields(kind, value)).toEqual(['spec']);
    expect(kind.warnings('name', value)).toEqual([]);
  });

  it('refuses every field with a value of a wrong type, and survives it', () => {
    const properties = 'properties' in kind.spec ? Object.keys(Object(kind.spec.properties)) : [];
    for (const field of properties) {
      for (const value of [null, -1.5, [null], [[]], { a: { b: null } }]) {
        const broken = { ...Object(good), [field]: value };
        expect(kind.check(kind.withDefaults(broken), spec).first.every((v) => v.field.startsWith('spec'))).toBe(true);
        expect(fields(kind, broken)).not.toEqual([]);
      }
    }
  });

  it('knows its server-owned and immutable fields', () => {
    const properties = 'properties' in kind.spec ? Object.keys(Object(kind.spec.properties)) : [];
    for (const field of [...kind.serverOwned, ...kind.immutable]) expect(properties).toContain(field);
  });

  it('has a schema that is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(kind.spec))).toMatchObject({ type: 'object', additionalProperties: false });
  });

  it('is written somewhere, and has a zone in its identity where zones write it', () => {
    expect(kind.sync.writtenOn.length).toBeGreaterThan(0);
    expect(kind.sync.zoneInIdentity).toBe(kind.sync.writtenOn.includes('zone'));
    expect(Object.values(Sync)).toContain(kind.sync);
  });

  it('takes ordinary names and refuses what is none', () => {
    expect(kind.checkName('redis-1', FieldPath.at('name'))).toEqual([]);
    for (const name of ['', 'Redis', 'a_b', '-a', 'a-', 'a/b', 'a b', 'a'.repeat(254), '..', 'é']) {
      expect(kind.checkName(name, FieldPath.at('name'))[0]?.field).toBe('name');
    }
  });
});

describe('computed labels', () => {
  const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
  const all = {
    'kuma.io/display-name': 'x',
    'kuma.io/origin': 'zone',
    'kuma.io/mesh': 'default',
    'kuma.io/zone': 'east',
    'kuma.io/env': 'universal',
  };

  // docs/reference/kuma-2.14.md and docs/reference/kuma-rest.md §9.7, as amended by docs/design.md §1.
  it.each<[string, ControlPlane, { mesh: string; namespace: string }, object]>([
    ['MeshExternalService', east, { mesh: 'default', namespace: '' }, all],
    ['Dataplane', east, { mesh: 'default', namespace: 'default' }, all],
    ['Dataplane', east, { mesh: 'default', namespace: 'shop' }, { ...all, 'k8s.kuma.io/namespace': 'shop' }],
    ['Mesh', east, { mesh: '', namespace: '' }, { 'kuma.io/display-name': 'x', 'kuma.io/origin': 'zone' }],
    [
      'HostnameGenerator',
      { role: 'global' },
      { mesh: '', namespace: '' },
      { 'kuma.io/display-name': 'x', 'kuma.io/origin': 'global' },
    ],
    [
      'MeshMultiZoneService',
      { role: 'global' },
      { mesh: 'default', namespace: '' },
      { 'kuma.io/display-name': 'x', 'kuma.io/origin': 'global', 'kuma.io/mesh': 'default' },
    ],
  ])('%s', (name, cp, place, want) => {
    const kind = coreKinds.kind(name);
    if (!kind) throw new Error(name);
    expect(computedLabels(kind, { kind: name, ...place, zone: '', name: 'x' }, cp)).toEqual(want);
  });
});
