import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { TrialTree } from './trial-tree';

/** A program, a lib of two files, and a test of the lib. */
const FILES: Readonly<Record<string, string>> = {
  'apps/zone/src/main.ts': `import { shipped } from '@causeway/store'; console.log(shipped);`,
  'libs/store/src/index.ts': `export { forNobody, forTests, shipped } from './inner';`,
  'libs/store/src/inner.ts': `
    export const shipped = 1;
    export const forTests = 2;
    export const forNobody = 3;
    export const own = 4;
    export const sum = (): number => own + 1;`,
  'libs/store/src/forgotten.ts': `export const alone = 1;`,
  'libs/store/src/some.spec.ts': `import { sum } from './inner'; sum();`,
  'libs/store/testing/index.ts': `export { own } from '../src/inner'; export const fake = 1;`,
  'test/dns/some.spec.ts': `import { forTests } from '@causeway/store'; import { fake } from '@causeway/store/testing'; fake + forTests;`,
};

interface Report {
  readonly issues: readonly ({ readonly file: string } & Readonly<
    Record<'files' | 'exports', readonly { readonly name: string }[]>
  >)[];
}

describe('the check of unused code', () => {
  const tree = new TrialTree(FILES);
  afterAll(() => tree.remove());

  /** Returns the findings of knip in the sources, each as `file: name`. */
  function findings(...args: string[]): readonly string[] {
    const { issues } = tree.runJson('knip/bin/knip.js', '--reporter', 'json', ...args) as Report;
    return issues
      .filter(({ file }) => file.startsWith('libs/'))
      .flatMap(({ file, files, exports }) => [...files, ...exports].map(({ name }) => `${file}: ${name}`))
      .sort();
  }

  it('finds files and exports that nobody uses, those of an index.ts and of testing among them', () => {
    expect(findings()).toEqual([
      'libs/store/src/forgotten.ts: libs/store/src/forgotten.ts',
      'libs/store/src/index.ts: forNobody',
      'libs/store/src/inner.ts: forNobody',
      'libs/store/src/inner.ts: own',
      'libs/store/testing/index.ts: own',
    ]);
  });

  it('finds what only tests use of an index.ts, and lets a spec import what its file uses', () => {
    const shipped = findings('--production');
    expect(shipped).toContain('libs/store/src/index.ts: forTests');
    expect(shipped).not.toContain('libs/store/src/inner.ts: own');
  });

  it('is part of npm run check and of CI', () => {
    const root = resolve(__dirname, '..', '..');
    const run = execFileSync('grep', ['-c', 'check:unused', 'package.json', '.ci/run'], { cwd: root }).toString();
    expect(run).toBe('package.json:2\n.ci/run:1\n');
  });
});
