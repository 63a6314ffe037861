import fc from 'fast-check';
import { painter } from './colour';
import { unifiedDiff } from './diff';
import { printed } from './printer';

const plain = painter(false);

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
        '@@ -1,4 +1,4 @@',
        '-k0: 0',
        '+k0: 1',
        ' k1: 0',
        ' k2: 0',
        ' k3: 0',
        '@@ -9,4 +9,4 @@',
        ' k8: 0',
        ' k9: 0',
        ' k10: 0',
        '-k11: 0',
        '+k11: 1',
      ],
    ],
  ])('shows %s', (_, before, after, want) => {
    expect(unifiedDiff(before, after, plain)).toEqual(want);
  });

  it('has colours on terminals only', () => {
    expect(unifiedDiff({ a: 1 }, { a: 2 }, painter(true)).slice(1).map(printed)).toEqual([
      '\u001b[31m-a: 1\u001b[39m',
      '\u001b[32m+a: 2\u001b[39m',
    ]);
  });

  describe('of any two lists', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 24 });
    const linesOf = (items: readonly string[]): string[] =>
      items.length === 0 ? ['[]'] : items.map((item) => `- ${item}`);

    it('makes the one of the other, and the other of the one backwards', () => {
      fc.assert(
        fc.property(list, list, (before, after) => {
          const diff = unifiedDiff(before, after, plain);
          // A hunk is applied by its head.
          expect(patched(linesOf(before), diff, '-')).toEqual(linesOf(after));
          expect(patched(linesOf(after), diff, '+')).toEqual(linesOf(before));
        }),
      );
    });

    it('removes and adds as few lines as can be', () => {
      fc.assert(
        fc.property(list, list, (before, after) => {
          const changes = unifiedDiff(before, after, plain).filter((line) => /^[-+]/.test(line));
          const [old, now] = [linesOf(before), linesOf(after)];
          expect(changes.length).toBe(old.length + now.length - 2 * lcsLength(old, now));
        }),
      );
    });
  });
});

/** The lines of one side (`-` the old, `+` the new) changed into the other's; throws where a hunk does not fit. */
function patched(lines: readonly string[], diff: readonly string[], side: '-' | '+'): readonly string[] {
  const result: string[] = [];
  let at = 0;
  const left = { '-': 0, '+': 0 };
  for (const line of diff) {
    const head = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line)?.slice(1).map(Number);
    if (head) {
      expect(left).toEqual({ '-': 0, '+': 0 });
      const [oldStart = 0, oldCount = 0, newStart = 0, newCount = 0] = head;
      [left['-'], left['+']] = [oldCount, newCount];
      const [from, to] = side === '-' ? [oldStart, newStart] : [newStart, oldStart];
      const [count, made] = side === '-' ? [oldCount, newCount] : [newCount, oldCount];
      // An empty side is named by the line before it.
      result.push(...lines.slice(at, (at = count === 0 ? from : from - 1)));
      expect(result.length).toBe(made === 0 ? to : to - 1);
      continue;
    }
    const [sign, text] = [line.slice(0, 1), line.slice(1)];
    if (sign !== '+') left['-'] -= 1;
    if (sign !== '-') left['+'] -= 1;
    if (sign === ' ' || sign === side) expect(lines[at++]).toBe(text);
    if (sign !== side) result.push(text);
  }
  expect(left).toEqual({ '-': 0, '+': 0 });
  return [...result, ...lines.slice(at)];
}

/** The length of the longest common subsequence, by its definition; for short lists. */
function lcsLength(one: readonly string[], other: readonly string[]): number {
  let row: number[] = Array(other.length + 1).fill(0);
  for (const line of one) {
    const next = [0];
    for (const [j, candidate] of other.entries())
      next.push(line === candidate ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0));
    row = next;
  }
  return row[other.length] ?? 0;
}
