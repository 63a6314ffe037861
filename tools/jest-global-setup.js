/** A bare `npx jest` draws the seed of its fuzzers and brings its own Postgres and Redis; under `npm test` they run already and the environment names them. */

const { join } = require('node:path');

// Pure functions need neither, and a start costs a second: `npx jest libs/naming` goes without.
const PURE = /^(?:\.\/)?libs\/(?:resources|naming|routing|policies|ipam|sync|kinds|runtime)(?:\/|$)/;

module.exports = async (globalConfig) => {
  const { drawFuzzSeed } = await import('../scripts/lib/fuzz-seed.mjs');
  drawFuzzSeed();
  preloadCompileCache();
  const patterns = globalConfig.nonFlagArgs ?? [];
  if (patterns.length > 0 && patterns.every((pattern) => PURE.test(pattern))) return;
  const { startTestServices } = await import('../scripts/lib/test-services.mjs');
  globalThis.stopTestServices = await startTestServices();
};

/** For every program that tests start. */
function preloadCompileCache() {
  const hook = `--require=${JSON.stringify(join(__dirname, 'compile-cache.js'))}`;
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, hook].filter(Boolean).join(' ');
}
