/**
 * Lets threads and cluster processes that tests start run TypeScript. In place of a `.ts` file its bundle in `dist/` is started where that is
 * built of these sources; else the file is given the hook `bench/register.cjs`, with which it takes a second of CPU before it works. Programs
 * that Node itself starts with the hook pass it on to theirs without this.
 */
const cluster = require('node:cluster');
const { existsSync } = require('node:fs');
const { basename, join } = require('node:path');
const threads = require('node:worker_threads');

const ROOT = join(__dirname, '..');
const HOOK = ['--require', join(ROOT, 'bench', 'register.cjs')];
const isSource = (file) => String(file).endsWith('.ts');

/** Returns the bundle of a source of ours, undefined where it has none. */
function findBundle(file) {
  if (process.env.CAUSEWAY_TEST_BUNDLES !== 'fresh' || !file.startsWith(join(ROOT, 'libs'))) return undefined;
  const name = `${basename(file, '.ts')}.js`;
  return ['zone', 'agent']
    .map((app) => join(ROOT, 'dist', 'apps', app, 'src', name))
    .find((bundle) => existsSync(bundle));
}

const { Worker } = threads;
const setupPrimary = cluster.setupPrimary.bind(cluster);

threads.Worker = class SourceWorker extends Worker {
  constructor(file, options = {}) {
    const bundle = isSource(file) && findBundle(String(file));
    super(bundle || file, isSource(file) && !bundle ? { ...options, execArgv: HOOK } : options);
  }
};

cluster.setupPrimary = (settings = {}) => {
  if (!isSource(settings.exec)) return setupPrimary(settings);
  const exec = findBundle(settings.exec);
  return setupPrimary(exec ? { ...settings, exec } : { ...settings, execArgv: HOOK });
};
