import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readKeptNames, type KeptNames, type SourceTree } from './kept-names';

/*
 * Kinds, fields, conditions, metrics, alerts, settings, commands, fields of proto, names of SQL, state files and keys of logs that
 * `kept-names.json` lists are still there; names may be added. `KEPT_NAMES_OF=<commit> npx jest test/repo/kept-names` takes the list
 * of a commit.
 */

const REPO = resolve(__dirname, '..', '..');
const FILE = join(__dirname, 'kept-names.json');

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: REPO, encoding: 'utf8', maxBuffer: 1 << 28 });
const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

const workTree: SourceTree = {
  paths: lines(git('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate')),
  read: (path) => readFileSync(join(REPO, path), 'utf8'),
};

const commitTree = (commit: string): SourceTree => ({
  paths: lines(git('ls-tree', '-r', '--name-only', commit)),
  read: (path) => git('show', `${commit}:${path}`),
});

/** Names that the list has and the tree has no more. */
function missingNames(kept: KeptNames, now: KeptNames): readonly string[] {
  return Object.entries(kept).flatMap(([what, names]) => {
    const present = new Set(now[what]);
    return names.filter((name) => !present.has(name)).map((name) => `${what}: ${name}`);
  });
}

function parseNames(text: string): KeptNames {
  const names: KeptNames = JSON.parse(text);
  return names;
}

it('finds names in each kind of source', () => {
  const texts: Readonly<Record<string, string>> = {
    'docs/reference/kinds.md': '## Mesh\n\n| `awsName` | string |\n',
    'docs/reference/metrics.md': '| `causeway_leader` | gauge |\n| `zone` | 2 |\n',
    'docs/reference/settings.md': '| `LOG_LEVEL` | `logLevel` |\n',
    'docs/reference/agent.md':
      '<!-- fields -->\n| `dataplanes[].name` | text |\n<!-- end of fields -->\n| `agent.sock` | x |\n',
    'deploy/prometheus/alerts.yaml': '      - alert: CausewayDown\n',
    'deploy/schemas/global.schema.json': '{"properties": {"logLevel": {}}}',
    'deploy/schemas/zone.schema.json': '{}',
    'migrations/schema.sql': 'CREATE TABLE leader (\n  epoch bigint NOT NULL\n);\n',
    'test/rest/testdata/openapi.golden.yaml': 'paths: {/meshes: {get: {operationId: listMeshes}}}',
    'proto/a.proto':
      'package a.v1;\nmessage M {\n  oneof o {\n    string x = 3;\n  }\n}\nservice S {\n  rpc Get(M) returns (M);\n}\n',
    'libs/a/src/a.ts': `logger.info('x', { zone, ...(id && { token: id }) }); const c = { reason: 'NoSuchMesh', file: 'key.pem' };`,
    'apps/b/src/b.ts': `program.command('run').option('-f, --file <file>', 'the file'); Symbol('NotKept');`,
  };
  expect(readKeptNames({ paths: Object.keys(texts), read: (path) => texts[path] ?? '' })).toEqual({
    kinds: ['Mesh'],
    'fields of kinds': ['Mesh awsName'],
    'words of OpenAPI': ['operationId listMeshes', 'paths /meshes'],
    'words of conditions': ['NoSuchMesh'],
    metrics: ['causeway_leader'],
    'labels of metrics': ['zone'],
    alerts: ['CausewayDown'],
    variables: ['LOG_LEVEL'],
    settings: ['global.logLevel'],
    'keys of agent.yaml': ['dataplanes[].name'],
    'commands and flags': ['apps/b -f, --file <file>', 'apps/b command run'],
    'fields of proto': ['a.v1.M', 'a.v1.M.o', 'a.v1.M.o.x string = 3', 'a.v1.S', 'a.v1.S/Get'],
    'names of SQL': ['TABLE leader', 'leader.epoch'],
    'state files': ['key.pem'],
    'keys of logs': ['token', 'zone'],
  });
});

it('names that others depend on are still there', () => {
  const commit = process.env['KEPT_NAMES_OF'];
  if (commit) writeFileSync(FILE, `${JSON.stringify(readKeptNames(commitTree(commit)), undefined, 2)}\n`);
  expect(missingNames(parseNames(readFileSync(FILE, 'utf8')), readKeptNames(workTree))).toEqual([]);
});
