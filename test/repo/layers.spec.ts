import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { TrialTree } from './trial-tree';

const REPO = resolve(__dirname, '..', '..');

const LIBS =
  'resources naming ipam sync routing policies kinds api yaml runtime store loops dataplanes identity controllers admission queries access store-postgres leader-redis proto-gen kuma grpc-server kds xds-server xds-translation agent-service dns rest grpc-api api-client agent telemetry'.split(
    ' ',
  );
const index = (lib: string): string => `libs/${lib}/src/index.ts`;

/** Each breaks exactly the rule it is named with. */
const OFFENDERS: readonly (readonly [rule: string, file: string, source: string])[] = [
  ['domain-is-pure', 'libs/ipam/src/reads-files.ts', `import 'node:fs';`],
  ['domain-is-pure', 'libs/kinds/src/uses-store.ts', `import '@causeway/store';`],
  ['domain-siblings', 'libs/naming/src/uses-ipam.ts', `import '@causeway/ipam';`],
  ['domain-siblings', 'libs/routing/src/uses-kinds.ts', `import '@causeway/kinds';`],
  ['policies-below-kinds', 'libs/policies/src/uses-kinds.ts', `import '@causeway/kinds';`],
  ['resources-first', 'libs/resources/src/uses-naming.ts', `import '@causeway/naming';`],
  ['api-above-kinds', 'libs/api/src/uses-queries.ts', `import '@causeway/queries';`],
  ['kinds-on-top', 'libs/kinds/src/uses-sync.ts', `import '@causeway/sync';`],
  ['engine-without-adapters', 'libs/controllers/src/uses-nest.ts', `import '@nestjs/common';`],
  ['engine-without-adapters', 'libs/admission/src/uses-rest.ts', `import '@causeway/rest';`],
  ['engine-without-adapters', 'libs/queries/src/uses-nest.ts', `import '@nestjs/common';`],
  ['access-without-adapters', 'libs/access/src/uses-grpc.ts', `import '@grpc/grpc-js';`],
  ['identity-without-adapters', 'libs/identity/src/uses-loops.ts', `import '@causeway/controllers';`],
  ['yaml-is-a-leaf', 'libs/yaml/src/uses-runtime.ts', `import '@causeway/runtime';`],
  ['runtime-first', 'libs/runtime/src/uses-store.ts', `import type { x } from '@causeway/store';`],
  ['store-below', 'libs/store/src/uses-controllers.ts', `import '@causeway/controllers';`],
  ['loops-above-store', 'libs/loops/src/uses-kinds.ts', `import '@causeway/kinds';`],
  ['loops-above-store', 'libs/loops/src/uses-controllers.ts', `import '@causeway/controllers';`],
  ['dataplanes-low', 'libs/dataplanes/src/uses-store.ts', `import '@causeway/store';`],
  ['controllers-above', 'libs/access/src/uses-controllers.ts', `import '@causeway/controllers';`],
  ['meshes-below', 'libs/meshes/src/uses-admission.ts', `import '@causeway/admission';`],
  ['adapters-apart', 'libs/dns/src/uses-rest.ts', `import type { x } from '@causeway/rest';`],
  ['generated-code-apart', 'libs/rest/src/uses-protobuf.ts', `import '@causeway/proto-gen';`],
  ['kuma-below', 'libs/kuma/src/uses-kds.ts', `import '@causeway/kds';`],
  ['kuma-for-sync', 'libs/xds-translation/src/uses-kuma.ts', `import '@causeway/kuma';`],
  ['grpc-server-below', 'libs/grpc-server/src/uses-kds.ts', `import '@causeway/kds';`],
  ['grpc-server-for-servers', 'libs/dns/src/uses-grpc-server.ts', `import '@causeway/grpc-server';`],
  ['agent-on-top', 'libs/agent/src/uses-rest.ts', `import '@causeway/rest';`],
  ['plane-on-the-ground', 'libs/agent/src/plane.ts', `import './envoy/starts';`],
  ['agent-for-its-program', 'apps/zone/src/uses-agent.ts', `import '@causeway/agent';`],
  ['libs-below-apps', 'libs/telemetry/src/uses-app.ts', `import '../../../apps/zone/src/main';`],
  ['apps-apart', 'apps/zone/src/uses-global.ts', `import '../../global/src/main';`],
  ['through-the-index', 'libs/sync/src/reaches-in.ts', `import '../../resources/src/inner';`],
  ['through-the-index-outside', 'apps/zone/src/reaches-in.ts', `import '../../../libs/resources/src/inner';`],
  ['nothing-imports-tests', 'apps/zone/src/ships-tests.ts', `import '@causeway/store/testing';`],
  ['nothing-imports-tests', 'libs/store/src/ships-tests.ts', `import '../testing/rows';`],
  ['through-the-index-outside', 'test/dns/reaches-in.ts', `import '../../libs/store/testing/rows';`],
  ['not-own-index', 'libs/ipam/src/own-index.ts', `import './index';`],
  ['kinds-apart', 'libs/kinds/src/mesh.ts', `import './zone'; defineKind({});`],
  ['no-cycles', 'libs/dns/src/here.ts', `import type { there } from './there'; export const here = 1;`],
  ['nothing-imports-tests', 'libs/dns/src/uses-test.ts', `import '../../../test/support/clock';`],
  ['postgres-only-in-its-adapters', 'libs/rest/src/uses-pg.ts', `import 'pg';`],
  ['re2-only-in-its-adapters', 'libs/kinds/src/uses-re2.ts', `import 're2js';`],
  ['redis-only-in-its-adapters', 'libs/dns/src/uses-redis.ts', `import '@redis/client';`],
  ['grpc-only-in-its-adapters', 'libs/dns/src/uses-grpc.ts', `import '@grpc/grpc-js';`],
  ['migrations-in-one-place', 'libs/rest/src/uses-migrations.ts', `import '@causeway/migrations';`],
  ['migrations-alone', 'migrations/uses-lib.ts', `import '@causeway/resources';`],
  ['shipped-dependencies', 'apps/ctl/src/uses-dev.ts', `import 'fast-check';`],
  ['starter-dependencies', 'apps/ctl/src/uses-bundler.ts', `import 'esbuild';`],
  ['resolvable', 'apps/ctl/src/typo.ts', `import './nowhere';`],
];

