import { coreKinds } from '@causeway/kinds';
import { globalIdentity, type ControlPlane, type JsonObject } from '@causeway/resources';
import { TestPlane } from '../../../../test/support/test-plane';
import { AccessPolicy } from './access-policy';
import { anonymous, localAdmin, operator, type Caller } from './caller';
import { toAccessTarget, type AccessTarget, type Verb } from './grants';

const GLOBAL: ControlPlane = { role: 'global' };
const EAST: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const ALONE: ControlPlane = { role: 'zone', zone: 'east', federated: false };

/** Subjects written as `User:anna`, with a role and what narrows it. */
type Binding = { readonly of?: '' | 'east'; readonly role: string; readonly to: string } & JsonObject;

const anna: Caller = { user: 'anna', groups: ['shop', 'causeway:authenticated'], by: 'user-token' };
const shop = { kind: 'MeshService', mesh: 'default', namespace: 'shop' };
const generator = { kind: 'HostnameGenerator' };

class Fixture {
  readonly policy: AccessPolicy;

  private constructor(readonly plane: TestPlane) {
    this.policy = new AccessPolicy({ registry: coreKinds, index: plane.index, cp: plane.cp });
  }

  static open(cp: ControlPlane): Fixture {
    return new Fixture(new TestPlane(cp));
  }

  async bind(name: string, { of = '', role, to, ...narrowed }: Binding): Promise<void> {
    const [kind = '', subject = ''] = to.split(/:(.*)/s);
    await this.write('RoleBinding', name, of, { role, subjects: [{ kind, name: subject }], ...narrowed });
  }

  role(name: string, of: '' | 'east', ...rules: JsonObject[]): Promise<void> {
    return this.write('Role', name, of, { rules });
  }

  async write(kind: string, name: string, zone: string, spec: JsonObject): Promise<void> {
    const id = { ...globalIdentity(kind, name), zone };
    await this.plane.write([{ type: 'put', id, expect: 'any', labels: {}, spec }]);
  }

  async close(): Promise<void> {
    this.policy.close();
    await this.plane.close();
  }
}

let fixture: Fixture;
afterEach(() => fixture.close());

async function open(cp: ControlPlane, bindings: readonly Binding[] = []): Promise<AccessPolicy> {
  fixture = Fixture.open(cp);
  for (const [i, binding] of bindings.entries()) await fixture.bind(`b${i}`, binding);
  return fixture.policy;
}

