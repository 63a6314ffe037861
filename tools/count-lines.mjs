/**
 * Counts the lines of source of apps and libs, per package and in all, in the working tree or at a revision:
 *
 *   node tools/count-lines.mjs [REVISION]
 *
 * Counted is every `.ts` file below a folder `src`, with its comments and empty lines. Not counted are generated code, specs,
 * and what only tests run. The same rules are used for every revision, so two of them may be compared.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const GENERATED = 'libs/proto-gen/';
const SPEC = /\.(e2e-)?spec\.ts$/;
/** Folders and files that only tests run, in all revisions. */
const TEST_SUPPORT_FOLDERS = ['testing', 'conformance', 'memory'];
const TEST_SUPPORT_FILES = ['libs/agent/src/config/reference.ts', 'libs/rest/src/rest-server.ts'];

/** Returns the package (`libs/store`) whose source this path is; nothing for files that are not counted. */
export function countedPackage(path) {
  const [top, name, src, ...rest] = path.split('/');
  if (!['apps', 'libs'].includes(top) || src !== 'src' || !path.endsWith('.ts')) return undefined;
  if (path.startsWith(GENERATED) || SPEC.test(path) || TEST_SUPPORT_FILES.includes(path)) return undefined;
  return rest.some((folder) => TEST_SUPPORT_FOLDERS.includes(folder)) ? undefined : `${top}/${name}`;
}

/**
 * Returns the number of lines of each package, sorted by name.
 * @param {Iterable<{ path: string, text: string }>} files
 */
export function countLines(files) {
  const counts = new Map();
  for (const { path, text } of files) {
    const counted = countedPackage(path);
    if (counted !== undefined) counts.set(counted, (counts.get(counted) ?? 0) + text.split('\n').length - 1);
  }
  return new Map([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const git = (args, input = '') => execFileSync('git', args, { cwd: ROOT, input, maxBuffer: 2 ** 30 });
const paths = (listing) => listing.toString().split('\0').filter(countedPackage);

/** Reads the counted files of the working tree, also those that are not committed yet. */
function* workingFiles() {
  const listed = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', 'apps', 'libs']);
  for (const path of paths(listed)) {
    if (existsSync(join(ROOT, path))) yield { path, text: readFileSync(join(ROOT, path), 'utf8') };
  }
}

/** Reads the counted files of a revision: one `git cat-file` for all of them. */
function* committedFiles(revision) {
  const names = paths(git(['ls-tree', '-r', '-z', '--name-only', revision, '--', 'apps', 'libs']));
  const answers = git(['cat-file', '--batch'], names.map((path) => `${revision}:${path}\n`).join(''));
  let at = 0;
  for (const path of names) {
    const headEnd = answers.indexOf('\n', at);
    const size = Number(answers.toString('utf8', at, headEnd).split(' ')[2]);
    yield { path, text: answers.toString('utf8', headEnd + 1, headEnd + 1 + size) };
    at = headEnd + size + 2;
  }
}

function isRevision(name) {
  return spawnSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: ROOT }).status === 0;
}

function main(revision) {
  if (revision !== undefined && !isRevision(revision)) {
    console.error(`count-lines: '${revision}' is no revision of this repository`);
    process.exitCode = 1;
    return;
  }
  const counts = countLines(revision === undefined ? workingFiles() : committedFiles(revision));
  const print = (lines, what) => console.log(`${String(lines).padStart(8)}  ${what}`);
  for (const [name, lines] of counts) print(lines, name);
  const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);
  print(sum([...counts.values()]), revision === undefined ? 'in the working tree' : `at ${revision}`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) main(process.argv[2]);
