import { TrustVersions } from './served-resources';

describe('the trust secrets that were served lately', () => {
  it('are known of every mesh, however many there are; of each the latest', () => {
    const versions = new TrustVersions();
    const all = Array.from({ length: 5_000 }, (_, mesh) => `v${mesh}`);
    for (const [mesh, version] of all.entries()) versions.served(`m${mesh}`, { version }, []);
    expect(all.filter((version) => versions.of(version) === undefined)).toEqual([]);
    for (let i = 0; i < 16; i++) versions.served('m0', { version: `new-${i}` }, []);
    expect([versions.of('v0'), versions.of('v1'), versions.of('new-0')]).toEqual([undefined, [], []]);
  });

  it('stay while another mesh has the same one, and when they are served again', () => {
    const versions = new TrustVersions();
    for (const mesh of ['a', 'b']) versions.served(mesh, { version: 'same' }, []);
    for (let i = 0; i < 20; i++) {
      versions.served('a', { version: `a-${i}` }, []);
      versions.served('b', { version: `b-${i % 2}` }, []);
    }
    expect([versions.of('same'), versions.of('a-0'), versions.of('b-1')]).toEqual([[], undefined, []]);
  });
});
