/** A bare `npx jest` draws the seed of its fuzzers and brings its own Postgres and Redis; under `npm test` they run already and the environment names them. */

// Pure functions need neither, and a start costs a second: `npx jest libs/naming` goes without.
const PURE = /^(?:\.\/)?libs\/(?:resources|naming|routing|policies|ipam|sync|kinds|runtime)(?:\/|$)/;

module.exports = async (globalConfig) => {
  const { drawFuzzSeed } = await import('../scripts/lib/fuzz-seed.mjs');
  drawFuzzSeed();
  const patterns = globalConfig.nonFlagArgs ?? [];
  if (patterns.length > 0 && patterns.every((pattern) => PURE.test(pattern))) return;
  const { startTestServices } = await import('../scripts/lib/test-services.mjs');
  globalThis.stopTestServices = await startTestServices();
};
