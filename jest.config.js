/** Tests run as CommonJS; every ES module, those of node_modules included, is compiled by tools/jest-swc-transformer.js. */
module.exports = {
  testEnvironment: 'node',
  // Each file evaluates its modules anew, and Node is slow to let go of the old ones.
  workerIdleMemoryLimit: '1GB',
  testTimeout: 90_000, // a busy machine is no failure; a wait that never ends is
  globalSetup: '<rootDir>/tools/jest-global-setup.js',
  globalTeardown: '<rootDir>/tools/jest-global-teardown.js',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '**/*.e2e-spec.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  transform: { '\\.([cm]?ts|m?js)$': '<rootDir>/tools/jest-swc-transformer.js' },
  transformIgnorePatterns: ['/node_modules/(typescript|@swc)/'],
  moduleNameMapper: {
    '^(\\./(?:command|find-command|settings).*)\\.js$': '$1', // modules that the command line tool loads late
    '^fast-check$': '<rootDir>/tools/seeded-fast-check.js',
    // A dynamic import of ours names the compiled file.
    '^(\\./(?:grpc|rest)/[a-z]+-api-client)\\.js$': '$1',
    '^@causeway/migrations$': '<rootDir>/migrations',
    '^@causeway/control-plane$': '<rootDir>/apps/control-plane/src',
    '^@causeway/([^/]+)$': '<rootDir>/libs/$1/src',
  },
};
