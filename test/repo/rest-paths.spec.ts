import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/* Clients call REST by the definitions of `libs/api` (docs/adr/0035-an-operation-is-one-definition.md): their sources contain no path of REST. */

const REPO = resolve(__dirname, '..', '..');
const CLIENTS = ['apps/ctl/src/*.ts', 'libs/api-client/src/*.ts'];

/** A literal that begins as a path does, or a path by itself: `'/_ca'`, `/${plural}`, `path: '/'`. */
const PATH = '[\'"`]/(_?[A-Za-z]|[$][{])|path: *[\'"`]/';

/** Literals that are other paths, with their purpose. */
const OTHERS: Readonly<Record<string, RegExp>> = {
  'apps/ctl/src/commands/init/init.ts': /[`']\/(etc|run)\//, // the folder and the sockets of control planes
  'apps/ctl/src/commands/init/plane-folder.ts': /'\/etc\/group'/, // the groups of a machine
  'apps/ctl/src/commands/init/units.ts': /'\/usr\/lib\//, // units of packages
  'apps/ctl/src/commands/proxies/bootstrap.ts': /'\/etc\//, // files of authorities of a machine
  'apps/ctl/src/main.ts': /'\/dev\/null'/, // a device
  'libs/api-client/src/grpc/grpc-error.ts': /'\/google\.rpc\./, // names of messages
};

function pathsIn(places: readonly string[], more: readonly string[] = []): readonly string[] {
  const args = ['grep', '--untracked', ...more, '-nE', PATH, '--', ...places, ':!*.spec.ts'];
  try {
    return execFileSync('git', args, { cwd: REPO, encoding: 'utf8' }).trimEnd().split('\n');
  } catch (error) {
    // `git grep` ends with 1 if it finds nothing.
    if (error instanceof Error && 'status' in error && error.status === 1) return [];
    throw error;
  }
}

it('finds the paths of the definitions themselves', () => {
  const found = pathsIn(['libs/api/src/operations/*.ts']);
  for (const path of ["'/_ca'", "'/'", "'/zones+insights'"])
    expect(found).toContainEqual(expect.stringContaining(path));
});

it('no client of REST has a path of its own', () => {
  const found = pathsIn(CLIENTS).filter((line) => {
    const [file = ''] = line.split(':');
    return OTHERS[file]?.test(line) !== true;
  });
  expect(found).toEqual([]);
});

it('the exceptions are there', () => {
  for (const [file, other] of Object.entries(OTHERS))
    expect(pathsIn([file])).toContainEqual(expect.stringMatching(other));
});
