import { posix } from 'node:path';

/** Most files of one folder, specs not counted. */
const MOST_FILES = 15;
/** Most lines of one file. */
const MOST_LINES = 250;
/** A file with fewer lines and one importer belongs in that importer. */
const FEWEST_LINES = 40;

/** @typedef {{ path: string, text: string }} SourceFile  `path` is relative to the root, with slashes. */

/**
 * What breaks the limits of sizes, and the exceptions that no longer apply. Specs are not looked at. The only importer
 * `index.ts` does not count: what a lib exports cannot stand in the list of its exports.
 * @param {readonly SourceFile[]} sources TypeScript files
 * @param {Readonly<Record<string, string>>} exceptions a reason for each path that may break a limit
 */
export function sizeFindings(sources, exceptions) {
  const files = sources.filter(({ path }) => !path.endsWith('.spec.ts'));
  const found = [...folderFindings(files), ...fileFindings(files)];
  const unused = Object.keys(exceptions).filter((path) => !found.some((finding) => finding.path === path));
  return [
    ...found.filter(({ path }) => !Object.hasOwn(exceptions, path)).map(({ path, what }) => `${path}: ${what}`),
    ...unused.map((path) => `${path}: is an exception and needs none; remove it from scripts/lib/size-exceptions.mjs`),
  ];
}

function folderFindings(files) {
  const counts = new Map();
  for (const { path } of files) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MOST_FILES)
    .map(([path, count]) => ({
      path,
      what: `the folder has ${count} files, at most ${MOST_FILES} are easy to survey`,
    }));
}

function fileFindings(files) {
  const importers = importersOf(files);
  return files.flatMap(({ path, text }) => {
    const lines = text.split('\n').length - 1;
    if (lines > MOST_LINES) return [{ path, what: `has ${lines} lines, more than ${MOST_LINES}` }];
    const [only, ...others] = importers.get(path) ?? [];
    if (lines >= FEWEST_LINES || only === undefined || others.length > 0 || posix.basename(only) === 'index.ts')
      return [];
    return [{ path, what: `has ${lines} lines and one importer, ${only}: it belongs there` }];
  });
}

/** The files that import each file by a relative path. */
function importersOf(files) {
  const paths = new Set(files.map(({ path }) => path));
  const importers = new Map();
  for (const { path, text } of files) {
    for (const [, to] of text.matchAll(/from '(\.[^']*)'/g)) {
      const target = posix.join(posix.dirname(path), to);
      const file = [`${target}.ts`, `${target}/index.ts`].find((each) => paths.has(each));
      if (file !== undefined) importers.set(file, new Set([...(importers.get(file) ?? []), path]));
    }
  }
  return importers;
}
