/**
 * Lets threads and cluster processes that tests start run TypeScript: in place of a `.ts` file its bundle is started, and where it has none
 * it is given the hook `bench/register.cjs`. Programs that Node itself starts with the hook pass it on to theirs without this.
 */
const cluster = require('node:cluster');
const { join } = require('node:path');
const threads = require('node:worker_threads');
const { bundleOf } = require('./bundled-workers.js');

const HOOK = ['--require', join(__dirname, '..', 'bench', 'register.cjs')];
const isSource = (file) => String(file).endsWith('.ts');
const { Worker } = threads;
const setupPrimary = cluster.setupPrimary.bind(cluster);

threads.Worker = class SourceWorker extends Worker {
  constructor(file, options = {}) {
    const bundle = isSource(file) && bundleOf(String(file));
    super(bundle || file, isSource(file) && !bundle ? { ...options, execArgv: HOOK } : options);
  }
};

cluster.setupPrimary = (settings = {}) => {
  if (!isSource(settings.exec)) return setupPrimary(settings);
  const exec = bundleOf(settings.exec);
  return setupPrimary(exec ? { ...settings, exec } : { ...settings, execArgv: HOOK });
};
