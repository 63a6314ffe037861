/**
 * Preloaded into every program that a test run starts (jest-global-setup.js): keeps what V8 compiled of the bundles in `dist/` from one start to
 * the next, since compiling 5 to 11 MB is a third of what a start costs. Node has it itself from 22.1 (`NODE_COMPILE_CACHE`); on Node 20 this does
 * it. A script that V8 reads from such a cache can no longer `import()`, so the bundles have none (scripts/lib/bundle.mjs).
 */
const { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { basename, dirname, join, relative, sep } = require('node:path');
const { Script } = require('node:vm');

const root = join(__dirname, '..');
const FOLDER = join(root, 'node_modules', '.cache', 'compiled');

/** Smaller modules cost less to compile than to look up. */
const MIN_LENGTH = 100_000;

const compile = Module.prototype._compile;

/** Compiled code of this process that its folder lacks, by the file that it goes to. */
const compiled = new Map();

/** Returns where the code of a bundle of this repository is kept; undefined for all else. A bundle that is built anew has another time. */
function cacheFile(file) {
  if (!file.startsWith(join(root, 'dist', 'apps') + sep)) return undefined;
  const { mtimeMs, size } = statSync(file);
  return join(
    FOLDER,
    relative(root, file).replaceAll(/[^\w.]/g, '-'),
    `${size}-${Math.round(mtimeMs)}-${process.version}`,
  );
}

function readCompiled(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function compileCached(content, file) {
  // Also with --enable-source-maps, so that stack traces of test runs name lines of the bundle: Node reads a map only of what it compiles itself.
  const kept = content.length >= MIN_LENGTH && cacheFile(file);
  if (!kept) return compile.call(this, content, file);
  const cachedData = readCompiled(kept);
  const script = new Script(Module.wrap(content.replace(/^#!/, '//')), { filename: file, cachedData });
  if (!cachedData || script.cachedDataRejected) compiled.set(kept, script);
  const run = script.runInThisContext();
  return run.call(this.exports, this.exports, Module.createRequire(file), this, file, dirname(file));
}

/** When the process ends, since V8 knows then which functions a run needs. Programs that start together write the same. */
function keepCompiled() {
  for (const [file, script] of compiled) {
    try {
      mkdirSync(dirname(file), { recursive: true });
      const written = `${file}.${process.pid}`;
      writeFileSync(written, script.createCachedData());
      renameSync(written, file);
      for (const other of readdirSync(dirname(file))) {
        if (!other.startsWith(basename(file))) rmSync(join(dirname(file), other), { force: true });
      }
    } catch {
      // A folder that cannot be written costs time only.
    }
  }
}

if (!process.env.NODE_COMPILE_CACHE && Module.enableCompileCache === undefined) {
  Module.prototype._compile = compileCached;
  process.once('exit', keepCompiled);
}
