import fc from 'fast-check';
import { unifiedDiff } from './diff';

const plain = { color: false };

describe('unifiedDiff', () => {
  it.each<[string, unknown, unknown, readonly string[]]>([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a creation', undefined, { a: 1, b: 2 }, ['@@ -0,0 +1,2 @@', '+a: 1', '+b: 2']],
    ['a deletion', { a: 1 }, undefined, ['@@ -1,1 +0,0 @@', '-a: 1']],
    [
      'a field',
      { a: 1, b: [1, 2] },
      { a: 1, b: [1, 3] },
      ['@@ -1,4 +1,4 @@', ' a: 1', ' b:', '   - 1', '-  - 2', '+  - 3'],
    ],
    [
      'two places far apart',
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, 0])),
      Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, i === 0 || i === 11 ? 1 : 0])),
      [
        ...['@@ -1,4 +1,4 @@', '-k0: 0', '+k0: 1', ' k1: 0', ' k2: 0', ' k3: 0'],
        ...['@@ -9,4 +9,4 @@', ' k8: 0', ' k9: 0', ' k10: 0', '-k11: 0', '+k11: 1'],
      ],
    ],
  ])('shows %s', (_, before, after, want) => {
    expect(unifiedDiff(before, after, plain)).toEqual(want);
  });

  it('has colours on terminals only', () => {
    expect(unifiedDiff({ a: 1 }, { a: 2 }, { color: true }).slice(1)).toEqual([
      '\u001b[31m-a: 1\u001b[39m',
      '\u001b[32m+a: 2\u001b[39m',
    ]);
  });

  it('removes and adds exactly what differs', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const lines = unifiedDiff(before, after, plain).filter((line) => !line.startsWith('@@'));
        const side = (sign: string): string[] =>
          lines.filter((line) => line.startsWith(sign) || line.startsWith(' ')).map((line) => line.slice(3));
        // Equal lines at the ends are left out of both sides alike.
        expect(before.join('')).toContain(side('-').join(''));
        expect(after.join('')).toContain(side('+').join(''));
        expect(side('-').length - side('+').length).toBe(lines.length === 0 ? 0 : before.length - after.length);
      }),
    );
  });
});
