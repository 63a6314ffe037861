import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const rowsOf = (name: string): readonly string[] => {
  const page = readFileSync(join(ROOT, 'docs', 'reference', name), 'utf8');
  return page.split('\n').filter((line) => /^\| (?!\|)/.test(line));
};
const rows = rowsOf('requirements.md');
const traffic = rowsOf('requirements-traffic.md');
const agent = rowsOf('requirements-agent.md');
const firstOf = (each: readonly string[]): readonly string[] => each.map((row) => row.split('|')[1]?.trim() ?? '');
const testsOf = (row: string): readonly (readonly [file: string, words: string])[] =>
  [...row.matchAll(/`([^`]+) › ([^`]+)`/g)].map(([, file = '', words = '']) => [file, words] as const);

describe('docs/reference/requirements.md, requirements-traffic.md and requirements-agent.md', () => {
  it.each([...rows, ...traffic, ...agent])('%s', (row) => {
    const tests = testsOf(row);
    expect(tests).not.toEqual([]);
    for (const [file, words] of tests) {
      const source = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
      expect([file, words, source.includes(words)]).toEqual([file, words, true]);
    }
    for (const [, program = ''] of row.matchAll(/`(bench\/[^`]+)`/g))
      expect([program, existsSync(join(ROOT, program))]).toEqual([program, true]);
  });

  it('names every statement of the seed and every weakness once', () => {
    const first = firstOf(rows);
    const numbers = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, i) => String(from + i));
    const statements = numbers(1, 20).map((n) => `T001-${n.padStart(2, '0')}`);
    expect(first.filter((id) => id.startsWith('T001-'))).toEqual(statements);
    expect(first.filter((id) => /^\d+$/.test(id))).toEqual([...numbers(29, 48), ...numbers(59, 62)]);
  });

  it('names every requirement of traffic and every harmful input once', () => {
    const letters = [...'ABCDEFGHIJKL'];
    expect(firstOf(traffic)).toEqual([...Array.from({ length: 13 }, (_, i) => String(i + 1)), ...letters]);
  });

  it('names what 18 must show and what it builds, each once', () => {
    expect(firstOf(agent)).toEqual([...'12345678', ...'abcdefghi'].map((item) => `18.${item}`));
  });
});
