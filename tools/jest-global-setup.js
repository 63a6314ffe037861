/** A bare `npx jest` draws the seed of its fuzzers and brings its own Postgres and Redis; under `npm test` they run already and the environment names them. */

const { join } = require('node:path');
const { provideWorkers } = require('./bundled-workers.js');

// Pure functions need neither, and a start costs a second: `npx jest libs/naming` goes without.
const PURE = /^(?:\.\/)?libs\/(?:resources|naming|routing|policies|ipam|sync|kinds|runtime)(?:\/|$)/;

module.exports = async (globalConfig) => {
  const { drawFuzzSeed } = await import('../scripts/lib/fuzz-seed.mjs');
  drawFuzzSeed();
  await provideWorkers();
  preloadIntoPrograms('compile-cache.js', 'pooled-keys.js');
  leaveOutExtraCertificates();
  const patterns = globalConfig.nonFlagArgs ?? [];
  if (patterns.length > 0 && patterns.every((pattern) => PURE.test(pattern))) return;
  const { startTestServices } = await import('../scripts/lib/test-services.mjs');
  globalThis.stopTestServices = await startTestServices();
};

/** For every program that tests start. */
function preloadIntoPrograms(...files) {
  const hooks = files.map((file) => `--require=${JSON.stringify(join(__dirname, file))}`);
  process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, ...hooks].filter(Boolean).join(' ');
}

/**
 * Certificates that this machine trusts beyond Node's own: every start of a program reads them, which takes longer than the rest of the start of
 * Node. No program of a test reaches another machine but npm, which reads them itself.
 */
function leaveOutExtraCertificates() {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (file === undefined) return;
  delete process.env.NODE_EXTRA_CA_CERTS;
  process.env.npm_config_cafile ??= file;
}
