import { NotTranslatedPolicies } from './not-translated-policies';

const untold = (reason: string, ...policies: readonly string[]) => ({ port: 80, policies, reason });

describe('what zones of Kuma are not told of policies', () => {
  it('names the first place by key, whatever came first, and that there are others', () => {
    const all = new NotTranslatedPolicies();
    all.set('b', 'MeshService web', [untold('is b', 'p', 'q')]);
    expect(all.reasonOf('p')).toBe('at MeshService web port 80 is b');
    all.set('a', 'MeshService api', [untold('is a', 'p')]);
    expect(all.reasonOf('p')).toBe('at MeshService api port 80 is a; also at other services');
    expect(all.reasonOf('q')).toBe('at MeshService web port 80 is b');
    expect(all.takeChanged()).toEqual(new Set(['p', 'q']));
    all.set('a', 'MeshService api', []);
    expect([all.reasonOf('p'), all.reasonOf('other')]).toEqual(['at MeshService web port 80 is b', '']);
    expect(all.takeChanged()).toEqual(new Set(['p']));
  });

  it('says nothing anew where nothing else is said', () => {
    const all = new NotTranslatedPolicies();
    all.set('a', 'x', [untold('is a', 'p'), untold('is more', 'p')]);
    all.set('b', 'y', [untold('is b', 'p')]);
    all.takeChanged();
    all.set('a', 'x', [untold('is a', 'p')]);
    all.set('c', 'z', [untold('is c', 'p')]);
    expect(all.takeChanged()).toEqual(new Set());
    all.clear();
    expect([all.reasonOf('p'), all.takeChanged()]).toEqual(['', new Set(['p'])]);
  });
});
