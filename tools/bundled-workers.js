/**
 * Bundles of the threads and worker processes that tests start from within: one that is loaded from its sources takes a second of CPU before it
 * works. jest-global-setup.js makes them where a source has changed, jest-source-threads.js starts them.
 */
const { existsSync, readFileSync, statSync, writeFileSync } = require('node:fs');
const { basename, join } = require('node:path');

const ROOT = join(__dirname, '..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'workers');

/** Names the files that the bundles are made of. */
const INPUTS = join(FOLDER, 'inputs.json');

/** Whether no file that the bundles are made of is newer than they are. */
function areFresh() {
  if (!existsSync(INPUTS)) return false;
  const { mtimeMs: madeAt } = statSync(INPUTS);
  const inputs = JSON.parse(readFileSync(INPUTS, 'utf8'));
  return inputs.every((file) => (statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < madeAt);
}

/** Makes the bundles unless they are fresh. */
async function provideWorkers() {
  if (areFresh()) return;
  const { bundleWorkers } = await import('../scripts/lib/bundle.mjs');
  writeFileSync(INPUTS, JSON.stringify(await bundleWorkers(ROOT, FOLDER)));
}

/** Returns the bundle of a source file, undefined where it has none. */
function bundleOf(file) {
  if (!file.startsWith(join(ROOT, 'libs')) || file.includes('testdata')) return undefined;
  const bundle = join(FOLDER, `${basename(file, '.ts')}.js`);
  return existsSync(bundle) ? bundle : undefined;
}

module.exports = { bundleOf, provideWorkers };
