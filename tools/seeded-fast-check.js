/** fast-check as tests import it (jest.config.js): whatever it draws follows from the seed of the run, so a failure repeats. */
const { join } = require('node:path');

const fc = require(join(__dirname, '..', 'node_modules', 'fast-check', 'lib', 'cjs', 'fast-check.js'));

fc.configureGlobal({ seed: Number(process.env.CAUSEWAY_FUZZ_SEED) });

module.exports = fc;
