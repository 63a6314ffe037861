import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { fuzzSeed } from '../support/fuzz-seed';

const ROOT = resolve(__dirname, '..', '..');

/** Returns the output of the module and the seed that it sets, in an environment of which only the seed matters. */
function drawn(given: string | undefined): { readonly seed: string; readonly said: string; readonly error: string } {
  const script = `import { drawFuzzSeed } from './scripts/lib/fuzz-seed.mjs';
    const env = ${JSON.stringify(given === undefined ? {} : { CAUSEWAY_FUZZ_SEED: given })};
    let said = '', error = '';
    try { drawFuzzSeed(env, (line) => (said += line)); } catch (thrown) { error = thrown.message; }
    console.log(JSON.stringify({ seed: env.CAUSEWAY_FUZZ_SEED, said, error }));`;
  const args = ['--input-type=module', '--eval', script];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: 'utf8', cwd: ROOT }).stdout);
}

describe('the seed of a run', () => {
  it('is fresh, and is said with how to repeat it', () => {
    const one = drawn(undefined);
    expect(one.seed).toMatch(/^\d{1,10}$/);
    expect(one.said).toContain(`CAUSEWAY_FUZZ_SEED=${one.seed} repeats`);
    expect(drawn(undefined).seed).not.toBe(one.seed);
  });

  it('is taken from the environment in silence', () => {
    expect(drawn('77')).toEqual({ seed: '77', said: '', error: '' });
  });

  it.each(['x', '-1', '4294967296', '1.5'])('is not %s', (seed) => {
    expect(drawn(seed).error).toContain('must be a whole number');
  });

  it('is what fast-check draws by', () => {
    expect(String(fc.readConfigureGlobal().seed)).toBe(process.env['CAUSEWAY_FUZZ_SEED']);
    expect(fc.sample(fc.nat(), 5)).toEqual(
      fc.sample(fc.nat(), { numRuns: 5, seed: Number(process.env['CAUSEWAY_FUZZ_SEED']) }),
    );
  });

  it('is drawn from as often as the environment says', () => {
    const script = `const fc = require('./tools/seeded-fast-check.js');
      let drawn = 0;
      fc.assert(fc.property(fc.nat(), () => { drawn += 1; }), { numRuns: 7 });
      fc.default.assert(fc.property(fc.nat(), () => { drawn += 1; }));
      console.log(drawn);`;
    const run = (times: string) => {
      const env = { ...process.env, CAUSEWAY_FUZZ_SEED: '1', CAUSEWAY_FUZZ_TIMES: times };
      return spawnSync(process.execPath, ['--eval', script], { encoding: 'utf8', cwd: ROOT, env });
    };
    expect(Number(run('3').stdout)).toBe(3 * (7 + 100));
    expect(run('0').stderr).toContain('CAUSEWAY_FUZZ_TIMES must be a whole number from 1; got "0"');
  });

  it('gives each fuzzer one of its own', () => {
    expect(fuzzSeed('a')).toBe(fuzzSeed('a'));
    expect(fuzzSeed('a')).not.toBe(fuzzSeed('b'));
  });
});
