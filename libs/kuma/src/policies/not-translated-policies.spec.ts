import { globalIdentity, identityKey, type ResourceKey } from '@causeway/resources';
import { NotTranslatedPolicies } from './not-translated-policies';

const keyOf = (name: string): ResourceKey => identityKey(globalIdentity('Policy', name));
const [p, q, other] = [keyOf('p'), keyOf('q'), keyOf('other')];
const notTranslated = (reason: string, ...policies: readonly ResourceKey[]) => ({ port: 80, policies, reason });

describe('policies that are not sent to zones of Kuma in full', () => {
  it('names the first place by key, whatever came first, and that there are others', () => {
    const all = new NotTranslatedPolicies();
    all.set('b', 'MeshService web', [notTranslated('is b', p, q)]);
    expect(all.formatReason(p)).toBe('at MeshService web port 80 is b');
    all.set('a', 'MeshService api', [notTranslated('is a', p)]);
    expect(all.formatReason(p)).toBe('at MeshService api port 80 is a; also at other services');
    expect(all.formatReason(q)).toBe('at MeshService web port 80 is b');
    expect(all.takeChanged()).toEqual(new Set([p, q]));
    all.set('a', 'MeshService api', []);
    expect([all.formatReason(p), all.formatReason(other)]).toEqual(['at MeshService web port 80 is b', '']);
    expect(all.takeChanged()).toEqual(new Set([p]));
  });

  it('names no policy whose reason is the same', () => {
    const all = new NotTranslatedPolicies();
    all.set('a', 'x', [notTranslated('is a', p), notTranslated('is more', p)]);
    all.set('b', 'y', [notTranslated('is b', p)]);
    all.takeChanged();
    all.set('a', 'x', [notTranslated('is a', p)]);
    all.set('c', 'z', [notTranslated('is c', p)]);
    expect(all.takeChanged()).toEqual(new Set());
    all.clear();
    expect([all.formatReason(p), all.takeChanged()]).toEqual(['', new Set([p])]);
  });
});