describe('on the global', () => {
  const updates: [Verb, AccessTarget] = ['update', shop];

  it.each<[string, Binding[], [Verb, AccessTarget], boolean]>([
    ['nothing is bound', [], ['get', shop], false],
    ['a role is bound to the user', [{ role: 'viewer', to: 'User:anna' }], ['get', shop], true],
    ['a role is bound to a group of the user', [{ role: 'viewer', to: 'Group:shop' }], ['watch', shop], true],
    ['a role is bound to everybody', [{ role: 'viewer', to: 'Group:causeway:authenticated' }], ['list', shop], true],
    ['a role is bound to another user', [{ role: 'admin', to: 'User:bert' }], updates, false],
    ['a role is bound to a group named like the user', [{ role: 'admin', to: 'Group:anna' }], updates, false],
    ['a role is bound to a zone named like the user', [{ role: 'admin', to: 'Zone:anna' }], updates, false],
    ['a viewer writes', [{ role: 'viewer', to: 'User:anna' }], updates, false],
    ['an owner writes', [{ role: 'service-owner', to: 'User:anna' }], updates, true],
    ['an owner writes what moves names', [{ role: 'service-owner', to: 'User:anna' }], ['create', generator], false],
    ['an operator does', [{ role: 'mesh-operator', to: 'User:anna' }], ['create', generator], true],
    ['the role is unknown', [{ role: 'nobody-made-it', to: 'User:anna' }], ['get', shop], false],
    [
      'of two roles one allows it',
      [
        { role: 'viewer', to: 'User:anna' },
        { role: 'service-owner', to: 'Group:shop' },
      ],
      updates,
      true,
    ],
  ])('%s', async (_, bindings, [verb, target], allowed) => {
    const policy = await open(GLOBAL, bindings);
    expect(policy.decide(anna, verb, target).allowed).toBe(allowed);
  });

  it.each<[string, JsonObject, AccessTarget, boolean]>([
    ['the namespace', { namespaces: ['shop'] }, shop, true],
    ['another namespace', { namespaces: ['pay'] }, shop, false],
    ['all namespaces by a star', { namespaces: ['*'] }, shop, true],
    ['a namespace, asked about all of them', { namespaces: ['shop'] }, { kind: 'MeshService', mesh: 'default' }, false],
    [
      'a namespace, asked about a kind without',
      { namespaces: ['shop'] },
      { kind: 'MeshExternalService', mesh: 'default' },
      false,
    ],
    ['the mesh', { meshes: ['default'] }, shop, true],
    ['another mesh', { meshes: ['m2'] }, shop, false],
    ['the kind', { kinds: ['MeshService'] }, shop, true],
    ['another kind', { kinds: ['Dataplane'] }, shop, false],
    ['mesh and another namespace', { meshes: ['default'], namespaces: ['pay'] }, shop, false],
  ])('a binding narrowed to %s', async (_, narrowed, target, allowed) => {
    const policy = await open(GLOBAL, [{ role: 'service-owner', to: 'User:anna', ...narrowed }]);
    expect(policy.decide(anna, 'update', target).allowed).toBe(allowed);
  });

  it('gives the owner of a mesh that Mesh itself, and no other', async () => {
    const policy = await open(GLOBAL, [{ role: 'mesh-operator', to: 'User:anna', meshes: ['m2'] }]);
    const may = (name: string): boolean =>
      policy.decide(anna, 'update', toAccessTarget(globalIdentity('Mesh', name))).allowed;
    expect([may('m2'), may('default')]).toEqual([true, false]);
    expect(toAccessTarget(globalIdentity('Namespace', 'shop'))).toEqual({ kind: 'Namespace', namespace: 'shop' });
  });

  it('takes roles of users as they are written, narrowed by their bindings', async () => {
    const policy = await open(GLOBAL, [{ role: 'names', to: 'User:anna', namespaces: ['shop', 'pay'] }]);
    expect(policy.decide(anna, 'create', shop).allowed).toBe(false);
    await fixture.role('names', '', { verbs: ['create'], kinds: ['*'], namespaces: ['shop'] });
    expect(policy.decide(anna, 'create', shop)).toEqual({
      allowed: true,
      binding: 'RoleBinding b0',
      role: 'names',
      reason: 'RoleBinding b0 gives names',
    });
    expect(policy.decide(anna, 'create', { ...shop, namespace: 'pay' }).allowed).toBe(false);
    expect(policy.decide(anna, 'delete', shop).allowed).toBe(false);
  });

  it.each(['Secret', 'GlobalSecret', 'Role', 'RoleBinding', 'UserToken', 'ZoneToken', 'AuditLog'])(
    'leaves %s to the built-in role admin, whatever another role says',
    async (kind) => {
      const policy = await open(GLOBAL, [{ role: 'all', to: 'User:anna' }]);
      await fixture.role('all', '', { verbs: ['*'], kinds: ['*'] });
      expect(policy.decide(anna, 'create', { kind }).allowed).toBe(false);
      await fixture.bind('b1', { role: 'admin', to: 'User:anna' });
      expect(policy.decide(anna, 'create', { kind })).toMatchObject({ allowed: true, binding: 'RoleBinding b1' });
    },
  );

  it('lets who reads everything read roles, and no secrets', async () => {
    const policy = await open(GLOBAL, [{ role: 'viewer', to: 'User:anna' }]);
    const reads = ['RoleBinding', 'Secret', 'AuditLog'].map((kind) => policy.decide(anna, 'get', { kind }).allowed);
    expect(reads).toEqual([true, false, false]);
  });

  it('says who may not do what, where', async () => {
    const policy = await open(GLOBAL);
    expect(policy.decide(anna, 'delete', shop)).toEqual({
      allowed: false,
      reason: 'no RoleBinding lets user "anna" delete MeshService in namespace "shop" of mesh "default"',
    });
    expect(policy.decide(anna, 'list', generator).reason).toBe(
      'no RoleBinding lets user "anna" list HostnameGenerator',
    );
  });

  it('gives administrators everything, and anonymous callers what is bound to their group', async () => {
    const policy = await open(GLOBAL);
    for (const caller of [localAdmin, operator])
      expect(policy.decide(caller, 'delete', { kind: 'Secret' })).toMatchObject({ allowed: true, role: 'admin' });
    expect(policy.decide(anonymous, 'get', shop).allowed).toBe(false);
    await fixture.bind('open', { role: 'viewer', to: 'Group:causeway:anonymous' });
    expect(policy.decide(anonymous, 'get', shop).allowed).toBe(true);
  });

  it('follows roles and bindings that change and go', async () => {
    const policy = await open(GLOBAL, [{ role: 'mine', to: 'User:anna' }]);
    await fixture.role('mine', '', { verbs: ['get'], kinds: ['MeshService'] });
    expect(policy.decide(anna, 'get', shop).allowed).toBe(true);
    await fixture.role('mine', '', { verbs: ['get'], kinds: ['Dataplane'] });
    expect(policy.decide(anna, 'get', shop).allowed).toBe(false);
    await fixture.bind('b0', { role: 'viewer', to: 'User:anna' });
    expect(policy.decide(anna, 'get', shop).allowed).toBe(true);
    await fixture.plane.delete('RoleBinding', 'b0');
    expect(policy.decide(anna, 'get', shop).allowed).toBe(false);
  });

  it('makes nothing of specs that no schema would have let in', async () => {
    const policy = await open(GLOBAL);
    const specs: JsonObject[] = [
      {},
      { role: 5, subjects: 'anna' },
      { role: 'admin', subjects: [null, 'User:anna', { kind: 'User' }, { kind: 'Robot', name: 'anna' }] },
      { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }], meshes: [1, null] },
      { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }], kinds: 'MeshService' },
      { role: 'odd', subjects: [{ kind: 'User', name: 'anna' }] },
    ];
    for (const [i, spec] of specs.entries()) await fixture.write('RoleBinding', `b${i}`, '', spec);
    await fixture.write('Role', 'odd', '', {
      rules: [null, 5, {}, { verbs: ['get'] }, { verbs: null, kinds: ['*'] }, { verbs: ['get'], kinds: [5] }],
    });
    expect(policy.decide(anna, 'get', shop).allowed).toBe(false);
  });
});

