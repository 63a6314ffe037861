import { Prng } from '../simulation/engine/prng';

const LARGEST = 2 ** 31;

/**
 * The seed of the fuzzer called `name` in this run: it follows from `CAUSEWAY_FUZZ_SEED`, which scripts/test.mjs and
 * tools/jest-global-setup.js draw afresh and print unless the environment names one.
 */
export function fuzzSeed(name: string): number {
  const run = process.env['CAUSEWAY_FUZZ_SEED'];
  if (run === undefined) throw new Error('CAUSEWAY_FUZZ_SEED is not set: tools/jest-global-setup.js sets it');
  return Math.floor(new Prng(Number(run)).fork(name).next() * LARGEST);
}
