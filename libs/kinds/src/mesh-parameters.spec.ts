import { FieldPath } from '@causeway/resources';
import { checkMeshParameters } from './mesh-parameters';

const GOOD = 'spiffe://default.east.mesh.local/workload/redis';

describe('revokedIdentities of a mesh', () => {
  it.each<[string, unknown[], readonly [field: string, rule: string], RegExp]>([
    ['a name', ['redis'], ['[0]', 'wrong-form'], /is no SPIFFE id: .*; got "redis"/],
    ['the second of two', [GOOD, 'https://a.b/c'], ['[1]', 'wrong-form'], /is no SPIFFE id: .*; got "https:/],
    ['a port', ['spiffe://east:443/redis'], ['[0]', 'wrong-form'], /got "spiffe:\/\/east:443/],
    ['a domain in upper case', ['spiffe://East/redis'], ['[0]', 'wrong-form'], /got "spiffe:\/\/East/],
    ['an empty text', [''], ['[0]', 'required'], /empty/],
    ['one that is too long', [`spiffe://a/${'b'.repeat(2_048)}`], ['[0]', 'too-long'], /2048/],
    ['a number', [7], ['[0]', 'wrong-type'], /string/],
    ['too many', Array.from({ length: 65 }, (_, i) => `${GOOD}-${i}`), ['', 'too-many'], /64/],
  ])('%s is refused with field, rule and value', (_, revokedIdentities, [field, rule], reason) => {
    const [found, ...others] = checkMeshParameters({ revokedIdentities }, FieldPath.at('spec'));
    expect(found).toMatchObject({ field: `spec.revokedIdentities${field}`, rule });
    expect(found?.reason).toMatch(reason);
    expect(others).toEqual([]);
  });

  it('ids of any trust domain are taken', () => {
    const revokedIdentities = [GOOD, 'spiffe://default/redis'];
    expect(checkMeshParameters({ revokedIdentities }, FieldPath.at('spec'))).toEqual([]);
  });
});
