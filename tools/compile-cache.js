/**
 * Preloaded into every program that a test run starts (jest-global-setup.js): keeps what V8 compiled of the bundles in `dist/` from one start to
 * the next, since compiling 5 to 12 MB is half of what a start costs. Node has it itself from 22.1 (`NODE_COMPILE_CACHE`); on Node 20 this does it.
 */
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join, relative, sep } = require('node:path');
const { Script, constants } = require('node:vm');

const root = join(__dirname, '..');
const FOLDER = join(root, 'node_modules', '.cache', 'compiled');

/** Smaller modules cost less to compile than to look up. */
const MIN_LENGTH = 100_000;

const compile = Module.prototype._compile;

/** What this process compiled and its folder lacks, by the file that it goes to. */
const compiled = new Map();

/** Where the code of a bundle of this repository is kept; undefined for all else. A bundle that is built anew has another time. */
function cacheFile(file) {
  if (!file.includes(`${sep}dist${sep}apps${sep}`)) return undefined;
  const { mtimeMs, size } = statSync(file);
  const name = relative(root, file).replaceAll(/[^\w.]/g, '-');
  return join(FOLDER, `${name}-${size}-${Math.round(mtimeMs)}-${process.version}`);
}

function readCompiled(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function compileCached(content, file) {
  // Node itself compiles where it maps stack traces to sources.
  const kept = content.length >= MIN_LENGTH && !process.sourceMapsEnabled && cacheFile(file);
  if (!kept) return compile.call(this, content, file);
  const cachedData = readCompiled(kept);
  const source = Module.wrap(content.replace(/^#!/, '//'));
  const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script(source, { filename: file, cachedData, importModuleDynamically });
  if (!cachedData || script.cachedDataRejected) compiled.set(kept, script);
  const run = script.runInThisContext();
  return run.call(this.exports, this.exports, Module.createRequire(file), this, file, dirname(file));
}

/** When the process ends, since V8 knows then which functions a run needs. Programs that start together write the same. */
function keepCompiled() {
  for (const [file, script] of compiled) {
    try {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(`${file}.${process.pid}`, script.createCachedData());
      renameSync(`${file}.${process.pid}`, file);
    } catch {
      // A folder that cannot be written costs time only.
    }
  }
}

if (!process.env.NODE_COMPILE_CACHE && Module.enableCompileCache === undefined) {
  Module.prototype._compile = compileCached;
  process.once('exit', keepCompiled);
}
