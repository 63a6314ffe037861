/**
 * fast-check as tests import it (jest.config.js): whatever it draws follows from the seed of the run, so a failure repeats.
 * CAUSEWAY_FUZZ_TIMES=20 draws twenty times as many cases, of which the first are those of the seed.
 */
const { join } = require('node:path');

const fc = require(join(__dirname, '..', 'node_modules', 'fast-check', 'lib', 'cjs', 'fast-check.js'));

const DEFAULT_RUNS = 100; // fast-check's own

const times = Number(process.env.CAUSEWAY_FUZZ_TIMES ?? 1);
if (!Number.isInteger(times) || times < 1)
  throw new Error(`CAUSEWAY_FUZZ_TIMES must be a whole number from 1; got "${process.env.CAUSEWAY_FUZZ_TIMES}"`);

fc.configureGlobal({ seed: Number(process.env.CAUSEWAY_FUZZ_SEED) });

const assert = (property, { numRuns = DEFAULT_RUNS, ...others } = {}) =>
  fc.assert(property, { ...others, numRuns: numRuns * times });

module.exports = { ...fc, assert, default: { ...fc.default, assert } };
