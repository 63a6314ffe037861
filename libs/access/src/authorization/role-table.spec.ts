import { coreKinds } from '@causeway/kinds';
import { globalIdentity, type ControlPlane, type JsonObject } from '@causeway/resources';
import { TestPlane } from '../../../../test/support/test-plane';
import { AccessPolicy } from './access-policy';
import type { Caller } from './caller';
import { activities, type Verb } from './grants';

const ROLES = ['viewer', 'service-owner', 'mesh-operator', 'admin'] as const;
const VERBS: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'delete'];
type Role = (typeof ROLES)[number] | 'none';

const PLANES: Readonly<Record<string, ControlPlane>> = {
  'the global': { role: 'global' },
  'a federated zone': { role: 'zone', zone: 'east', federated: true },
  'a zone by itself': { role: 'zone', zone: 'east', federated: false },
};

/** Subjects of roles: all kinds, so that a new kind is in the table, and the activities. */
const SUBJECTS = [
  ...coreKinds.kinds.map(({ name, writer, confidential, namespaced, scope }) => ({
    kind: name,
    writer,
    open: !confidential,
    place: { ...(scope === 'mesh' ? { mesh: 'default' } : {}), ...(namespaced ? { namespace: 'default' } : {}) },
  })),
  ...Object.entries(activities).map(([kind, writer]) => ({ kind, writer, open: false, place: {} })),
];

/** docs/guides/access.md, "The roles that always exist". */
function mayByGuide(role: Role, { writer, open }: (typeof SUBJECTS)[number], verb: Verb): boolean {
  const reads = open && ['get', 'list', 'watch'].includes(verb);
  switch (role) {
    case 'none':
      return false;
    case 'viewer':
      return reads;
    case 'service-owner':
      return writer === 'owner';
    case 'mesh-operator':
      return reads || writer === 'owner' || writer === 'operator';
    case 'admin':
      return true;
  }
}

/** Kinds that configure a mesh or its membership. */
const MESH_KINDS = ['Mesh', 'MeshParameters', 'ConfigMap', 'Namespace'];
const SERVICE_KINDS = [
  'Dataplane',
  'MeshService',
  'MeshMultiZoneService',
  'MeshExternalService',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
  'ReferenceGrant',
  'VirtualNode',
  'VirtualRouter',
  'VirtualService',
];

const anna: Caller = { user: 'anna', groups: ['causeway:authenticated'], by: 'user-token' };

/** A control plane on which the global binds anna to one role and the zone to another. */
async function policyWith(
  cp: ControlPlane,
  byGlobal: Role,
  byZone: Role,
  narrowed: JsonObject = {},
): Promise<AccessPolicy & AsyncDisposable> {
  const plane = new TestPlane(cp);
  const bind = async (role: Role, zone: string): Promise<void> => {
    const spec: JsonObject = { role, subjects: [{ kind: 'User', name: 'anna' }], ...narrowed };
    const id = { ...globalIdentity('RoleBinding', 'b'), zone };
    if (role !== 'none') await plane.write([{ type: 'put', id, expect: 'any', labels: {}, spec }]);
  };
  await bind(byGlobal, '');
  await bind(byZone, 'east');
  const policy = new AccessPolicy({ registry: coreKinds, index: plane.index, cp });
  return Object.assign(policy, {
    [Symbol.asyncDispose]: async () => {
      policy.close();
      await plane.close();
    },
  });
}

/** Returns every subject and verb for which the policy decides otherwise than `wanted`. */
function differences(policy: AccessPolicy, wanted: (subject: (typeof SUBJECTS)[number], verb: Verb) => boolean) {
  return SUBJECTS.flatMap((subject) =>
    VERBS.flatMap((verb) => {
      const { allowed } = policy.decide(anna, verb, { kind: subject.kind, ...subject.place });
      return allowed === wanted(subject, verb) ? [] : [`${verb} ${subject.kind}: ${String(allowed)}`];
    }),
  );
}

const withAll = (roles: readonly Role[]): [string, Role][] =>
  Object.keys(PLANES).flatMap((plane) => roles.map((role): [string, Role] => [plane, role]));
const planeOf = (name: string): ControlPlane => PLANES[name] ?? { role: 'global' };

describe('role × kind × verb × control plane', () => {
  it.each(withAll(['none', ...ROLES]))('on %s, bound by the global to %s', async (name, role) => {
    await using policy = await policyWith(planeOf(name), role, 'none');
    expect(differences(policy, (subject, verb) => mayByGuide(role, subject, verb))).toEqual([]);
  });

  it.each([...ROLES])('in a zone by itself, bound by the zone to %s', async (role) => {
    await using policy = await policyWith(planeOf('a zone by itself'), 'none', role);
    expect(differences(policy, (subject, verb) => mayByGuide(role, subject, verb))).toEqual([]);
  });

  it.each(['none' as const, ...ROLES].flatMap((granted) => ROLES.map((limit): [Role, Role] => [granted, limit])))(
    'in a federated zone, bound by the global to %s and by the zone to %s',
    async (granted, limit) => {
      await using policy = await policyWith(planeOf('a federated zone'), granted, limit);
      const wanted = differences(
        policy,
        (subject, verb) => mayByGuide(granted, subject, verb) && mayByGuide(limit, subject, verb),
      );
      expect(wanted).toEqual([]);
    },
  );

  it('seed 001, seed 003: names and meshes are the operator’s, everything of services the owner’s', () => {
    const by = (writer: string) => coreKinds.kinds.filter((kind) => kind.writer === writer).map(({ name }) => name);
    expect(by('operator')).toEqual(expect.arrayContaining([...MESH_KINDS, 'HostnameGenerator']));
    expect(by('owner')).toEqual(SERVICE_KINDS);
  });

  it.each<[Role, JsonObject, { kinds: readonly string[]; writes: boolean }]>([
    ['mesh-operator', {}, { kinds: MESH_KINDS, writes: true }],
    ['admin', {}, { kinds: MESH_KINDS, writes: true }],
    ['service-owner', { namespaces: ['shop'] }, { kinds: MESH_KINDS, writes: false }],
    ['service-owner', {}, { kinds: MESH_KINDS, writes: false }],
    ['service-owner', {}, { kinds: SERVICE_KINDS, writes: true }],
    ['service-owner', { namespaces: ['shop'] }, { kinds: ['Dataplane', 'MeshService'], writes: true }],
    ['service-owner', { namespaces: ['pay'] }, { kinds: SERVICE_KINDS, writes: false }],
    ['viewer', {}, { kinds: [...MESH_KINDS, ...SERVICE_KINDS], writes: false }],
  ])('T003-02 %s, narrowed to %j: %j in the namespace shop', async (role, narrowed, { kinds, writes }) => {
    await using policy = await policyWith(planeOf('the global'), role, 'none', narrowed);
    const places = SUBJECTS.filter(({ kind }) => kinds.includes(kind)).map(({ kind, place }) => ({
      kind,
      ...place,
      ...('namespace' in place ? { namespace: 'shop' } : {}),
    }));
    expect(places).toHaveLength(kinds.length);
    for (const verb of ['create', 'update', 'delete'] as const)
      expect(places.filter((place) => policy.decide(anna, verb, place).allowed !== writes)).toEqual([]);
  });
});
