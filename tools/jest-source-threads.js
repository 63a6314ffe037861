/**
 * Lets threads and cluster processes that tests start run TypeScript: each whose program is a `.ts` file is given the hook
 * `bench/register.cjs`. Programs that Node itself starts with the hook pass it on to theirs without this.
 */
const cluster = require('node:cluster');
const { join } = require('node:path');
const threads = require('node:worker_threads');

const HOOK = ['--require', join(__dirname, '..', 'bench', 'register.cjs')];
const isSource = (file) => String(file).endsWith('.ts');
const { Worker } = threads;
const setupPrimary = cluster.setupPrimary.bind(cluster);

threads.Worker = class SourceWorker extends Worker {
  constructor(file, options = {}) {
    super(file, isSource(file) ? { ...options, execArgv: HOOK } : options);
  }
};

cluster.setupPrimary = (settings = {}) =>
  setupPrimary(isSource(settings.exec) ? { ...settings, execArgv: HOOK } : settings);