describe('zones as subjects', () => {
  it('send everything unless a binding names them, and then what it allows', async () => {
    const policy = await open(GLOBAL, [{ role: 'service-owner', to: 'Zone:east', namespaces: ['shop'] }]);
    const allowed = (zone: string, target: AccessTarget): boolean => policy.decideZone(zone, target).allowed;
    expect([allowed('west', shop), allowed('west', generator)]).toEqual([true, true]);
    expect([allowed('east', shop), allowed('east', { ...shop, namespace: 'pay' }), allowed('east', generator)]).toEqual(
      [true, false, false],
    );
    expect(policy.decideZone('east', generator).reason).toContain('zone "east"');
  });

  it('may send nothing by a role that only reads', async () => {
    const policy = await open(GLOBAL, [{ role: 'viewer', to: 'Zone:east' }]);
    expect(policy.decideZone('east', shop).allowed).toBe(false);
  });
});

describe('in a federated zone', () => {
  const granted: Binding = { role: 'service-owner', to: 'User:anna' };

  it.each<[string, Binding[], boolean, string | undefined]>([
    ['the global grants', [granted], true, 'RoleBinding b0'],
    ['only the zone binds', [{ ...granted, of: 'east' }], false, undefined],
    [
      'the zone restricts to less',
      [granted, { of: 'east', role: 'viewer', to: 'User:anna' }],
      false,
      'RoleBinding b1 of zone east',
    ],
    [
      'the zone restricts a group of the user',
      [granted, { of: 'east', role: 'viewer', to: 'Group:shop' }],
      false,
      'RoleBinding b1 of zone east',
    ],
    [
      'the zone restricts somebody else',
      [granted, { of: 'east', role: 'viewer', to: 'User:bert' }],
      true,
      'RoleBinding b0',
    ],
    ['the zone restricts to more', [granted, { of: 'east', role: 'admin', to: 'User:anna' }], true, 'RoleBinding b0'],
    [
      'the zone restricts to the namespace',
      [granted, { of: 'east', role: 'service-owner', to: 'User:anna', namespaces: ['shop'] }],
      true,
      'RoleBinding b0',
    ],
    [
      'the zone restricts to another',
      [granted, { of: 'east', role: 'service-owner', to: 'User:anna', namespaces: ['pay'] }],
      false,
      'RoleBinding b1 of zone east',
    ],
  ])('%s', async (_, bindings, allowed, binding) => {
    const policy = await open(EAST, bindings);
    const decision = policy.decide(anna, 'update', shop);
    expect([decision.allowed, decision.binding]).toEqual([allowed, binding]);
  });

  it('lists the roles of a caller, each binding once, and what restricts them', async () => {
    const policy = await open(EAST, [granted, { of: 'east', role: 'viewer', to: 'Group:shop' }]);
    const subjects = [
      { kind: 'User', name: 'anna' },
      { kind: 'Group', name: 'shop' },
    ];
    await fixture.write('RoleBinding', 'both', '', { role: 'mesh-operator', subjects });
    expect(policy.listRoles(anna)).toEqual([
      { role: granted.role, binding: 'RoleBinding b0', effect: 'grants' },
      { role: 'mesh-operator', binding: 'RoleBinding both', effect: 'grants' },
      { role: 'viewer', binding: 'RoleBinding b1 of zone east', effect: 'restricts' },
    ]);
    expect(policy.listRoles({ ...anna, user: 'eve', groups: [] })).toEqual([]);
    expect(policy.listRoles(operator)).toMatchObject([{ role: 'admin', effect: 'grants' }]);
  });

  it('names both bindings where one restricts what the other allows', async () => {
    const policy = await open(EAST, [granted, { of: 'east', role: 'viewer', to: 'User:anna' }]);
    expect(policy.decide(anna, 'update', shop)).toEqual({
      allowed: false,
      binding: 'RoleBinding b1 of zone east',
      role: 'viewer',
      reason:
        'user "anna" may not update MeshService in namespace "shop" of mesh "default": RoleBinding b1 of zone east restricts it to viewer; RoleBinding b0 would allow it',
    });
  });

  it('administrators stay administrators, so that nobody locks himself out', async () => {
    const policy = await open(EAST, [{ of: 'east', role: 'viewer', to: 'Group:causeway:admins' }]);
    expect(policy.decide(operator, 'delete', { kind: 'RoleBinding' }).allowed).toBe(true);
  });

  it("means the zone's Role in a binding of the zone, the global's in one of the global", async () => {
    const policy = await open(EAST, [
      { role: 'mine', to: 'User:anna' },
      { of: 'east', role: 'mine', to: 'User:anna' },
    ]);
    await fixture.role('mine', '', { verbs: ['*'], kinds: ['*'] });
    expect(policy.decide(anna, 'update', shop).allowed).toBe(true);
    await fixture.role('mine', 'east', { verbs: ['get'], kinds: ['*'] });
    expect([policy.decide(anna, 'update', shop).allowed, policy.decide(anna, 'get', shop).allowed]).toEqual([
      false,
      true,
    ]);
  });
});

describe('in a zone by itself', () => {
  it('its own bindings grant', async () => {
    const policy = await open(ALONE, [{ of: 'east', role: 'service-owner', to: 'User:anna' }]);
    expect(policy.decide(anna, 'update', shop)).toMatchObject({
      allowed: true,
      binding: 'RoleBinding b0 of zone east',
    });
  });
});
