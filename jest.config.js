// A process loads grpc-js-xds once for all its test files (tools/jest-runtime.js), and it looks then whether it is to know
// rules about callers.
process.env.GRPC_XDS_EXPERIMENTAL_RBAC = 'true';

const typescript = {
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: false, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
};

/** The scripts, which run before anything is compiled: on Node 20 Jest cannot load an ES module from a CommonJS one. */
const script = {
  jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } },
  module: { type: 'commonjs', importInterop: 'node' },
  sourceMaps: false,
};

/** Tests that take minutes run where they are asked for: `npm run test:long`, or by their file (CONTRIBUTING.md). */
const LONG_TESTS = '\\.long\\.spec\\.ts$';
const asksForLongTests = process.argv.some((argument) => argument.includes('.long'));

/** Our modules are compiled to CommonJS; packages are loaded by Node (tools/jest-runtime.js). */
module.exports = {
  runtime: '<rootDir>/tools/jest-runtime.js',
  testEnvironment: '<rootDir>/tools/jest-environment.js',
  testSequencer: '<rootDir>/tools/jest-sequencer.js',
  // Each file evaluates its modules anew, and Node is slow to let go of the old ones.
  workerIdleMemoryLimit: '1GB',
  testTimeout: 300_000, // a busy machine is no failure; a wait that never ends is
  globalSetup: '<rootDir>/tools/jest-global-setup.js',
  globalTeardown: '<rootDir>/tools/jest-global-teardown.js',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(asksForLongTests ? [] : [LONG_TESTS])],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  transform: { '\\.ts$': ['@swc/jest', typescript], '\\.mjs$': ['@swc/jest', script] },
  moduleNameMapper: {
    '^fast-check$': '<rootDir>/tools/seeded-fast-check.js',
    // A dynamic import of ours names the compiled file.
    '^(\\./(?:commands?|settings)/.*)\\.js$': '$1',
    '^(\\./(?:grpc|rest)/[a-z]+(?:-[a-z]+)*)\\.js$': '$1',
    '^(\\./(?:bootstrap|control-plane|dataplane-selection|declared-kinds|find-command|grpc-files|migrated-template|options|otlp-spans|server-versions))\\.js$':
      '$1',
    '^@causeway/migrations$': '<rootDir>/migrations',
    '^@causeway/control-plane$': '<rootDir>/apps/control-plane/src',
    '^@causeway/control-plane/testing$': '<rootDir>/apps/control-plane/testing',
    '^@causeway/([^/]+)$': '<rootDir>/libs/$1/src',
    '^@causeway/([^/]+)/testing$': '<rootDir>/libs/$1/testing',
  },
};
