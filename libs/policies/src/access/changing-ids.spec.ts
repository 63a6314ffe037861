import { changingPrefixes, formerId, namespacedIds, revokedIds } from './changing-ids';

describe('the other form of an id', () => {
  const changing = [{ domains: ['default.east.mesh.local'], namespaces: ['dev', 'shop'] }];
  const east = (path: string): string => `spiffe://default.east.mesh.local${path}`;

  it('is that of each namespace that changes, in the trust domains of the zone only', () => {
    expect(namespacedIds(east('/workload/web'), changing)).toEqual([
      east('/ns/dev/workload/web'),
      east('/ns/shop/workload/web'),
    ]);
    const others = ['spiffe://default.west.mesh.local/workload/web', east('/workload/web/x'), east('/zone-egress')];
    for (const other of others) expect(namespacedIds(other, changing)).toEqual([]);
    expect(namespacedIds(east('/workload/web'), [])).toEqual([]);
  });

  it('is the one without a namespace, of the namespaces that change', () => {
    expect(formerId(east('/ns/shop/workload/web'), changing)).toEqual({
      namespace: 'shop',
      uri: east('/workload/web'),
    });
    for (const other of ['/ns/other/workload/web', '/workload/web', '/ns/shop/sa/web'])
      expect(formerId(east(other), changing)).toBeUndefined();
  });

  it('of a prefix is what lies below it in the other form', () => {
    const workloads = east('/workload/');
    const none = { namespaced: [], former: [] };
    expect(changingPrefixes(east('/'), changing)).toEqual(none);
    expect(changingPrefixes(east('/workload/web/'), changing)).toEqual(none);
    expect(changingPrefixes(workloads, changing).namespaced).toEqual([
      east('/ns/dev/workload/'),
      east('/ns/shop/workload/'),
    ]);
    expect(changingPrefixes(east('/ns/shop/'), changing).former).toEqual([{ prefix: workloads, namespaces: ['shop'] }]);
    expect(changingPrefixes(east('/ns/'), changing).former).toEqual([
      { prefix: workloads, namespaces: ['dev', 'shop'] },
    ]);
  });

  it('is revoked with the one that the settings of a mesh name', () => {
    const revoked = [east('/workload/web')];
    expect(revokedIds(revoked, [])).toBe(revoked);
    expect(revokedIds(revoked, changing)).toEqual([
      east('/ns/dev/workload/web'),
      east('/ns/shop/workload/web'),
      east('/workload/web'),
    ]);
  });
});
