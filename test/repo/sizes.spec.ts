import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const REPO = resolve(__dirname, '..', '..');

/** What `npm run check:sizes` says of these files: a path and a text each. */
function findings(
  files: Readonly<Record<string, string>>,
  exceptions: Readonly<Record<string, string>> = {},
): string[] {
  const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
  const program = `import { sizeFindings } from './scripts/lib/sizes.mjs';
    const { sources, exceptions } = JSON.parse(process.argv[1]);
    console.log(JSON.stringify(sizeFindings(sources, exceptions)));`;
  const input = JSON.stringify({ sources, exceptions });
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', program, input], { cwd: REPO });
  return JSON.parse(out.toString()) as string[];
}

const lines = (count: number, first = ''): string => `${first}\n${'// a line\n'.repeat(count - 1)}`;

describe('the check of sizes', () => {
  it('warns of a file over 250 lines, specs left out', () => {
    expect(
      findings({ 'libs/x/src/a.ts': lines(250), 'libs/x/src/b.ts': lines(251), 'libs/x/src/b.spec.ts': lines(900) }),
    ).toEqual(['libs/x/src/b.ts: has 251 lines, more than 250']);
  });

  it('warns of a file under 40 lines that one other file imports', () => {
    const files = {
      'libs/x/src/index.ts': "export { a } from './a';\nexport { small } from './exported';\n",
      'libs/x/src/a.ts': lines(60, "import { one } from './area/small';\nimport { two } from './shared';"),
      'libs/x/src/b.ts': lines(60, "import { two } from './shared';"),
      'libs/x/src/area/small.ts': lines(39),
      'libs/x/src/shared.ts': lines(10),
      'libs/x/src/exported.ts': lines(10),
    };
    expect(findings(files)).toEqual([
      'libs/x/src/area/small.ts: has 39 lines and one importer, libs/x/src/a.ts: it belongs there',
    ]);
  });

  it('warns of a folder with more than 15 files', () => {
    const files = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`libs/x/src/f${i}.ts`, lines(60)]));
    expect(findings(files)).toEqual(['libs/x/src: the folder has 16 files, at most 15 are easy to survey']);
  });

  it('leaves exceptions out, and names those that need none', () => {
    const files = { 'libs/x/src/b.ts': lines(251) };
    const exceptions = { 'libs/x/src/b.ts': 'a reason', 'libs/x/src/gone.ts': 'a reason' };
    expect(findings(files, exceptions)).toEqual([
      'libs/x/src/gone.ts: is an exception and needs none; remove it from scripts/lib/size-exceptions.mjs',
    ]);
  });

  it('is part of npm run check and of CI', () => {
    const run = execFileSync('grep', ['-c', 'check:sizes', 'package.json', '.ci/run'], { cwd: REPO }).toString();
    expect(run).toBe('package.json:2\n.ci/run:1\n');
    expect(existsSync(join(REPO, 'scripts/check-sizes.mjs'))).toBe(true);
  });
});
