import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

function run(...args: string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
}

/** Lines of each package that the tool counts in these files: a path and a number of lines each. */
function count(files: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const program = `import { countLines } from './tools/count-lines.mjs';
    const files = Object.entries(JSON.parse(process.argv[1])).map(([path, n]) => ({ path, text: 'a line\\n'.repeat(n) }));
    console.log(JSON.stringify(Object.fromEntries(countLines(files))));`;
  return JSON.parse(run('--input-type=module', '-e', program, JSON.stringify(files)).stdout);
}

describe('the count of source lines', () => {
  it('adds the TypeScript files below src of each app and lib, sorted', () => {
    const files = { 'libs/store/src/a.ts': 2, 'libs/store/src/area/b.ts': 3, 'apps/zone/src/main.ts': 5 };
    expect(count(files)).toEqual({ 'apps/zone': 5, 'libs/store': 5 });
    expect(Object.keys(count(files))).toEqual(['apps/zone', 'libs/store']);
  });

  it.each([
    ['generated code', 'libs/proto-gen/src/gen/a.ts'],
    ['specs', 'libs/store/src/a.spec.ts'],
    ['specs of programs', 'apps/zone/src/a.e2e-spec.ts'],
    ['suites of tests', 'libs/store/testing/conformance/rows.ts'],
    ['fakes of tests', 'libs/store/testing/memory/memory-store.ts'],
    ['what a lib offers to tests', 'libs/kds/src/testing/index.ts'],
    ['a server of tests', 'libs/rest/src/rest-server.ts'],
    ['SQL', 'libs/store-postgres/src/write/write.sql'],
    ['what is not below src', 'libs/store/testing/memory-store.ts'],
    ['tests', 'test/support/until.ts'],
  ])('leaves out %s', (_, path) => {
    expect(count({ [path]: 7 })).toEqual({});
  });

  it('counts a revision as it counts the working tree, and says which it counted', () => {
    const sum = (...args: string[]): RegExpExecArray | null =>
      /^ *(\d+) {2}(in the working tree|at HEAD)\n$/m.exec(run('tools/count-lines.mjs', ...args).stdout);
    expect(sum()?.[2]).toBe('in the working tree');
    expect(sum('HEAD')?.[2]).toBe('at HEAD');
    expect(Number(sum('HEAD')?.[1])).toBeGreaterThan(50_000);
  });

  it('refuses what is no revision', () => {
    expect(run('tools/count-lines.mjs', 'no-such-revision')).toMatchObject({
      status: 1,
      stderr: "count-lines: 'no-such-revision' is no revision of this repository\n",
    });
  });
});
