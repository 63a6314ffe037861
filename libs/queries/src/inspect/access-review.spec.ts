import { AccessDenied, AccessPolicy, anonymous, type Caller } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import { globalIdentity, Invalid } from '@causeway/resources';
import { TestPlane } from '../../../../test/support/test-plane';
import { AccessReviews } from './access-review';

const anna: Caller = { user: 'anna', groups: ['causeway:authenticated', 'shop'], by: 'user-token' };
const olga: Caller = { user: 'olga', groups: ['causeway:authenticated'], by: 'user-token' };
const update = { groups: [], verb: 'update', kind: 'MeshService', mesh: 'default', namespace: 'shop' } as const;

describe('AccessReviews', () => {
  let plane: TestPlane;
  let policy: AccessPolicy;
  let bind: (name: string, role: string, subject: object, more?: object) => Promise<unknown>;
  let reviews: AccessReviews;
  beforeEach(async () => {
    plane = new TestPlane({ role: 'global' });
    policy = new AccessPolicy({ registry: coreKinds, index: plane.index, cp: plane.cp });
    reviews = new AccessReviews(coreKinds, policy);
    bind = (name, role, subject, more = {}) =>
      plane.write([
        ...[{ type: 'put', id: globalIdentity('RoleBinding', name), expect: 'any', labels: {} } as const].map(
          (change) => ({
            ...change,
            spec: { role, subjects: [{ ...subject }], ...more },
          }),
        ),
      ]);
    await bind('shop', 'service-owner', { kind: 'Group', name: 'shop' }, { namespaces: ['shop'] });
    await bind('ops', 'mesh-operator', { kind: 'User', name: 'olga' });
  });
  afterEach(async () => {
    policy.close();
    await plane.close();
  });

  it('answers for the caller itself, by any name of a kind', () => {
    for (const kind of ['MeshService', 'meshservices', 'msvc'])
      expect(reviews.review(anna, { ...update, kind })).toEqual({
        allowed: true,
        binding: 'RoleBinding shop',
        role: 'service-owner',
        reason: 'RoleBinding shop gives service-owner',
      });
    expect(reviews.review(anna, { ...update, namespace: undefined })).toEqual({
      allowed: false,
      reason: 'no RoleBinding lets user "anna" update MeshService in mesh "default"',
    });
  });

  it('answers for others to who may ask, by user and by groups', () => {
    expect(reviews.review(olga, { ...update, user: 'bert' }).allowed).toBe(false);
    expect(reviews.review(olga, { ...update, user: 'bert', groups: ['shop'] }).binding).toBe('RoleBinding shop');
    expect(reviews.review(olga, { ...update, groups: ['shop'] }).allowed).toBe(true);
    for (const who of [{ user: 'olga' }, { user: 'anna' }, { groups: ['causeway:admins'] }])
      expect(() => reviews.review(anna, { ...update, ...who })).toThrow(AccessDenied);
  });

  it('answers for "anonymous" as for a caller without credentials', async () => {
    const question = { groups: [], verb: 'list', kind: 'MeshService', mesh: 'default', user: 'anonymous' } as const;
    await bind('recognised', 'viewer', { kind: 'Group', name: 'causeway:authenticated' });
    expect(reviews.review(olga, { ...question, user: 'bert' }).binding).toBe('RoleBinding recognised');
    expect(reviews.review(olga, question).allowed).toBe(false);
    await bind('public', 'viewer', { kind: 'Group', name: 'causeway:anonymous' });
    expect(reviews.review(olga, question).binding).toBe('RoleBinding public');
    expect(reviews.review(anonymous, { ...question, user: undefined }).binding).toBe('RoleBinding public');
  });

  it('knows activities, and says what is neither', () => {
    expect(reviews.review(olga, { groups: [], verb: 'create', kind: 'syncdecision' }).allowed).toBe(true);
    expect(reviews.review(olga, { groups: [], verb: 'create', kind: 'ZoneToken' }).allowed).toBe(false);
    expect(() => reviews.review(olga, { ...update, kind: 'Nonsense' })).toThrow(Invalid);
  });
});
