import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compareWithBudget, folderOf, sumByFolder } from '../../scripts/lib/test-budget.mjs';
import longest from '../../tools/longest-tests.json';
import budget from '../../tools/test-budget.json';

const ROOT = resolve(__dirname, '..', '..');

/** CPU seconds that two cores give in 15 and in 10 minutes. Jest itself, Postgres and Redis work in what tests leave of them when they wait. */
const LIMITS = { tests: 15 * 60 * 2, long: 10 * 60 * 2 };

/** The test files below the root, those of `npm run test:long` or all others. */
function testFiles(suite: keyof typeof budget): readonly string[] {
  const files = ['apps', 'libs', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  return files.filter((file) => /[.-]spec\.ts$/.test(file) && file.endsWith('.long.spec.ts') === (suite === 'long'));
}

const lines = (...files: readonly [string, number][]): string => files.map((file) => JSON.stringify(file)).join('\n');

describe('the budget of tests', () => {
  it('sums the files of a folder', () => {
    const taken = sumByFolder(
      lines(['test/agent/a.spec.ts', 2], ['libs/kds/src/x/b.spec.ts', 3], ['test/agent/c.spec.ts', 4.5]),
    );
    expect(Object.fromEntries(taken)).toEqual({ 'test/agent': 6.5, 'libs/kds': 3 });
  });

  it('holds where one folder takes more and another less, and names the one', () => {
    const found = compareWithBudget(
      new Map([
        ['test/agent', 12],
        ['libs/kds', 3],
      ]),
      { 'test/agent': 10, 'libs/kds': 5 },
    );
    expect(found).toEqual({
      ok: true,
      lines: [
        'test files took 15 s of CPU; tools/test-budget.json allows 15',
        'above their own budget, within that of all: test/agent 12 of 10',
      ],
    });
  });

  it.each([
    [16, true],
    [18, true],
    [19, false],
  ])('says that the sum is above where 15 s took %d, and fails where it is a quarter above', (took, ok) => {
    const taken = new Map([
      ['test/agent', took - 3],
      ['libs/kds', 3],
    ]);
    expect(compareWithBudget(taken, { 'test/agent': 10, 'libs/kds': 5 })).toEqual({
      ok,
      lines: [
        `test files took ${took} s of CPU; tools/test-budget.json allows 15`,
        `the tests take more than their budget: test/agent ${took - 3} of 10`,
      ],
    });
  });

  it('fails where a folder has none', () => {
    const found = compareWithBudget(
      new Map([
        ['test/new', 1],
        ['libs/kds', 3],
      ]),
      { 'libs/kds': 5 },
    );
    expect(found).toMatchObject({ ok: false });
    expect(found.lines).toContain('folders without a budget in tools/test-budget.json: test/new');
  });
});

describe.each(['tests', 'long'] as const)('tools/test-budget.json, %s', (suite) => {
  it('has the folders that have tests and no other', () => {
    expect(Object.keys(budget[suite])).toEqual([...new Set(testFiles(suite).map(folderOf))].sort());
  });

  it('fits into the time of two cores', () => {
    const sum = Object.values(budget[suite]).reduce((total, seconds) => total + seconds, 0);
    expect(sum).toBeLessThanOrEqual(LIMITS[suite]);
  });
});

it('the files that Jest begins with are there', () => {
  expect(longest.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
