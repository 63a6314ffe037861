/**
 * Jest's runtime, with three differences that make a small test file several times as cheap:
 * - Packages are Node's own: a process loads each once, ES modules included, and every test file in it shares them.
 *   Our modules are evaluated anew for each file, as ever.
 * - Scripts run in the context of the process (jest-environment.js) and not in one of their own, in which every access
 *   to a global is a call; and a script is compiled once a process, not once a file.
 * - A module is looked up, read and transformed once a process. Nothing replaces a module here (CONTRIBUTING.md: there are no mocks), so a name leads to
 *   the same file for every test file.
 */
const { statSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const Runtime = require('jest-runtime').default;

require('./jest-source-threads.js'); // once a process: Node's own modules are shared by all test files

/** What Jest itself resolves: our modules, by their path or by an alias of jest.config.js, and its own. */
const OURS = /^(?:\.|\/(?!.*\/node_modules\/)|@causeway\/|@jest\/globals$|fast-check$)/;

/** The scripts of this process by their file. */
const scripts = new Map();

/** What transforming a file gave, by the file. */
const transformed = new Map();

/** A map of Jest's that outlives the test file: its runtime clears it. */
class KeptMap extends Map {
  clear() {}
}

/** Files by who asks for them and by what name. */
const resolved = new KeptMap();

/** Node's `require` of each file of ours. */
const requires = new Map();

/** Makes a cache of one test file answer from what this process has transformed. */
function keepTransformed(cache) {
  const transform = cache.transform.bind(cache);
  cache.transform = (file, options) => {
    const { mtimeMs } = statSync(file);
    const known = transformed.get(file);
    if (known?.mtimeMs !== mtimeMs) {
      const code = transform(file, options);
      transformed.set(file, { mtimeMs, code, entry: cache.transforms.get(file) });
      return code;
    }
    // By these Jest finds the lines of an error.
    if (known.entry) cache.transforms.set(file, known.entry);
    if (known.entry?.sourceMapPath) cache.sourceMaps.set(file, known.entry.sourceMapPath);
    return known.code;
  };
}

function requireOf(from) {
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

class SharedPackagesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor, jestGlobals, _testPath: testPath } = this;
    executor.compile = (source, file) => compileModule(source, file, executor.injectedModuleParameters);
    keepTransformed(this.transformCache);
    this._resolution.cjsCache = resolved;
    // One for all modules of a test file: it would differ in what it replaces.
    const jest = jestGlobals.jestObjectFor(testPath);
    jestGlobals.jestObjectFor = () => jest;
  }

  requireInternalModule(from, name) {
    return name === '@jest/expect' ? requireOf(from)(name) : super.requireInternalModule(from, name);
  }

  requireModuleOrMock(from, name) {
    if (this._resolution.isCoreModule(name)) return this.coreModule.require(name);
    if (!OURS.test(name)) return requireOf(from)(name);
    const file = this.findScript(from, name);
    if (file === undefined || this.testState.isTornDown()) return super.requireModuleOrMock(from, name);
    return this.registries.getActiveCjsRegistry().get(file)?.exports ?? this.requireModule(file);
  }

  /** The CommonJS file of ours that a name leads to; Jest itself says what is wrong with a name that leads nowhere. */
  findScript(from, name) {
    if (name === '@jest/globals') return undefined;
    try {
      const file = this._resolution.resolveCjs(from, name);
      return /\.(?:ts|js)$/.test(file) ? file : undefined;
    } catch {
      return undefined;
    }
  }
}

module.exports = { __esModule: true, default: SharedPackagesRuntime };
