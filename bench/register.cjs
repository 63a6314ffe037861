/** Lets Node run the TypeScript of this repository without a build: `node -r ./bench/register.cjs bench/plan-hostnames.ts`. */
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { dirname, join } = require('node:path');
const { transformSync } = require('@swc/core');

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

require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: {
      parser: { syntax: 'typescript', decorators: true },
      target: 'es2022',
      transform: { decoratorMetadata: true },
    },
  });
  module._compile(code, filename);
};