const CLEAN: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LIBS.map((lib) => [index(lib), 'export const x = 1;'])),
  'libs/resources/src/inner.ts': `import 'typebox'; import 'node:crypto';`,
  'libs/access/src/inner.ts': `import 'jose'; import '@peculiar/x509'; import '@causeway/store';`,
  'libs/dataplanes/src/inner.ts': `import '@causeway/kinds';`,
  'libs/identity/src/inner.ts': `import '@causeway/dataplanes'; import '@peculiar/x509'; import '@causeway/store'; import 'node:crypto';`,
  'libs/store/testing/index.ts': `import './rows'; import '../src/inner'; export const suite = 1;`,
  'libs/store/testing/rows.ts': `export const rows = 1;`,
  'libs/yaml/src/inner.ts': `import '@causeway/resources'; import 'yaml';`,
  'libs/store/src/inner.ts': `import '@causeway/runtime';`,
  'libs/loops/src/inner.ts': `import '@causeway/store';`,
  'libs/access/src/publisher.ts': `import '@causeway/loops';`,
  'libs/kinds/src/zone.ts': `import '@causeway/naming'; defineKind({});`,
  'libs/kinds/src/core-kinds.ts': `import './mesh'; import './zone';`,
  'libs/dns/src/there.ts': `import { here } from './here'; export const there = here;`,
  'libs/dns/src/inner.ts': `import '@causeway/controllers'; import 'dns-packet';`,
  'libs/kuma/src/inner.ts': `import '@causeway/proto-gen'; import '@causeway/controllers';`,
  'libs/kds/src/inner.ts': `import '@causeway/kuma'; import '@causeway/proto-gen'; import '@grpc/grpc-js';`,
  'libs/store-postgres/src/inner.ts': `import '@causeway/migrations'; import 'pg';`,
  'libs/store-postgres/src/store.spec.ts': `import '@causeway/store/testing'; import '../../../test/support/clock';`,
  'libs/agent/src/envoy/starts.ts': `export const starts = 1;`,
  'libs/agent/src/inner.ts': `import '@causeway/xds-translation'; import '@causeway/dns'; import '@grpc/grpc-js';`,
  'apps/agent/src/main.ts': `import '@causeway/agent';`,
  'apps/global/src/main.ts': `import '@causeway/rest';`,
  'apps/zone/src/main.ts': `import '@causeway/kinds'; import '@causeway/store-postgres';`,
  'migrations/index.ts': `import 'node:fs'; import 'node:path'; import 'typeorm';`,
  'test/support/clock.ts': `import '@causeway/runtime';`,
};

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

describe('the layer rules', () => {
  let violations: readonly string[] = [];

  beforeAll(() => {
    const tree = new TrialTree({
      ...CLEAN,
      ...Object.fromEntries(OFFENDERS.map(([, file, source]) => [file, source])),
    });
    const args = ['apps', 'libs', 'migrations', 'test', '--preserve-symlinks', '--output-type', 'json'];
    const report = tree.runJson('dependency-cruiser/bin/dependency-cruise.mjs', ...args) as Report;
    tree.remove();
    violations = report.summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`);
  });

  it.each(OFFENDERS)('%s refuses %s', (rule, file) => {
    expect(violations).toContain(`${rule}: ${file}`);
  });

  it('allow everything else', () => {
    const offending = new Set([...OFFENDERS.map(([, file]) => file), 'libs/dns/src/there.ts']);
    expect(violations.filter((violation) => !offending.has(violation.split(': ')[1] ?? ''))).toEqual([]);
  });
});

it('what ships names no file of benchmarks and tests, which no import would show', () => {
  const listed = execFileSync('git', ['ls-files', 'apps/*/src/*.ts', 'libs/*/src/*.ts'], {
    cwd: REPO,
    encoding: 'utf8',
  });
  const shipped = listed.split('\n').filter((path) => path !== '' && !/spec\.ts$/.test(path));
  const named = /'(bench|test)'|['"`/](bench|test)\/[a-z]/;
  expect(shipped.length).toBeGreaterThan(500);
  expect(shipped.filter((path) => codeLines(path).some((line) => named.test(line)))).toEqual([]);
});

/** Lines of a file without those that cite a test: comments, and `file › name of the test`. */
function codeLines(path: string): readonly string[] {
  const lines = readFileSync(join(REPO, path), 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(\/?\*|\/\/)|›/.test(line));
}
