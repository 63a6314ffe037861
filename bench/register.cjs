/** Lets Node run the TypeScript of this repository without a build: `node -r ./bench/register.cjs bench/plan-hostnames.ts`. */
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');

const root = join(__dirname, '..');
const resolve = Module._resolveFilename;

Module._resolveFilename = function (request, ...rest) {
  const lib = /^@causeway\/([^/]+)$/.exec(request)?.[1];
  if (lib === undefined) return resolve.call(this, request, ...rest);
  const file = lib === 'migrations' ? join(root, 'migrations', 'index.ts') : join(root, 'libs', lib, 'src', 'index.ts');
  return resolve.call(this, file, ...rest);
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
