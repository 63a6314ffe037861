import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ALWAYS, DRAWN } from '../../tools/longest-tests.json';

const ROOT = resolve(__dirname, '..', '..');

/** What runs with the seeds 0 to 3 leave out, or what the module says against the setting. */
function leftOut(setting: string | undefined): readonly (readonly string[])[] | string {
  const script = `import { leftOutTests } from './scripts/lib/drawn-tests.mjs';
    const given = ${setting === undefined ? 'undefined' : JSON.stringify(setting)};
    try { console.log(JSON.stringify([0, 1, 2, 3].map((seed) => leftOutTests(seed, given)))); }
    catch (error) { console.log(JSON.stringify(error.message)); }`;
  const env = { PATH: process.env['PATH'] };
  const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    cwd: ROOT,
    env,
  });
  return JSON.parse(ran.stdout);
}

describe('the long test files of which a run takes a part', () => {
  it('are there', () => {
    expect([...DRAWN, ...ALWAYS].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    expect(new Set([...DRAWN, ...ALWAYS]).size).toBe(DRAWN.length + ALWAYS.length);
  });

  it('each run in one of four, unless a setting says how many, or all', () => {
    const runs = leftOut(undefined);
    if (typeof runs === 'string') throw new Error(runs);
    for (const file of DRAWN) expect([file, runs.filter((out) => !out.includes(file)).length]).toEqual([file, 1]);
    expect(leftOut('4')).toEqual(runs);
    expect(leftOut('all')).toEqual([[], [], [], []]);
    expect(leftOut('1')).toEqual(leftOut('all'));
  });

  it.each(['0', 'none', '1/2', '-1'])('the setting %s is refused', (setting) => {
    expect(leftOut(setting)).toBe(`CAUSEWAY_LONG_TESTS must be "all" or a whole number from 1 to 99; got "${setting}"`);
  });
});
