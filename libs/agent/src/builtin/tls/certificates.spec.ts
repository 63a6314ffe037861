import { X509Certificate } from 'node:crypto';
import { TestAuthority } from '../../../../../test/support/test-authority';
import { hasName, findSpiffeIds, readTrustDomain, listUris } from './certificate-names';
import { isSignedByOneOf } from './peer-check';

const certificateOf = async (by: TestAuthority, names: Parameters<TestAuthority['issue']>[0], validFor?: number) =>
  new X509Certificate((await by.issue(names, validFor)).chain);

describe('a certificate', () => {
  let west: TestAuthority;
  let east: TestAuthority;
  beforeAll(async () => {
    // Both have the same name: only their keys differ.
    [west, east] = await Promise.all([TestAuthority.create('zone'), TestAuthority.create('zone')]);
  });

  it('is vouched for by the authority that has signed it, and by no other of the same name', async () => {
    const leaf = await certificateOf(west, { uri: 'spiffe://a/b' });
    const [own, other] = [west, east].map(({ certificate }) => new X509Certificate(certificate));
    if (!own || !other) throw new Error('no authority');
    const now = Date.now();
    expect(isSignedByOneOf(leaf, [own], now)).toBe(true);
    expect(isSignedByOneOf(leaf, [other, own], now)).toBe(true);
    expect(isSignedByOneOf(leaf, [other], now)).toBe(false);
    expect(isSignedByOneOf(leaf, [], now)).toBe(false);
    expect(isSignedByOneOf(leaf, [leaf], now)).toBe(false);
    expect(isSignedByOneOf(leaf, [own], now + 2 * 3_600_000)).toBe(false);
  });

  it('is not vouched for after its end', async () => {
    const own = new X509Certificate(west.certificate);
    expect(isSignedByOneOf(await certificateOf(west, { uri: 'spiffe://a/b' }, -60_000), [own], Date.now())).toBe(false);
  });

  it('has URIs, whatever is in them', async () => {
    const odd = 'spiffe://a/b, URI:spiffe://c/d';
    expect(listUris(await certificateOf(west, { uri: 'spiffe://a/b', dns: 'x.example' }))).toEqual(['spiffe://a/b']);
    expect(listUris(await certificateOf(west, { uri: odd }))).toEqual([odd]);
    expect(listUris(await certificateOf(west, { dns: 'x.example' }))).toEqual([]);
  });

  it.each<[string, readonly string[], string | undefined]>([
    ['one id', ['spiffe://a/b'], 'a'],
    ['ids of one domain, and other URIs', ['spiffe://a/b', 'kuma://x/y', 'spiffe://a/c'], 'a'],
    ['ids of two domains', ['spiffe://a/b', 'spiffe://c/b'], undefined],
    ['no id', ['kuma://x/y'], undefined],
    ['an id without a domain', ['spiffe:///b'], undefined],
  ])('%s: the trust domain', (_, uris, want) => {
    expect(findSpiffeIds(uris)?.trustDomain).toBe(want);
  });

  it('a trust domain ends at the path', () => {
    expect(['spiffe://a', 'spiffe://a/b/c', 'spiffe://'].map(readTrustDomain)).toEqual(['a', 'a', '']);
  });

  it('has one of the expected names, exactly or by its beginning', async () => {
    const certificate = await certificateOf(west, { uri: 'spiffe://a/b', dns: '*.example.com', ip: '192.0.2.1' });
    const has = (type: 'URI' | 'DNS' | 'IP', value: string, match: 'exact' | 'prefix' = 'exact'): boolean =>
      hasName(certificate, [{ type, match, value }]);
    expect([has('URI', 'spiffe://a/b'), has('URI', 'spiffe://a'), has('URI', 'spiffe://a', 'prefix')]).toEqual([
      true,
      false,
      true,
    ]);
    expect([has('DNS', 'a.example.com'), has('DNS', 'a.b.example.com'), has('DNS', 'example.com')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([has('IP', '192.0.2.1'), has('IP', '192.0.2.2')]).toEqual([true, false]);
    expect(hasName(certificate, [])).toBe(true);
  });
});
