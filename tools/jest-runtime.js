/**
 * Jest's runtime, with differences that make a small test file several times as cheap:
 * - Packages are Node's own: a process loads each once, ES modules included, and every test file in it shares them.
 *   Our modules are evaluated anew for each file, as ever.
 * - Scripts run in the context of the process (jest-environment.js) and not in one of their own, in which every access
 *   to a global is a call; and a module is found, transformed and compiled once a process, not once a file.
 */
const { statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const Runtime = require('jest-runtime').default;

// Once a process: Node's own modules are shared by all test files.
require('./jest-source-threads.js');
require('./pooled-keys.js');

/** What Jest itself resolves: our modules, by their path or by an alias of jest.config.js, and its own. */
const OURS = /^(?:\.|\/(?!.*\/node_modules\/)|@causeway\/|@jest\/globals$|fast-check$)/;

/** The scripts of this process by their file. */
const scripts = new Map();

/** The function of a module that takes `parameters`. */
function compileModule(source, file, parameters) {
  const known = scripts.get(file);
  if (known?.source === source) return known.script.runInThisContext();
  const head = `(function (${parameters.join(', ')}) {`;
  const script = new Script(`${head}${source}\n})`, { filename: file, columnOffset: -head.length });
  scripts.set(file, { source, script });
  return script.runInThisContext();
}

/** What each module of this process was transformed to, by its file, with the time of its source. */
const transformed = new Map();

/** The files that modules were found in, by who asked and for what. */
const resolved = new Map();

/** Keeps what a cache of one test file transforms for those that come after it: to look it up on disk takes longer than to evaluate it. */
function keepTransformed(cache) {
  const transform = cache.transform.bind(cache);
  cache.transform = (file, options) => {
    if (options?.isInternalModule) return transform(file, options);
    const { mtimeMs } = statSync(file);
    const known = transformed.get(file);
    if (known?.mtimeMs !== mtimeMs) {
      const code = transform(file, options);
      transformed.set(file, { mtimeMs, made: cache.transforms.get(file) });
      return code;
    }
    cache.transforms.set(file, known.made);
    if (known.made.sourceMapPath) cache.sourceMaps.set(file, known.made.sourceMapPath);
    return known.made.code;
  };
}

/** As `keepTransformed`, of where modules are; one that is not there is looked for each time. */
function keepResolved(resolution) {
  const resolve = resolution.resolveCjs.bind(resolution);
  resolution.resolveCjs = (from, name) => {
    const key = `${from}\0${name}`;
    const found = resolved.get(key) ?? resolve(from, name);
    resolved.set(key, found);
    return found;
  };
}

class SharedPackagesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, file) => compileModule(source, file, executor.injectedModuleParameters);
    keepTransformed(this.transformCache);
    keepResolved(this._resolution);
  }

  requireModuleOrMock(from, name) {
    if (OURS.test(name) || this._resolution.isCoreModule(name)) return super.requireModuleOrMock(from, name);
    return createRequire(from)(name);
  }
}

module.exports = { __esModule: true, default: SharedPackagesRuntime };
