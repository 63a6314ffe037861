import { coreKinds } from '@causeway/kinds';
import { globalIdentity, type JsonObject } from '@causeway/resources';
import { ResourceIndex } from '@causeway/store';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { AccessDenied } from './access-denied';
import { AccessPolicy } from './access-policy';
import { anonymous, operator, type Caller } from './caller';
import { CallerRights } from './caller-rights';
import { toAccessTarget } from './grants';

const anna: Caller = { user: 'anna', groups: ['causeway:authenticated', 'payments'], by: 'user-token' };
const service = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'payments', name: 'redis' };

type Specs = Readonly<Record<string, JsonObject>>;

async function policyWith(bindings: Specs, roles: Specs = {}): Promise<AccessPolicy> {
  const store = new MemoryStore(new MemoryDisk());
  const putsOf = (kind: string, specs: Specs) =>
    Object.entries(specs).map(([name, spec]) => ({
      type: 'put' as const,
      expect: 'any' as const,
      labels: {},
      spec,
      id: globalIdentity(kind, name),
    }));
  const changes = [...putsOf('Role', roles), ...putsOf('RoleBinding', bindings)];
  if (changes.length > 0) await store.write({ changes, onRefusal: 'abort' });
  const index = new ResourceIndex();
  index.load(await store.snapshot());
  await store.close();
  return new AccessPolicy({ registry: coreKinds, index, cp: { role: 'global' } });
}

const PAYMENTS: JsonObject = {
  role: 'service-owner',
  subjects: [{ kind: 'Group', name: 'payments' }],
  namespaces: ['payments'],
};

describe('CallerRights', () => {
  it('allows what a binding gives, and says of the rest that no binding does', async () => {
    const rights = new CallerRights(await policyWith({ payments: PAYMENTS }), anna);
    expect(rights.may('update', toAccessTarget(service))).toBe(true);
    expect(rights.may('update', toAccessTarget({ ...service, namespace: 'other' }))).toBe(false);
    expect(() => rights.check('list', { kind: 'MeshService', mesh: 'default' })).toThrow(
      new AccessDenied(anna, 'no RoleBinding lets user "anna" list MeshService in mesh "default"'),
    );
  });

  it('tells a caller with any right from one without', async () => {
    const policy = await policyWith({ payments: PAYMENTS });
    expect(() => new CallerRights(policy, anna).checkAny()).not.toThrow();
    expect(() => new CallerRights(policy, operator).checkAny()).not.toThrow();
    expect(() => new CallerRights(policy, anonymous).checkAny()).toThrow(
      'no RoleBinding names user "anonymous" or a group of causeway:anonymous',
    );
  });

  it.each<[string, JsonObject, boolean]>([
    ['the role admin', { role: 'admin' }, true],
    ['the role admin in one mesh', { role: 'admin', meshes: ['default'] }, false],
    ['the role admin for some kinds', { role: 'admin', kinds: ['MeshService'] }, false],
    ['the role mesh-operator', { role: 'mesh-operator' }, false],
    ['a role of its own that names everything', { role: 'everything' }, false],
  ])('takes a caller with %s for an administrator or not', async (_, spec, isAdmin) => {
    const subjects = [{ kind: 'Group', name: 'payments' }];
    const policy = await policyWith(
      { bound: { subjects, ...spec } },
      { everything: { rules: [{ verbs: ['*'], kinds: ['*'] }] } },
    );
    const check = (): void => new CallerRights(policy, anna).checkAdmin();
    if (isAdmin) expect(check).not.toThrow();
    else expect(check).toThrow(new AccessDenied(anna, 'only administrators may do this'));
    expect(() => new CallerRights(policy, operator).checkAdmin()).not.toThrow();
  });
});
