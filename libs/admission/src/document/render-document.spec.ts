import { coreKinds } from '@causeway/kinds';
import { Violations, type ControlPlane, type Resource } from '@causeway/resources';
import { MemoryStore } from '@causeway/store/testing';
import { EAST_AUTHORITY } from '../../../../test/support/certificates';
import { decodeDocument } from './decode-document';
import { validateDraft } from '../validate-draft';
import { toDocument } from './render-document';

const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };

const samples: Readonly<Record<string, object>> = {
  Mesh: { description: 'demo' },
  ConfigMap: { data: { 'parameters.yaml': 'exportDefault: None' } },
  Namespace: {},
  Zone: { enabled: true },
  MetaresourceDefinition: {
    group: 'a.io',
    kind: 'PaintPolicy',
    plural: 'paintpolicies',
    hierarchy: 'mesh',
    schema: { type: 'object' },
    declaredTargets: [{ kind: 'Mesh', semantics: 'a' }],
    effectiveTarget: { level: 'Rule', semantics: 'b' },
  },
  Dataplane: { networking: { address: '10.0.0.1', inbound: [{ port: 80 }] } },
  MeshService: { selector: { dataplaneRef: { name: 'a' } }, ports: [{ port: 80 }] },
  MeshMultiZoneService: { selector: { meshService: { matchLabels: { a: 'b' } } }, ports: [{ port: 80 }] },
  MeshExternalService: { match: { port: 80 }, endpoints: [{ address: 'example.com', port: 443 }] },
  HostnameGenerator: { selector: { meshService: {} }, template: '{{ name }}.mesh' },
  HTTPRoute: {
    parentRefs: [{ kind: 'Service', name: 'foo' }],
    rules: [
      { matches: [{ path: { type: 'Exact', value: '/a' } }], backendRefs: [{ name: 'foo', port: 80, weight: 90 }] },
    ],
  },
  GRPCRoute: { rules: [{ matches: [{ method: { service: 'a.B' } }] }] },
  TLSRoute: { rules: [{ backendRefs: [{ name: 'foo', port: 443 }] }] },
  TCPRoute: { rules: [{ backendRefs: [{ name: 'foo', port: 80 }] }] },
  UDPRoute: { rules: [{ backendRefs: [{ name: 'foo', port: 53 }] }] },
  Gateway: { gatewayClassName: 'edge', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] },
  ReferenceGrant: {
    from: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'edge' }],
    to: [{ group: '', kind: 'Service' }],
  },
  VirtualNode: { listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
  VirtualRouter: { listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
  VirtualService: { provider: { virtualNode: { virtualNodeRef: { name: 'foo' } } } },
  IdentityPath: { preset: 'Namespaced' },
  MeshNaming: { suffixes: ['colors.svc.cluster.local'] },
  MeshIdentity: { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled' } },
  MeshTrust: { trustDomain: 'default.east', caBundles: [{ type: 'Pem', pem: { value: EAST_AUTHORITY } }] },
  MeshZoneAddress: { address: '192.0.2.1', port: 10001 },
  ZoneIngress: { networking: { address: '10.0.0.1', port: 10001 } },
  ZoneEgress: { networking: { address: '10.0.0.1', port: 10002 } },
  Secret: { data: 'dGVzdA==' },
  GlobalSecret: { data: 'dGVzdA==' },
  Role: { rules: [{ verbs: ['get'], kinds: ['MeshService'] }] },
  RoleBinding: { role: 'viewer', subjects: [{ kind: 'Group', name: 'developers' }] },
  AuthenticationConfiguration: {},
};

/** Returns the name of a resource of a kind: some kinds have an effect only under the name `default`. */
const nameOf = (kind: string): string => (kind === 'AuthenticationConfiguration' ? 'default' : 'thing');

async function stored(name: string): Promise<{ readonly cp: ControlPlane; readonly resource: Resource }> {
  const kind = coreKinds.kind(name);
  const cp: ControlPlane = kind?.sync.writtenOn.includes('global') === true ? { role: 'global' } : east;
  const body = { type: name, name: nameOf(name), labels: { team: 'db' }, spec: samples[name] };
  const { id, labels, spec, violations } = validateDraft(decodeDocument(coreKinds, body), cp);
  expect(violations.first).toEqual([]);
  const store = new MemoryStore();
  await store.write({ changes: [{ type: 'put', id, expect: 'absent', labels, spec }], onRefusal: 'abort' });
  const resource = await store.get(id);
  if (!resource) throw new Error('it was just written');
  return { cp, resource };
}

it.each(['Mesh', 'Dataplane', 'Zone', 'ZoneIngress', 'ZoneEgress', 'Secret', 'GlobalSecret'])(
  'a %s of Kuma has the fields of its spec on top',
  (name) => {
    const spec = samples[name] ?? {};
    const head = { type: name, name: 'thing', ...(coreKinds.kind(name)?.scope === 'mesh' ? { mesh: 'default' } : {}) };
    const [flat, nested] = [
      { ...head, ...spec },
      { ...head, spec },
    ].map((body) => decodeDocument(coreKinds, body));
    expect(flat?.violations.first).toEqual([]);
    expect(flat?.draft.spec).toEqual(spec);
    expect(nested?.draft.spec).toEqual(spec);
  },
);

describe('toDocument', () => {
  it.each(coreKinds.kinds.flatMap((kind) => [[kind.name, 'universal'] as const, [kind.name, 'k8s'] as const]))(
    'shows %s in the form %s so that it can be put back unchanged',
    async (name, form) => {
      const { cp, resource } = await stored(name);
      const kind = coreKinds.kind(name);
      if (!kind) throw new Error(name);
      const document = toDocument(kind, { ...resource, status: { a: 1 } }, { form });
      const again = validateDraft(
        decodeDocument(coreKinds, JSON.parse(JSON.stringify(document)), { kind, name: nameOf(name) }),
        cp,
      );
      expect(again).toEqual({
        id: resource.id,
        labels: resource.labels,
        spec: resource.spec,
        violations: new Violations(),
        warnings: kind.warnings(nameOf(name), resource.spec),
      });
    },
  );

  it('has what only the control plane knows', async () => {
    const { resource } = await stored('MeshService');
    const kind = coreKinds.kind('MeshService');
    expect(kind && toDocument(kind, { ...resource, createdAt: 0, modifiedAt: 1500, uid: 'u' })).toEqual({
      type: 'MeshService',
      mesh: 'default',
      namespace: 'default',
      name: 'thing',
      uid: 'u',
      generation: 1,
      creationTime: '1970-01-01T00:00:00.000Z',
      modificationTime: '1970-01-01T00:00:01.500Z',
      kri: 'kri_msvc_default_east__thing_',
      labels: resource.labels,
      spec: resource.spec,
    });
  });

  it('leaves the values of confidential kinds out where it shall', async () => {
    const { resource } = await stored('Secret');
    const kind = coreKinds.kind('Secret');
    expect(kind && toDocument(kind, resource, { redacted: true })).toMatchObject({ name: 'thing', spec: {} });
    expect(kind && toDocument(kind, resource)).toMatchObject({ spec: { data: 'dGVzdA==' } });
  });
});
