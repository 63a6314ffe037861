/** Lets Node run the TypeScript of this repository without a build: `node -r ./bench/register.cjs bench/plan-hostnames.ts`. */
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');

const root = join(__dirname, '..');
const resolve = Module._resolveFilename;

/** As `paths` of tsconfig.json has it. */
function folderOf(lib) {
  if (lib === 'migrations') return 'migrations';
  const [name, folder = 'src'] = lib.split('/');
  return join(name === 'control-plane' ? 'apps' : 'libs', name, folder);
}

Module._resolveFilename = function (request, ...rest) {
  const lib = /^@causeway\/([^/]+(?:\/testing)?)$/.exec(request)?.[1];
  if (lib === undefined) {
    // Modules that are loaded when they are needed name the file that the build makes of them.
    const source =
      /^\.{1,2}\/.*\.js$/.test(request) && join(dirname(rest[0]?.filename ?? ''), request.replace(/\.js$/, '.ts'));
    return source && existsSync(source) ? source : resolve.call(this, request, ...rest);
  }
  return resolve.call(this, join(root, folderOf(lib), 'index.ts'), ...rest);
};

const options = {
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    target: 'es2022',
    transform: { decoratorMetadata: false },
  },
};

/** JavaScript by the hash of its source: with it a program of 600 files starts in two thirds of the CPU time. */
const CACHE = join(root, 'node_modules', '.cache', 'transformed');
const { version } = require('@swc/core/package.json');
const settings = JSON.stringify([version, options]);

require.extensions['.ts'] = (module, filename) => {
  const source = readFileSync(filename, 'utf8');
  const cached = join(CACHE, createHash('sha1').update(`${settings}\0${filename}\0${source}`).digest('hex'));
  module._compile(read(cached) ?? transform(source, filename, cached), filename);
};

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function transform(source, filename, cached) {
  // Loaded where it is needed: it takes a while itself.
  const { code } = require('@swc/core').transformSync(source, { ...options, filename });
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${cached}.${process.pid}`, code);
    renameSync(`${cached}.${process.pid}`, cached); // processes that start together write the same
  } catch {
    // A folder that cannot be written costs time only.
  }
  return code;
}
