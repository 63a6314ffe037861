import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');

/** Returns the findings of `npm run check:sizes` about these files. */
function findings(paths: readonly string[], exceptions: Readonly<Record<string, string>> = {}): string[] {
  const program = `import { sizeFindings } from './scripts/lib/sizes.mjs';
    const { paths, exceptions } = JSON.parse(process.argv[1]);
    console.log(JSON.stringify(sizeFindings(paths, exceptions)));`;
  const input = JSON.stringify({ paths, exceptions });
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', program, input], { cwd: REPO });
  return JSON.parse(out.toString()) as string[];
}

const files = (count: number): string[] => Array.from({ length: count }, (_, i) => `libs/x/src/f${i}.ts`);

describe('the check of sizes', () => {
  it('refuses a folder with more than 18 files, specs left out', () => {
    expect(findings([...files(18), 'libs/x/src/f0.spec.ts'])).toEqual([]);
    expect(findings(files(19))).toEqual(['libs/x/src: the folder has 19 files, at most 18 are easy to survey']);
  });

  it('leaves exceptions out, and names those that need none', () => {
    const exceptions = { 'libs/x/src': 'a reason', 'libs/gone/src': 'a reason' };
    expect(findings(files(19), exceptions)).toEqual([
      'libs/gone/src: is an exception and needs none; remove it from scripts/lib/size-exceptions.mjs',
    ]);
  });

  it('is part of npm run check and of CI', () => {
    const run = execFileSync('grep', ['-c', 'check:sizes', 'package.json', '.ci/run'], { cwd: REPO }).toString();
    expect(run).toBe('package.json:2\n.ci/run:1\n');
    expect(existsSync(join(REPO, 'scripts/check-sizes.mjs'))).toBe(true);
  });
});
