/**
 * Jest's runtime, with three differences that make a small test file many times as cheap:
 * - Packages are Node's own: a process loads each once, ES modules included, and every test file in it shares them.
 * - The sources of libs, apps, migrations and `test/support` are shared in the same way: what they keep in a module is a cache of what they
 *   computed, never state (test/repo/declarations.spec.ts). Test files and what stands beside them are evaluated anew.
 * - Scripts run in the context of the process (jest-environment.js) and not in one of their own, in which every access
 *   to a global is a call; and a script is compiled once a process, not once a file.
 */
const { createRequire } = require('node:module');
const { dirname, relative } = require('node:path');
const { Script } = require('node:vm');
const Runtime = require('jest-runtime').default;

// Once a process: Node's own modules are shared by all test files.
require('./jest-source-threads.js');
require('./pooled-keys.js');

// A worker whose Jest was ended ends as well, and with it the programs that its tests started: a test that waits would keep them for minutes.
const { exit } = process;
const endWithJest = () => exit.call(process, 1);
process.once('disconnect', endWithJest);
// A listener keeps the channel open, and the channel the process: at its end Jest takes its own back, and waits half a second.
process.on('removeListener', (event) => {
  if (event === 'message' && process.listenerCount('message') === 0) process.off('disconnect', endWithJest);
});
// Where tests run in Jest's own process, the channel is that of scripts/test.mjs, and nobody takes a listener back.
if (!/\bjest-worker\b/.test(require.main?.filename ?? '')) process.channel?.unref();

/** Modules that Jest itself resolves: ours, by their path or by an alias of jest.config.js, and its own. */
const OURS = /^(?:\.|\/(?!.*\/node_modules\/)|@causeway\/|@jest\/globals$|fast-check$)/;

/** Sources that a process evaluates once. They cannot name `jest`, the object of one test file. */
const SHARED = /^(?:(?:libs|apps)\/[^/]+\/(?:src|testing)|migrations|test\/support)\/(?!.*spec\.ts$).*\.ts$/;

/** The scripts of this process by their file. */
const scripts = new Map();

/** A map of Jest's that outlives the test file: its runtime clears it. */
class KeptMap extends Map {
  clear() {}
}

/** Files by who asks for them and by what name: nothing replaces a module here, so a name leads to the same file for every test file. */
const resolved = new KeptMap();

/** Node's `require` of each file of ours. */
const requires = new Map();

/** The shared modules of this process by their file, and the source maps of all of its scripts. */
const modules = new Map();
const sourceMaps = new Map();

/** The runtime of the test file that runs now: it resolves and compiles what a shared module requires, whichever file loaded it. */
let current;

function provideRequire(from) {
  const known = requires.get(from) ?? createRequire(from);
  requires.set(from, known);
  return known;
}

/** The function of a module that takes `parameters`. */
function compileModule(source, file, parameters) {
  const known = scripts.get(file);
  if (known?.source === source) return known.script.runInThisContext();
  const head = `(function (${parameters.join(', ')}) {`;
  const script = new Script(`${head}${source}\n})`, { filename: file, columnOffset: -head.length });
  scripts.set(file, { source, script });
  return script.runInThisContext();
}

/** Returns the exports of a shared source. One that fails to load is loaded anew when it is asked for again. */
function requireShared(file) {
  const known = modules.get(file);
  if (known) return known.exports;
  const module = { id: file, filename: file, exports: {}, loaded: false };
  modules.set(file, module);
  const requireFrom = Object.assign((name) => current.requireModuleOrMock(file, name), {
    resolve: provideRequire(file).resolve,
  });
  try {
    const parameters = ['module', 'exports', 'require', '__dirname', '__filename'];
    const run = compileModule(current.transformCache.transform(file), file, parameters);
    run.call(module.exports, module, module.exports, requireFrom, dirname(file), file);
    module.loaded = true;
  } catch (error) {
    modules.delete(file);
    throw error;
  }
  return module.exports;
}

class SharedModulesRuntime extends Runtime {
  #root;
  #isWatching;

  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, file) => compileModule(source, file, executor.injectedModuleParameters);
    this.transformCache.sourceMaps = sourceMaps;
    this._resolution.cjsCache = resolved;
    const globalConfig = args.at(-1);
    this.#root = globalConfig.rootDir;
    this.#isWatching = globalConfig.watch || globalConfig.watchAll; // sources change there while the process lives
    current = this;
  }

  /** Jest evaluates `expect` for each file: it takes longer than most tests of pure functions. */
  requireInternalModule(from, name) {
    return name === '@jest/expect' ? provideRequire(from)(name) : super.requireInternalModule(from, name);
  }

  requireModuleOrMock(from, name) {
    if (this._resolution.isCoreModule(name)) return super.requireModuleOrMock(from, name);
    if (!OURS.test(name)) return provideRequire(from)(name);
    if (this.#isWatching || name === '@jest/globals') return super.requireModuleOrMock(from, name);
    const file = this._resolution.resolveCjs(from, name);
    return SHARED.test(relative(this.#root, file).replaceAll('\\', '/'))
      ? requireShared(file)
      : super.requireModuleOrMock(from, name);
  }
}

module.exports = { __esModule: true, default: SharedModulesRuntime };
