/**
 * Jest's runtime, with two differences that make a small test file several times as cheap:
 * - Packages are Node's own: a process loads each once, ES modules included, and every test file in it shares them.
 *   Our modules are evaluated anew for each file, as ever.
 * - Scripts run in the context of the process (jest-environment.js) and not in one of their own, in which every access
 *   to a global is a call; and a script is compiled once a process, not once a file.
 */
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

class SharedPackagesRuntime extends Runtime {
  constructor(...args) {
    super(...args);
    const { executor } = this;
    executor.compile = (source, file) => compileModule(source, file, executor.injectedModuleParameters);
  }

  requireModuleOrMock(from, name) {
    if (OURS.test(name) || this._resolution.isCoreModule(name)) return super.requireModuleOrMock(from, name);
    return createRequire(from)(name);
  }
}

module.exports = { __esModule: true, default: SharedPackagesRuntime };
