import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');

/** The two folders of one folder in which these files are; undefined where one contains the other. */
function siblingsOf(from: string, to: string): readonly [parent: string, from: string, to: string] | undefined {
  const [a, b] = [posix.dirname(from).split('/'), posix.dirname(to).split('/')];
  const at = a.findIndex((part, i) => part !== b[i]);
  const [one, other] = [a[at], b[at]];
  return one === undefined || other === undefined ? undefined : [a.slice(0, at).join('/'), one, other];
}

/** Pairs of folders of which files import each other both ways. */
function mutualPairs(sources: ReadonlyMap<string, string>): readonly string[] {
  const imports = new Set<string>();
  const pairs = new Set<string>();
  for (const [file, text] of sources) {
    for (const [, target = ''] of text.matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)) {
      const siblings = siblingsOf(file, posix.join(posix.dirname(file), target));
      if (!siblings) continue;
      const [parent, from, to] = siblings;
      imports.add(`${parent}: ${from} → ${to}`);
      if (imports.has(`${parent}: ${to} → ${from}`)) pairs.add(`${parent}/{${[from, to].sort().join(', ')}}`);
    }
  }
  return [...pairs].sort();
}

it('finds folders that import each other both ways', () => {
  const there = ['libs/x/src/a/one.ts', `import { two } from '../b/two';`] as const;
  const back = ['libs/x/src/b/inner/three.ts', `export type { One } from '../../a/one';`] as const;
  expect(mutualPairs(new Map([there, back]))).toEqual(['libs/x/src/{a, b}']);
  expect(mutualPairs(new Map([there]))).toEqual([]);
});

it('folders of a lib do not import each other both ways', () => {
  const listed = execFileSync('git', ['ls-files', 'apps/*/src/*.ts', 'libs/*/src/*.ts'], {
    cwd: REPO,
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((path) => path !== '' && !/spec\.ts$|\/gen\//.test(path));
  expect(mutualPairs(new Map(files.map((path) => [path, readFileSync(join(REPO, path), 'utf8')])))).toEqual([]);
});
